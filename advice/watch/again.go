package watch

import (
	"math"

	"nvpeak/sampler"
)

// again finds a large request that a process makes, gives back, and makes again: it is the one
// kind of granted request that will need free memory once more.
type again struct {
	bytes sampler.Bytes // 0: none
	at    float64       // when it was made last
	gap   float64       // since the time before; 0: it was made once
	base  sampler.Bytes // held before it was made
	low   float64       // MiB, least free while it is not held; NaN: it is
	newer largeRequest  // of the snapshot that comes
}

type largeRequest struct {
	bytes sampler.Bytes
	at    float64
	full  bool // one was refused
}

const (
	// againLeast: smaller requests are never short for long.
	againLeast = 256 * sampler.MiB
	// againSeconds at least lie between two that are apart: loading goes from file to file.
	againSeconds = 20
	// againAlike: the same is asked for, of as much held.
	againAlike = 0.1
	// againLate: what has not come again for two and a half times as long will not.
	againLate = 2.5
)

// take takes a request.
func (a *again) take(r *sampler.Request, at float64) {
	if r.Answer != 0 {
		a.newer.full = true
	} else if r.Bytes >= againLeast && r.Bytes >= a.newer.bytes && !pooled(r.Function) {
		a.newer.bytes, a.newer.at = r.Bytes, at
	}
}

// fold takes a snapshot: what was held before it and is now, and how much of the GPU is free.
func (a *again) fold(base, live sampler.Bytes, now, free float64) {
	n := a.newer
	a.newer = largeRequest{}
	near := func(x, y sampler.Bytes) bool {
		return float64(x.Less(y)+y.Less(x)) <= againAlike*float64(max(n.bytes, a.bytes))
	}
	switch same := n.bytes > 0 && near(n.bytes, a.bytes) && near(base, a.base); {
	case n.full: // who is refused gives back other memory than it was granted
		*a = again{}
	case same && n.at-a.at >= againSeconds:
		a.gap, a.at, a.bytes, a.base = n.at-a.at, n.at, max(a.bytes, n.bytes), base
	case same: // at once again: still the same time
	case n.bytes > 0 && (n.bytes >= a.bytes || now-a.at > againLate*max(a.gap, startSeconds)):
		*a = again{bytes: n.bytes, at: n.at, base: base, low: math.NaN()}
	}
	switch held := float64(live.Less(a.base)) > againAlike*float64(a.bytes); {
	case a.bytes == 0 || held:
		a.low = math.NaN()
	case !(a.low <= free):
		a.low = free
	}
}

// due is the request that will come again, and the least that was free since it was given back.
func (a *again) due(now float64) (need sampler.Bytes, low float64, ok bool) {
	if a.gap == 0 || a.low != a.low || now-a.at > againLate*a.gap {
		return 0, 0, false
	}
	return a.bytes, a.low, true
}
