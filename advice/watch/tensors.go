package watch

import (
	"cmp"
	"math"
	"slices"

	"nvpeak/advice/series"
)

// tensors are what a training log prints as allocated between its steps: neither the cache of
// the allocator nor the peaks of a step. When it stays level while the process grows, what
// grows is the size of a step or the cache, and no leak.
type tensors struct {
	readings []reading // oldest first
}

type reading struct{ t, mib float64 }

const (
	// maxReadings are kept; when there are more, every other one goes.
	maxReadings = 1024
	// tensorsNeeded readings, over three fifths of the time asked for, say how they went.
	tensorsNeeded = 6
	tensorsCover  = 0.6
	// tensorsFew readings, one after another, are no chance of where in a step they were taken.
	tensorsFew = 4
	// tensorsShare of a rise at least is tensors when it is a leak.
	tensorsShare = 0.25
)

// add takes a reading, one for each snapshot: what a log held before it was followed comes at once.
func (t *tensors) add(now, mib float64) {
	if n := len(t.readings); n > 0 && t.readings[n-1].t == now {
		t.readings = t.readings[:n-1]
	}
	if len(t.readings) == maxReadings {
		n := 0
		t.readings = slices.DeleteFunc(t.readings, func(reading) bool { n++; return n%2 == 0 })
	}
	t.readings = append(t.readings, reading{now, mib})
}

// rise is by how much they rose since a time, in MiB; known is false when the log says too
// little of it. Several ranks may print into one log, and differ: medians do not mind.
func (t *tensors) rise(since, now float64) (rise float64, known bool) {
	list := t.readings[after(t.readings, since):]
	n := len(list)
	if n < tensorsNeeded || list[n-1].t-list[0].t < tensorsCover*(now-since) {
		return 0, false
	}
	third := (list[n-1].t - list[0].t) / 3
	return middle(list[after(list, list[n-1].t-third):]) - middle(list[:after(list, list[0].t+third)]), true
}

// above is how far all of the newest readings are above all of those before a time, in MiB; known is false where too few are of either. What is
// allocated on top stays while they do, whatever the cache does.
func (t *tensors) above(at float64) (rise float64, known bool) {
	n, before := len(t.readings), after(t.readings, at)
	if before < tensorsFew || n-before < tensorsFew {
		return 0, false
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range t.readings[n-tensorsFew:] {
		low = min(low, r.mib)
	}
	for _, r := range t.readings[before-tensorsFew : before] {
		high = max(high, r.mib)
	}
	return low - high, true
}

// after is where the readings after a time begin, those at it included.
func after(list []reading, t float64) int {
	i, _ := slices.BinarySearchFunc(list, t, func(r reading, at float64) int { return cmp.Compare(r.t, at) })
	return i
}

func middle(list []reading) float64 {
	v := make([]float64, len(list))
	for i, r := range list {
		v[i] = r.mib
	}
	return series.Median(v)
}
