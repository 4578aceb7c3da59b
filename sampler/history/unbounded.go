package history

import "time"

// unbounded is a track without an end: its values at every resolution, in blocks, so that a
// gap of years takes no room.
type unbounded struct{ rings [len(tiers)]blocks }

// blocks hold one value for each step that has one.
type blocks struct {
	m    map[int64]*block
	last int64
}

const blockSize = 256

type block [blockSize]float32

func newUnbounded() *unbounded {
	u := &unbounded{}
	for i := range u.rings {
		u.rings[i].m = map[int64]*block{}
	}
	return u
}

// add notes v for the time from (exclusive) to at (inclusive), as Track.Add.
func (u *unbounded) add(from, at time.Time, v float32, byMin bool) {
	for i := range u.rings {
		step := int64(tiers[i].step)
		first, last := from.UnixNano()/step, at.UnixNano()/step
		if first < last {
			first++
		}
		for n := first; n <= last; n++ {
			u.rings[i].put(n, v, byMin)
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
