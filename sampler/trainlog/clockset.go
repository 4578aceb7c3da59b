package trainlog

import (
	"slices"
	"time"
)

// Set is a moment of the recording since which the time of day is ahead of the times in it.
type Set struct {
	At    time.Time
	Ahead time.Duration
}

// even returns a function that finds for times of day, in the order in which they were printed, when they were
// by the clock of the recording. Where the clock was set back a time of day comes twice.
func (rec Recording) even() func(time.Time) time.Time {
	if len(rec.Sets) == 0 {
		return func(t time.Time) time.Time { return t }
	}
	stretches := slices.Insert(slices.Clone(rec.Sets), 0, Set{})
	var last time.Time
	return func(t time.Time) time.Time {
		best, found := t, false
		for i, s := range stretches {
			at := t.Add(-s.Ahead)
			over := i+1 < len(stretches) && !at.Before(stretches[i+1].At)
			if over || at.Before(s.At.Add(-time.Second)) || found && !best.Before(last) {
				continue
			}
			best, found = at, true
		}
		last = best
		return best
	}
}
