package history

import (
	"math"
	"sort"
	"time"
)

// unbounded is a track without an end: its values at every resolution. A gap of years takes no
// room, and neither does a figure that was read once in hours.
type unbounded struct {
	rings  [len(tiers)]runs
	finest int // the tiers before it were dropped: there was no room for them
}

// runs hold one value for each step that has one, in the order of time.
type runs struct {
	list   []run
	values []float32
}

// run is some steps one after the other: each with a value of its own, or all with the same.
type run struct {
	first int64
	steps int32
	value int32 // index of the first one
	same  bool
}

func (r *run) last() int64 { return r.first + int64(r.steps) - 1 }

// room is about how many bytes it takes.
func (u *unbounded) room() (n int) {
	for i := range u.rings {
		n += 4*cap(u.rings[i].values) + 24*cap(u.rings[i].list)
	}
	return n
}

// coarsen drops the tiers before finest.
func (u *unbounded) coarsen(finest int) {
	u.finest = finest
	clear(u.rings[:finest])
}

// each passes on what is known of the steps of a tier, oldest first: of one that was dropped
// what the next one has.
func (u *unbounded) each(tier int, first, last int64, do func(n int64, v float32)) {
	from := max(tier, u.finest)
	wide := int64(tiers[from].step / tiers[tier].step)
	u.rings[from].each(first/wide, last/wide, func(k int64, v float32) {
		for n := max(first, k*wide); n <= min(last, (k+1)*wide-1); n++ {
			do(n, v)
		}
	})
}

// add notes v for the time from (exclusive) to at (inclusive), as Track.Add.
func (u *unbounded) add(from, at time.Time, v float32, byMin bool) {
	for i := u.finest; i < len(u.rings); i++ {
		first, last := stepsOf(i, from, at)
		u.rings[i].put(first, last, v, byMin)
	}
}

// put notes v for some steps.
func (r *runs) put(first, last int64, v float32, byMin bool) {
	if n := len(r.list); n > 0 {
		newest := r.list[n-1].last()
		if first <= newest { // when time runs backwards no peak is lost
			r.raise(&r.list[n-1], v, byMin)
		}
		if first = max(first, newest+1); first > last {
			return
		}
	}
	first = max(first, last-math.MaxInt32/2)
	r.extend(first, int32(last-first+1), v)
}

// extend adds steps behind the newest one.
func (r *runs) extend(first int64, steps int32, v float32) {
	r.values = append(r.values, v)
	if n := len(r.list); steps == 1 && n > 0 {
		if newest := &r.list[n-1]; !newest.same && newest.last()+1 == first && newest.steps < math.MaxInt32/2 {
			newest.steps++
			return
		}
	}
	r.list = append(r.list, run{first, steps, int32(len(r.values) - 1), steps > 1})
}

// raise lets the newest step have v, if that is more.
func (r *runs) raise(newest *run, v float32, byMin bool) {
	if !over(v, r.values[len(r.values)-1], byMin) {
		return
	}
	if !newest.same {
		r.values[len(r.values)-1] = v
		return
	}
	at := newest.last()
	if newest.steps--; newest.steps == 1 {
		newest.same = false
	}
	r.extend(at, 1, v)
}

// each passes on the values of the steps from first to last, oldest first.
func (r *runs) each(first, last int64, do func(n int64, v float32)) {
	i := sort.Search(len(r.list), func(i int) bool { return r.list[i].last() >= first })
	for ; i < len(r.list) && r.list[i].first <= last; i++ {
		q := &r.list[i]
		for n := max(first, q.first); n <= min(last, q.last()); n++ {
			v := r.values[q.value]
			if !q.same {
				v = r.values[int64(q.value)+n-q.first]
			}
			if v == v {
				do(n, v)
			}
		}
	}
}
