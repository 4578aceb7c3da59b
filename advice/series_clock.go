package advice

import "time"

const (
	// A snapshot that comes later than this after the one before is a gap (the machine
	// slept, the recorder stopped): what was held before does not count as having lasted.
	gapSeconds = 30
	gapFactor  = 10 // and later than ten times the usual interval
)

// ticker is the clock of a Watch: the times of the snapshots, which never go back. When
// they do (a clock was set), the clock stands still for that snapshot and goes on from there.
type ticker struct {
	started bool
	last    time.Time
	now     float64 // seconds since the first snapshot
	usual   float64 // interval, slowly adapted
}

// next moves on to the time of a snapshot. gap: what came before did not last until now.
func (c *ticker) next(t time.Time) (gap bool) {
	if !c.started {
		c.started, c.last = true, t
		return false
	}
	step := t.Sub(c.last).Seconds()
	c.last = t
	if step < 0 {
		return true
	}
	c.now += step
	if c.usual == 0 {
		c.usual = step
	}
	gap = step > gapSeconds && step > gapFactor*c.usual
	if step > 0 && !gap {
		c.usual += (step - c.usual) / 16
	}
	return gap
}
