package series

import "time"

const (
	// A snapshot that comes later than this after the one before is a gap (the machine
	// slept, the recorder stopped): what was held before does not count as having lasted.
	gapSeconds = 30
	gapFactor  = 10 // and later than ten times the usual interval
)

// Clock is the clock of a Watch: the times of the snapshots, which never go back. When
// they do (a clock was set), the clock stands still for that snapshot and goes on from there.
type Clock struct {
	Started bool
	Last    time.Time
	Now     float64 // seconds since the first snapshot
	Usual   float64 // interval, slowly adapted
}

// Next moves on to the time of a snapshot. gap: what came before did not last until now.
func (c *Clock) Next(t time.Time) (gap bool) {
	if !c.Started {
		c.Started, c.Last = true, t
		return false
	}
	step := t.Sub(c.Last).Seconds()
	c.Last = t
	if step < 0 {
		return true
	}
	c.Now += step
	if c.Usual == 0 {
		c.Usual = step
	}
	gap = step > gapSeconds && step > gapFactor*c.Usual
	if step > 0 && !gap {
		c.Usual += (step - c.Usual) / 16
	}
	return gap
}
