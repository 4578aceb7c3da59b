package history

import (
	"time"

	"nvpeak/sampler"
)

// Archive is a History without an end: it keeps every second of a recording, so that the
// history of any moment in it can be had at once. It takes 4.5 bytes per second and
// figure that was there, 2 MB a day for each GPU.
type Archive struct{ h *History }

// NewArchive makes an empty archive of snapshots that come every interval or so.
func NewArchive(interval time.Duration) *Archive {
	h := New(interval)
	h.archive = true
	return &Archive{h}
}

// Add folds one snapshot in, as that of a History.
func (a *Archive) Add(s *sampler.Snapshot) { a.h.Add(s) }

// At makes the history as it was after the last snapshot at or before t, which is the
// time of a snapshot that was added. It goes on from there by Add.
func (a *Archive) At(t time.Time) *History {
	h := &History{gpus: map[sampler.GPUKey]*Series{}, procs: map[sampler.ProcessKey]*ProcessSeries{}, last: t.Round(0), gap: a.h.gap, soon: a.h.soon}
	for key, from := range a.h.gpus {
		to := h.series(key)
		to.UsedMin.recall(from.UsedMin.all, t)
		for name, track := range to.plots {
			track.recall(from.plots[name].all, t)
		}
	}
	for key, from := range a.h.procs {
		track := newTrack(false, processTiers)
		if seen := track.recall(from.Used.all, t); !seen.IsZero() {
			h.procs[key] = &ProcessSeries{Used: track, seen: seen}
		}
	}
	return h
}

// endless is a track without an end: its values at every resolution, in blocks, so that a
// gap of years takes no room.
type endless struct{ rings [len(tiers)]blocks }

// blocks hold one value for each step that has one.
type blocks struct {
	m    map[int64]*block
	last int64
}

const blockSize = 256

type block [blockSize]float32

func newEndless() *endless {
	e := &endless{}
	for i := range e.rings {
		e.rings[i].m = map[int64]*block{}
	}
	return e
}

// add notes v for the time from (exclusive) to at (inclusive), as Track.Add.
func (e *endless) add(from, at time.Time, v float32, byMin bool) {
	for i := range e.rings {
		step := int64(tiers[i].step)
		first, last := from.UnixNano()/step, at.UnixNano()/step
		if first < last {
			first++
		}
		for n := first; n <= last; n++ {
			e.rings[i].put(n, v, byMin)
		}
	}
}

func (r *blocks) put(n int64, v float32, byMin bool) {
	n = max(n, r.last) // when time runs backwards no peak is lost
	r.last = n
	b := r.m[n/blockSize]
	if b == nil {
		b = &block{}
		for i := range b {
			b[i] = nan32
		}
		r.m[n/blockSize] = b
	}
	slot := &b[n%blockSize]
	if *slot != *slot || (byMin && v < *slot) || (!byMin && v > *slot) {
		*slot = v
	}
}

// each passes on the values of the steps from first to last, oldest first.
func (r *blocks) each(first, last int64, do func(n int64, v float32)) {
	for k := first / blockSize; k <= last/blockSize; k++ {
		b := r.m[k]
		if b == nil {
			continue
		}
		for i, v := range b {
			if n := k*blockSize + int64(i); n >= first && n <= last && v == v {
				do(n, v)
			}
		}
	}
}

// recall fills an empty track with what was known at a moment, and returns when it was last.
func (t *Track) recall(from *endless, at time.Time) (seen time.Time) {
	second := at.UnixNano() / int64(time.Second)
	for i := range t.rings {
		r, unit := &t.rings[i], int64(tiers[i].step/time.Second)
		end := second / unit
		put := func(n int64, v float32) {
			r.put(n, v, t.byMin)
			if now := time.Unix(n*unit, 0); now.After(seen) {
				seen = now
			}
		}
		from.rings[i].each(max(end-int64(len(r.v))+1, 0), end-1, put)
		// The last step was not over yet.
		from.rings[0].each(end*unit, second, func(_ int64, v float32) { put(end, v) })
	}
	return seen
}
