package tape

import (
	"time"

	"nvpeak/sampler"
)

// fallLines counts near misses from "mem" lines for recordings whose windows have none.
type fallLines struct {
	counters []sampler.FallCounter
	windows  []sampler.Window // since the snapshot before
}

// add takes the readings of a line; before the first snapshot nothing is known of the GPUs.
func (f *fallLines) add(s *sampler.Snapshot, list []Reading, at time.Time) {
	if s == nil {
		return
	}
	for len(f.counters) < len(s.GPUs) {
		f.counters, f.windows = append(f.counters, sampler.FallCounter{}), append(f.windows, sampler.Window{})
	}
	for _, r := range list {
		if r.Device < len(s.GPUs) {
			f.counters[r.Device].Count(&f.windows[r.Device], at, r.Used, s.GPUs[r.Device].Memory.Usable())
		}
	}
}

// fill is the snapshot with what was counted since the one before; it stays as it is where
// nothing was, and where the recording has counted itself.
func (f *fallLines) fill(s *sampler.Snapshot) *sampler.Snapshot {
	filled := s
	for i := range f.windows[:min(len(f.windows), len(s.GPUs))] {
		m := &s.GPUs[i].Memory
		if used, ok := m.Used.Value(); ok { // lines are of changes only: it still stands there
			f.counters[i].Count(&f.windows[i], s.Time, used, m.Usable())
		}
		w := m.Window
		if w == nil || w.Falls.Known() || f.windows[i].Falls.Or(0) == 0 {
			continue
		}
		if filled == s {
			c := *s
			c.GPUs = append([]sampler.GPU(nil), s.GPUs...)
			filled = &c
		}
		counted := *w
		counted.Falls, counted.DeepestFall, counted.LimitFalls = f.windows[i].Falls, f.windows[i].DeepestFall, f.windows[i].LimitFalls
		filled.GPUs[i].Memory.Window = &counted
	}
	clear(f.windows)
	return filled
}
