package watch

import (
	"time"

	"nvpeak/sampler"
)

// flushed are the near misses of a process as the driver's functions saw them: a request was refused,
// and granted after the process had given back what it did not use.
type flushed struct {
	n          int     // of late
	start      int     // of those, in the first minute of the process
	first      float64 // when there was one
	last       float64
	newest     sampler.Refusal
	deepest    sampler.Bytes // most given back
	cost       float64       // seconds from refusal to grant, of all whose requests were told
	refusedAt  float64       // the first refusal that waits for its answer
	waiting    bool
	took       float64 // of the newest answer
	unsettled  int     // pieces that may still be refused
	unsettleAt float64
}

// refused notes when the first of some tries was made.
func (f *flushed) refused(at float64) {
	if !f.waiting || at-f.refusedAt > retrySeconds {
		f.waiting, f.refusedAt = true, at
	}
}

// answered notes how long it took until memory was granted.
func (f *flushed) answered(at float64) {
	if f.waiting {
		f.waiting, f.took = false, at-f.refusedAt
	}
}

// foldFlushes takes n more flushes. first: the process was not seen before, so that they may be of any time.
func (a *asking) foldFlushes(n int, first bool, now float64, at time.Time) {
	f, r := &a.flushed, a.refusal
	known := r.Outcome == sampler.RefusalFlush
	if first && !(known && now-a.tried <= endingSeconds) {
		return
	}
	if known && r.Bytes < smallRequest && r.Freed < smallRequest && !segment(r.Bytes) {
		return // a workspace
	}
	if f.n == 0 || now-f.last > nearSeconds {
		*f = flushed{first: now, took: f.took, waiting: f.waiting, refusedAt: f.refusedAt}
	}
	if piece(&r) { // the first of many that are asked for again
		if known {
			f.newest = r
		}
		f.unsettled, f.unsettleAt = f.unsettled+1, max(f.unsettleAt, a.tried)
		return
	}
	if known {
		f.newest, f.deepest = r, max(f.deepest, r.Freed)
	}
	f.count(a, n, now)
}

func (f *flushed) count(a *asking, n int, now float64) {
	f.n += n
	f.last, f.cost = now, f.cost+f.took
	f.took = 0
	if a.age(now) <= startSeconds {
		f.start += n
	}
}

// settle counts what was granted piece by piece once no further piece was refused.
func (f *flushed) settle(a *asking, now float64) {
	switch {
	case f.unsettled == 0:
	case a.pending():
		f.unsettled = 0
	case now-f.unsettleAt >= retrySeconds:
		f.deepest = max(f.deepest, f.newest.Freed)
		f.count(a, 1, now)
		f.unsettled = 0
	}
}

// recent says whether there was one of late.
func (f *flushed) recent(now float64) bool { return f.n > 0 && now-f.last <= nearSeconds }
