package sampler

import "time"

// Steady is the clock of a live Loop. It begins with the time of day and then goes on evenly, also
// while the machine sleeps, whatever is done to the time of day: a daemon or a person
// sets that back and forth, and then spans would be negative and plots empty for an hour.
type Steady struct {
	start time.Time
	began time.Duration
}

// NewSteady makes a clock that goes on from the present time of day.
func NewSteady() *Steady { return &Steady{time.Now().Round(0), sinceBoot()} }

// Now is the time that has come evenly.
func (c *Steady) Now() time.Time { return c.start.Add(sinceBoot() - c.began) }

// Wall is the time of day.
func (c *Steady) Wall() time.Time { return time.Now().Round(0) }

// wallClock is a Clock that knows the time of day beside its own.
type wallClock interface {
	Clock
	Wall() time.Time
}

// wallStep is how far the time of day must move for it to count as set. What is less adds up.
const wallStep = time.Second

// follow returns how far the time of day is ahead of the clock; the newest value, unless it has
// been set since.
func follow(c Clock, ahead time.Duration) time.Duration {
	w, ok := c.(wallClock)
	if !ok {
		return ahead
	}
	now := w.Wall().Sub(w.Now()).Round(time.Millisecond)
	if (now - ahead).Abs() < wallStep {
		return ahead
	}
	return now
}
