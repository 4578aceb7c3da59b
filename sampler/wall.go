package sampler

import (
	"slices"
	"time"
)

// Ahead is how far the time of day is ahead of Time, because it was set since the monitor (or
// the recording) began. Times in a snapshot go on evenly; only what people and other programs
// read has the time of day.
func (s *Snapshot) Ahead() time.Duration { return s.ahead }

// WithAhead is the snapshot with another value of Ahead.
func (s *Snapshot) WithAhead(d time.Duration) *Snapshot {
	if s.ahead == d {
		return s
	}
	c := *s
	c.ahead = d
	return &c
}

// Wall is the snapshot with the time of day in it. Times before the clock was set are told by the clock
// as it is now, so that spans stay what they are.
func (s *Snapshot) Wall() *Snapshot {
	if s.ahead == 0 {
		return s
	}
	later := func(t time.Time) time.Time { return t.Add(s.ahead) }
	c := s.Retimed(later, later)
	c.ahead = 0
	return c
}

// Retimed is a copy with all its times replaced; start is for those when processes began.
func (s *Snapshot) Retimed(at, start func(time.Time) time.Time) *Snapshot {
	c := *s
	c.GPUs, c.Alerts, c.Unplaced = slices.Clone(s.GPUs), slices.Clone(s.Alerts), slices.Clone(s.Unplaced)
	for i := range c.GPUs {
		c.GPUs[i].Processes = slices.Clone(c.GPUs[i].Processes)
	}
	c.Retime(at, start)
	return &c
}

// Retime is Retimed in place, for a snapshot whose lists nobody else has yet.
func (s *Snapshot) Retime(at, start func(time.Time) time.Time) {
	s.Time = at(s.Time)
	for i := range s.Alerts {
		s.Alerts[i].Time = at(s.Alerts[i].Time)
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		g.LastXIDTime, g.Memory.Peak = retimed(g.LastXIDTime, at), g.Memory.Peak.retimed(at)
		g.XIDs = slices.Clone(g.XIDs)
		for n := range g.XIDs {
			g.XIDs[n].Time = retimed(g.XIDs[n].Time, at)
		}
		if g.Memory.Window != nil {
			w := *g.Memory.Window
			w.MaxTime, w.RiseTime, g.Memory.Window = at(w.MaxTime), retimed(w.RiseTime, at), &w
		}
		retimeAll(g.Processes, at, start)
	}
	retimeAll(s.Unplaced, at, start)
}

func retimeAll(list []Process, at, start func(time.Time) time.Time) {
	for n := range list {
		p := &list[n]
		p.StartTime, p.Peak, p.Allocator = retimed(p.StartTime, start), p.Peak.retimed(at), p.Allocator.retimed(at)
	}
}

func retimed(o Opt[time.Time], by func(time.Time) time.Time) Opt[time.Time] {
	if t, ok := o.Value(); ok {
		return Some(by(t))
	}
	return o
}

func (p *Peak) retimed(by func(time.Time) time.Time) *Peak {
	if p == nil {
		return nil
	}
	c := *p
	c.Time = by(p.Time)
	return &c
}
