package oomlog

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
)

// Choose returns the indices of so many failures that tell most of a run, in their order: half of them are the
// first, a quarter the last, and between these what tells something else comes before more of the same.
func Choose(events []sampler.OOMEvent, most int) []int {
	return choose(len(events), most, func(i int) *sampler.OOMEvent { return &events[i] })
}

// choose is Choose for so many events, wherever they are.
func choose(count, most int, event func(i int) *sampler.OOMEvent) []int {
	most = min(most, count)
	first, last := most/2, count-most/4
	var kept, between []int
	weight := weights(count, event)
	for i := range count {
		if i < first || i >= last {
			kept = append(kept, i)
		} else {
			between = append(between, i)
		}
	}
	slices.SortFunc(between, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight[a], weight[b]), cmp.Compare(event(b).Requested.Or(0), event(a).Requested.Or(0)), cmp.Compare(a, b))
	})
	kept = append(kept, between[:min(len(between), most-len(kept))]...)
	slices.Sort(kept)
	return kept
}

// weights are low for what must be kept: the failure that the program did not survive first, then one of each
// kind, rank and GPU, those that it did not survive before the others, which follow by what they asked for.
func weights(count int, event func(i int) *sampler.OOMEvent) []int {
	type alike struct {
		framework, kind, memory string
		rank, gpu               sampler.Opt[int]
		recovered               bool
	}
	seen, died := map[alike]bool{}, false
	var last alike
	out := make([]int, count)
	for i := range out {
		e := event(i)
		k := alike{e.Framework, e.Kind, e.MemoryKind, e.Rank, e.GPUIndex, e.Recovered}
		switch {
		case i > 0 && k == last:
			out[i] = 3
			continue // the map need not be asked
		case !e.Recovered && !died:
		case !seen[k] && !e.Recovered:
			out[i] = 1
		case !seen[k]:
			out[i] = 2
		default:
			out[i] = 3
		}
		last, seen[k], died = k, true, died || !e.Recovered
	}
	return out
}
