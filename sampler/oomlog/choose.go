package oomlog

import (
	"cmp"
	"io"
	"slices"

	"nvpeak/sampler"
)

// ScanUpTo reads a whole text as Scan does, but keeps at most so many of its failures (see Choose) and counts
// the others, so that its memory is bounded: a search over batch sizes prints tens of thousands. One that is
// not kept counts each time it is printed.
func ScanUpTo(r io.Reader, most int) (kept []sampler.OOMEvent, others int, err error) {
	all := repeats{most: most}
	err = scan(r, &all)
	all.choose(most)
	return all.events, all.others, err
}

// choose leaves so many events and counts the others.
func (r *repeats) choose(most int) {
	if r.most == 0 || len(r.events) <= most {
		return
	}
	r.others += len(r.events) - most
	var kept []sampler.OOMEvent
	r.index = map[identity]int{}
	for _, i := range Choose(r.events, most) {
		r.index[identityOf(&r.events[i])] = len(kept)
		kept = append(kept, r.events[i])
	}
	r.events = kept
}

// Choose returns the indices of so many failures that tell most of a run, in their order: half of them are the
// first, a quarter the last, and between these what tells something else comes before more of the same.
func Choose(events []sampler.OOMEvent, most int) []int {
	if len(events) <= most {
		most = len(events)
	}
	first, last := most/2, len(events)-most/4
	var kept, between []int
	weight := weights(events)
	for i := range events {
		if i < first || i >= last {
			kept = append(kept, i)
		} else {
			between = append(between, i)
		}
	}
	slices.SortStableFunc(between, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight[a], weight[b]), cmp.Compare(events[b].Requested.Or(0), events[a].Requested.Or(0)))
	})
	kept = append(kept, between[:min(len(between), most-len(kept))]...)
	slices.Sort(kept)
	return kept
}

// weights are low for what must be kept: the failure that the program did not survive first, then one of each
// kind, rank and GPU, those that it did not survive before the others, which follow by what they asked for.
func weights(events []sampler.OOMEvent) []int {
	type alike struct {
		framework, kind, memory string
		rank, gpu               sampler.Opt[int]
		recovered               bool
	}
	seen, died := map[alike]bool{}, false
	out := make([]int, len(events))
	for i := range events {
		e := &events[i]
		k := alike{e.Framework, e.Kind, e.MemoryKind, e.Rank, e.GPUIndex, e.Recovered}
		switch {
		case !e.Recovered && !died:
		case !seen[k] && !e.Recovered:
			out[i] = 1
		case !seen[k]:
			out[i] = 2
		default:
			out[i] = 3
		}
		seen[k], died = true, died || !e.Recovered
	}
	return out
}
