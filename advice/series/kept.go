package series

import (
	"slices"

	"nvpeak/sampler"
)

// Kept is what a holder keeps beneath the cache of its allocator: what stays when the cache
// is emptied, or what a training log prints as allocated. Where it rises steadily something
// leaks, however level the memory in use is; and the least that the holder has had above it
// is what it needs above it, for the rest is cache, which an allocator gives back when it must.
type Kept struct {
	list   []kept
	apart  float64 // seconds between readings at least
	judged bool    // since the last reading: it is asked with every snapshot
	trend  Trend
	need   float64
	rises  bool
}

// kept is one reading, and the most that the holder had from then to the next.
type kept struct{ t, v, top float64 }

const (
	keptMost = ringBuckets
	// A leak takes six readings and a minute to be known.
	keptNeeded  = 6
	keptSeconds = 60
	// keptStale mean intervals after the last reading it is not known any more.
	keptStale = 2.5
)

// Clone is a copy that goes its own way.
func (k *Kept) Clone() Kept {
	c := *k
	c.list = slices.Clone(k.list)
	return c
}

// Add takes a reading, in MiB.
func (k *Kept) Add(t, v float64) {
	if n := len(k.list); n > 0 && t-k.list[n-1].t < k.apart {
		return
	}
	if len(k.list) == keptMost {
		k.thin()
	}
	k.list, k.judged = append(k.list, kept{t, v, v}), false
}

// thin forgets every other reading.
func (k *Kept) thin() {
	const n = keptMost / 2
	for i := range n {
		r := k.list[2*i]
		r.top = max(r.top, k.list[2*i+1].top)
		k.list[i] = r
	}
	k.apart = 1.5 * (k.list[n-1].t - k.list[0].t) / (n - 1)
	k.list = k.list[:n]
}

// Seen takes the most that the holder has had since the last call.
func (k *Kept) Seen(high float64) {
	if n := len(k.list); n > 0 {
		k.list[n-1].top = max(k.list[n-1].top, high)
	}
}

// Top is the most that the holder has had before the last reading.
func (k *Kept) Top() (most float64) {
	for _, r := range k.list[:max(0, len(k.list)-1)] {
		most = max(most, r.top)
	}
	return most
}

// Enough says whether there are as many readings as a trend takes.
func (k *Kept) Enough() bool { return len(k.list) >= keptNeeded }

// Trend is how what is kept rises, over the longest time for which it does so steadily, and
// what the holder needs above it; ok is false when it does not, or when no more readings
// come. limit is the size of the GPU.
func (k *Kept) Trend(now, limit float64) (tr Trend, need float64, ok bool) {
	n := len(k.list)
	if !k.Enough() || now-k.list[n-1].t > keptStale*(k.list[n-1].t-k.list[0].t)/float64(n-1) {
		return tr, 0, false
	}
	if !k.judged {
		k.judge(limit)
	}
	return k.trend, k.need, k.rises
}

func (k *Kept) judge(limit float64) {
	k.judged, k.rises = true, false
	for list := k.list; len(list) >= keptNeeded; list = list[max(1, len(list)/3):] {
		if k.trend, k.rises = steady(list, max(trendLeast, limit*trendLevel)); k.rises {
			k.need = needed(list)
			k.rises = k.trend.at(k.list[len(k.list)-1].v) >= newShare && !tooth(k.list[:len(k.list)-len(list)], k.trend)
			return
		}
	}
}

// at is how much of a trend's rise a value has, 0 where it begins and 1 where it is.
func (tr *Trend) at(v float64) float64 { return (v - tr.From) / (tr.To - tr.From) }

// tooth says whether readings before a trend have climbed from where it begins to where it is, and came back: what an epoch
// gathers and frees at its end.
func tooth(before []kept, tr Trend) bool {
	bottom := slices.IndexFunc(before, func(r kept) bool { return tr.at(r.v) <= 1-newShare })
	return bottom >= 0 && slices.ContainsFunc(before[bottom:], func(r kept) bool { return tr.at(r.v) >= newShare })
}

// Returned says whether the last reading is back where a trend began.
func (k *Kept) Returned(tr Trend) bool {
	n := len(k.list)
	return n > 0 && k.list[n-1].t > tr.Until && tr.at(k.list[n-1].v) <= (1-newShare)/2
}

func steady(list []kept, least float64) (tr Trend, ok bool) {
	var p points
	for i, r := range list {
		p.t[i], p.v[i] = r.t, r.v
	}
	p.n = len(list)
	last := list[p.n-1]
	tr = Trend{Since: list[0].t, Until: last.t, From: list[0].v, To: last.v, points: p.n}
	if tr.Until-tr.Since < keptSeconds || tr.To-tr.From < least {
		return tr, false
	}
	return tr, p.steady(&tr)
}

// needed is the second least that was above what was kept: in one interval the holder may
// not have worked.
func needed(list []kept) float64 {
	above := make([]float64, 0, keptMost)
	for _, r := range list[:len(list)-1] {
		above = append(above, r.top-r.v)
	}
	slices.Sort(above)
	return above[1]
}

// Floors are the readings, oldest first.
func (k *Kept) Floors() (list []sampler.Bytes) {
	for _, r := range k.list {
		list = append(list, Bytes(r.v))
	}
	return list
}

// Dips are the times when a holder gave back much and took it again soon: its cache was
// emptied, and what stayed is what it keeps.
type Dips struct {
	Kept
	top, low, at float64
	in, shallow  bool
}

const (
	// A dip is a tenth of the GPU deep at least, and over within two minutes. One from the limit may be as shallow as
	// a fiftieth: the more is kept, the less an allocator finds to give back before a request fails.
	dipShare   = 0.10
	dipShallow = 0.02
	dipSeconds = 120
	// Dips within half a minute are one.
	dipsApart = 30
)

// Add takes a sample: the least and the most since the one before. limit is the size of the GPU.
func (d *Dips) Add(t, low, high, limit float64) {
	deep := dipShare * limit
	if d.top >= atLimit*limit || d.in && d.shallow {
		deep = dipShallow * limit
	}
	switch {
	case !d.in && low < d.top-deep:
		d.in, d.low, d.at, d.shallow = true, low, t, d.top >= atLimit*limit
	case !d.in:
		d.top = max(d.top, high)
		d.Seen(high)
	case high > d.low+deep:
		d.in, d.top = false, high
		d.found()
	case t-d.at > dipSeconds:
		d.in, d.top = false, high
	case low < d.low:
		d.low, d.at = low, t
	}
}

func (d *Dips) found() {
	if n := len(d.list); n > 0 && d.at-d.list[n-1].t < dipsApart {
		last := &d.list[n-1]
		last.v, d.judged = min(last.v, d.low), false
		return
	}
	d.Kept.Add(d.at, d.low)
}
