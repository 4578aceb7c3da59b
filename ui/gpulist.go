package ui

import (
	"sort"

	"nvpeak/sampler"
)

// gpuList is how the GPUs are listed.
type gpuList struct {
	focus      sampler.Opt[sampler.GPUKey] // absent: all
	scroll     int                         // first GPU line shown
	worstFirst bool
	anew       bool // the order is another: the next one is the first of it
}

// focused is the focused GPU of a snapshot, or nil.
func (l *gpuList) focused(s *sampler.Snapshot) *sampler.GPU {
	key, ok := l.focus.Value()
	if !ok {
		return nil
	}
	return s.Find(key)
}

// next moves the focus to the next GPU in the order that is shown, from the last one to the first.
func (l *gpuList) next(s *sampler.Snapshot) {
	to, list := 0, l.ordered(s)
	for i, g := range list {
		if sampler.Some(g.Key()) == l.focus && !l.anew {
			to = (i + 1) % len(list)
		}
	}
	if l.anew = false; len(list) > 0 {
		l.focus = sampler.Some(list[to].Key())
	}
}

// ordered lists the GPUs in the order of the driver, or by headroom: those with an error
// first, then by the smallest part that was ever free.
func (l *gpuList) ordered(s *sampler.Snapshot) []*sampler.GPU {
	order := make([]*sampler.GPU, len(s.GPUs))
	for i := range order {
		order[i] = &s.GPUs[i]
	}
	if l.worstFirst {
		sort.SliceStable(order, func(i, j int) bool { return headroom(order[i]) < headroom(order[j]) })
	}
	return order
}

// headroom is the smallest free part of a GPU in percent; -1 when it gives no figures.
func headroom(g *sampler.GPU) float64 {
	free, ok := g.Memory.WorstFree.Else(g.Memory.Free).Value()
	if !ok {
		return -1
	}
	return percent(free, g.Memory.Total.Or(0))
}
