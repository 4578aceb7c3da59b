package report

import (
	"time"

	"nvpeak/sampler"
)

// Set is a moment since which the time of day is another than that of the recording, because somebody
// set the clock: by Ahead in front of it.
type Set struct {
	At    time.Time
	Ahead time.Duration
}

// maxSets bounds how many are remembered: a broken daemon may set the clock every second.
const maxSets = 10_000

// noteSet notes how far the time of day is ahead with a snapshot.
func (l *timeline) noteSet(s *sampler.Snapshot) {
	before := time.Duration(0)
	if n := len(l.sets); n > 0 {
		before = l.sets[n-1].Ahead
	}
	if s.Ahead() != before && len(l.sets) < maxSets {
		l.sets = append(l.sets, Set{s.Time, s.Ahead()})
	}
}

// ClockSets are all moments at which the clock was set, oldest first.
func (r *Reporter) ClockSets() []Set { return r.sets }

// wall is the time of day of a moment in the recording, as it was then.
func (l *timeline) wall(at time.Time) time.Time {
	for i := len(l.sets) - 1; i >= 0; i-- {
		if !at.Before(l.sets[i].At) {
			return at.Add(l.sets[i].Ahead)
		}
	}
	return at
}

// byWall gives everything the time of day: that is for people; spans are told by "t".
func (r *Reporter) byWall(out *Report) {
	if len(r.sets) == 0 {
		return
	}
	out.End.Time = r.wall(out.End.Time)
	peak := func(p *Peak) *Peak {
		if p == nil {
			return nil
		}
		c := *p
		c.Time = r.wall(p.Time)
		return &c
	}
	for i := range out.GPUs {
		out.GPUs[i].Peak = peak(out.GPUs[i].Peak)
	}
	for i := range out.Processes {
		out.Processes[i].Peak = peak(out.Processes[i].Peak)
	}
	if out.Failed != nil {
		out.Failed.Time = r.wall(out.Failed.Time)
	}
	for i := range out.Alerts {
		out.Alerts[i].Time = r.wall(out.Alerts[i].Time)
	}
	for i := range out.Events {
		out.Events[i].Time = r.wall(out.Events[i].Time)
	}
}
