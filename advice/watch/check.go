package watch

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/sampler"
)

// Answer is the answer to "does it fit?" for the GPUs that were asked about.
type Answer struct {
	Need   sampler.Bytes
	Window time.Duration // it was looked for so long; 0: one reading
	GPUs   []Fit         // most free first, those without figures last
}

// Enough says whether the need fits on at least n GPUs at once.
func (v Answer) Enough(n int) bool { return len(together(v.Fitting())) >= n }

// Chosen are n GPUs on which the need fits at once, those with the most free, by index; nil where
// there are not so many.
func (v Answer) Chosen(n int) []Fit { return chosen(v.Fitting(), n) }

// chosen are the first n of a list that can have the need beside each other, by index.
func chosen(list []Fit, n int) []Fit {
	list = together(list)
	if len(list) < n {
		return nil
	}
	list = list[:n]
	slices.SortStableFunc(list, func(a, b Fit) int { return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Label, b.Label)) })
	return list
}

// Possible counts the GPUs that are large enough for the need, or of which that is not known, and says how
// large the largest is. One in MIG mode without instances is as large as its instances may be.
func Possible(s *sampler.Snapshot, need sampler.Bytes) (n int, largest sampler.Bytes) {
	for _, g := range s.Assignable() {
		total, known := g.Memory.PlausibleTotal().Value()
		largest = max(largest, total)
		if !known || total >= need {
			n++
		}
	}
	return n, largest
}

// Fitting are the GPUs on which the need fits, most free first.
func (v Answer) Fitting() []Fit {
	var list []Fit
	for _, f := range v.GPUs {
		if fits, known := f.Fits(); fits && known {
			list = append(list, f)
		}
	}
	return list
}

// Known says whether at least one GPU gave figures; without, there is no answer.
func (v Answer) Known() bool {
	return slices.ContainsFunc(v.GPUs, func(f Fit) bool { _, known := f.Fits(); return known })
}

// Checker answers for a window: a GPU counts with the least it had free since the first
// snapshot that was added.
type Checker struct {
	need  sampler.Bytes
	since time.Time // of the first snapshot
	order []sampler.GPUKey
	fits  map[sampler.GPUKey]Fit
	old   map[sampler.GPUKey]oldPeaks
}

// oldPeaks are the peaks of the processes of a GPU from before the window. Not all who tell a peak tell when it was.
type oldPeaks map[sampler.ProcessKey]sampler.Bytes

// NewChecker begins a window.
func NewChecker(need sampler.Bytes) *Checker {
	return &Checker{need: need, fits: map[sampler.GPUKey]Fit{}, old: map[sampler.GPUKey]oldPeaks{}}
}

// Add takes one snapshot into the window.
func (c *Checker) Add(s sampler.Snapshot) {
	if c.since.IsZero() {
		c.since = s.Time
	}
	for _, g := range s.Assignable() {
		k, now := g.Key(), Fits(*g, c.need)
		if u := g.Memory.PlausibleUsed().Or(0); u > 0 && len(now.Holders) == 0 && !g.Memory.Unattributed.Known() {
			now.Holders = []Holder{{Kind: HolderUnattributed, Bytes: u}} // its processes are not listed
		}
		before, seen := c.fits[k]
		if !seen {
			if len(c.fits) >= MaxGPUs {
				continue
			}
			c.order = append(c.order, k)
		} else if now.WorstFree.Known() { // without figures nothing is known of the window any more
			now.WorstFree = least(now.WorstFree, before.WorstFree)
			now.Short = short(c.need, now.WorstFree, 0)
		}
		c.old[k] = c.age(c.old[k], g)
		c.most(now.Holders, before.Holders, g)
		c.fits[k] = now
	}
}

// age notes the peaks of processes that were there before the window, as they are seen first, and keeps those of before.
func (c *Checker) age(before oldPeaks, g *sampler.GPU) oldPeaks {
	peaks := oldPeaks{}
	for i := range g.Processes {
		p := &g.Processes[i]
		if p.StartTime.Or(time.Time{}).After(c.since) {
			continue
		}
		peak, seen := before[p.Key(g.Key())]
		if !seen && p.Peak != nil {
			peak = p.Peak.Bytes
		}
		peaks[p.Key(g.Key())] = peak
	}
	return peaks
}

// most notes the most that each holder had in the window, and orders them by that: the least free memory is from when
// somebody had more than now.
func (c *Checker) most(now, before []Holder, g *sampler.GPU) {
	rose, above := above(g)
	for i := range now {
		h := &now[i]
		h.Most = h.Bytes
		if h.PID != 0 && h.PID == rose {
			h.Most += above
		}
		for j := range before {
			if before[j].Kind == h.Kind && before[j].PID == h.PID {
				h.Most = max(h.Most, before[j].Most)
			}
		}
		for j := range g.Processes {
			if p := &g.Processes[j]; p.PID == h.PID && h.PID != 0 && p.Peak != nil && p.Peak.Bytes < sampler.MaxPlausible && p.Peak.Time.After(c.since) && p.Peak.Bytes > c.old[g.Key()][p.Key(g.Key())] {
				h.Most = max(h.Most, p.Peak.Bytes)
			}
		}
	}
	slices.SortStableFunc(now, func(a, b Holder) int { return cmp.Compare(b.Most, a.Most) })
}

// above is how much more was used since the snapshot before than is now, and whose that is: the process that made it rise,
// where a list at that moment told, else the one that holds most of the GPU; 0: nobody's.
func above(g *sampler.GPU) (pid int, more sampler.Bytes) {
	w, used := g.Memory.Window, g.Memory.PlausibleUsed().Or(0)
	if w == nil || w.Max >= sampler.MaxPlausible || w.Max <= used {
		return 0, 0
	}
	if w.RisePID.Known() && w.RiseTime.Or(time.Time{}).Equal(w.MaxTime) {
		return w.RisePID.Or(0), w.Max - used
	}
	most := used / 2
	for i := range g.Processes {
		if b := g.Processes[i].Memory.Or(0); b < sampler.MaxPlausible && b >= most && b > 0 {
			pid, most = g.Processes[i].PID, b
		}
	}
	return pid, w.Max - used
}

// Answer is the answer for the window so far.
func (c *Checker) Answer() Answer {
	v := Answer{Need: c.need}
	for _, k := range c.order {
		v.GPUs = append(v.GPUs, c.fits[k])
	}
	slices.SortStableFunc(v.GPUs, mostFree)
	return v
}

// mostFree orders by the least free memory; GPUs without figures come last.
func mostFree(a, b Fit) int {
	x, ok := a.WorstFree.Value()
	y, known := b.WorstFree.Value()
	if ok != known {
		if ok {
			return -1
		}
		return 1
	}
	return cmp.Compare(y, x)
}
