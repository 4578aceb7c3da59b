package player

import (
	"slices"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Frame is a snapshot and the entries between it and the one before.
type Frame struct {
	Snapshot *sampler.Snapshot
	between  []Entry
	weight   int // about how many bytes it takes
}

// maxBetween bounds what happens between two snapshots: failures and changes of the need.
const maxBetween = 1000

// add takes the next entry and says whether the frame is complete with it.
func (f *Frame) add(e Entry, o Options, marks *sampler.Watermarks) bool {
	f.weight += e.weight()
	if e.Snapshot != nil {
		f.Snapshot = prepare(e.Snapshot, marks)
		return true
	}
	if (e.Need == nil || !o.Fixed) && len(f.between) < maxBetween {
		f.between = append(f.between, e)
	}
	return false
}

// Fold brings the watch to this frame and returns the alerts that are open then.
func (f *Frame) Fold(w *watch.Watch) []sampler.Alert {
	for _, e := range f.between {
		switch {
		case e.Failure != nil:
			w.Event(*e.Failure, e.Time)
		case e.Need != nil:
			w.SetNeed(*e.Need)
		}
	}
	return w.Add(*f.Snapshot)
}

// prepare gives a snapshot of a file what the live one has: local time, and the peaks
// where the file has none. The snapshot itself may be the base of the next and stays.
func prepare(s *sampler.Snapshot, marks *sampler.Watermarks) *sampler.Snapshot {
	c := *s
	c.Time = s.Time.Local()
	if !hasPeaks(s) {
		c.GPUs = slices.Clone(s.GPUs)
		for i := range c.GPUs {
			c.GPUs[i].Processes = slices.Clone(s.GPUs[i].Processes)
		}
		marks.Apply(&c)
	}
	return &c
}

// hasPeaks says whether all that is used has a peak, as in recordings of nvpeak.
func hasPeaks(s *sampler.Snapshot) bool {
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if g.Memory.Used.Known() && g.Memory.Peak == nil {
			return false
		}
		for n := range g.Processes {
			if g.Processes[n].Memory.Known() && g.Processes[n].Peak == nil {
				return false
			}
		}
	}
	return true
}
