package retry

import (
	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Gain is what a change has brought.
type Gain int

// A try died earlier than the one before, at the same place for want of as much, or later or for want of less.
const (
	Worse Gain = iota - 1
	Same
	Better
)

// atLeast is how much less must have been asked for, as a share, to be told from the difference of two runs.
const atLeast = 0.02

// Compare says what the change before a death has brought.
func Compare(before, after explain.Explanation) Gain {
	a, b := eventOf(before), eventOf(after)
	if a == nil || b == nil {
		return Same
	}
	if g := further(a.Context, b.Context); g != Same {
		return g
	}
	return less(a, b)
}

func eventOf(e explain.Explanation) *explain.Event {
	if i := e.Verdict.Event; i >= 0 && i < len(e.Events) {
		return &e.Events[i]
	}
	return nil
}

// further compares how far two tries came.
func further(a, b *sampler.LogContext) Gain {
	if a == nil || b == nil {
		return Same
	}
	if g := compare(a.Epoch, b.Epoch); g != Same {
		return g
	}
	if g := compare(a.Step, b.Step); g != Same {
		return g
	}
	if a.FirstStep != b.FirstStep {
		if a.FirstStep {
			return Better
		}
		return Worse
	}
	return Same
}

func compare(a, b sampler.Opt[int]) Gain {
	x, known := a.Value()
	y, also := b.Value()
	switch {
	case !known || !also || x == y:
		return Same
	case y > x:
		return Better
	}
	return Worse
}

// less compares for want of how much two tries died, at the same place. That more was missing shows no loss: the GPU was
// as full both times.
func less(a, b *explain.Event) Gain {
	for _, pair := range [][2]sampler.Opt[sampler.Bytes]{{a.Requested, b.Requested}, {a.Allocated, b.Allocated}, {a.ProcessInUse, b.ProcessInUse}} {
		x, known := pair[0].Value()
		y, also := pair[1].Value()
		if known && also && float64(y) < float64(x)*(1-atLeast) {
			return Better
		}
	}
	return Same
}
