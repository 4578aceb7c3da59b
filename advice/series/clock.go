package series

import (
	"math"
	"time"
)

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
	Now     float64 // seconds since the first snapshot, to the millisecond
	Usual   float64 // interval, slowly adapted
	passed  time.Duration
}

// Next moves on to the time of a snapshot. gap: what came before did not last until now.
func (c *Clock) Next(t time.Time) (gap bool) {
	if !c.Started {
		c.Started, c.Last = true, t
		return false
	}
	before := c.Last
	step := t.Sub(before).Seconds()
	c.Last = t
	if step < 0 {
		return true
	}
	c.passed += t.Sub(before)
	c.Now = math.Round(float64(c.passed)/1e6) / 1e3 // steps added up as floats give 4.9399999999999995
	if c.Usual == 0 {
		c.Usual = step
	}
	gap = step > gapSeconds && step > gapFactor*c.Usual
	if step > 0 && !gap {
		c.Usual += (step - c.Usual) / 16
	}
	return gap
}
