package sampler

import "time"

// The memory of a GPU is read fifty times a second, its processes once. Whose a spike was between
// two lists tells a list that is read while it lasts: the one who has so much more there than before.

// rise is memory that a GPU took by a step of staleBytes or more.
type rise struct {
	base, top Bytes
	began, at time.Time // of the first reading above the base, of the highest
	ended     time.Time // of the first reading that was below the half again; zero: it goes on
	told      bool
	pid       Opt[int]
}

// staleBytes: when memory is this much higher than the least since the last process list, the
// list is read at once, so that a spike finds its process. 32 MiB is more than the small
// movements of an allocator (segments of 2 and 20 MiB, c10/cuda/CUDACachingAllocator.cpp).
// At most every 200 ms, for lists are expensive, and as far as listBudget goes.
const (
	staleBytes = 32 * MiB
	staleAfter = 200 * time.Millisecond
)

const (
	// riseMost is how long a rise may last to be one; then it is the new level.
	riseMost = time.Second
	// listTakes is how long a list may take that was made while the rise lasted.
	listTakes = 20 * time.Millisecond
	// keptLists are as many as are read in a second and a half at most.
	keptLists = 8
	// mostRises bounds those between two snapshots: only the highest is told.
	mostRises = 64
	// A list is of a rise when its processes have as much more than before as the GPU has, and the
	// rise is that of a process that has at least two thirds of it.
	riseLeast, riseWhole, riseOwn = 0.8, 1.2, 2.0 / 3
)

// listing is what one process list said.
type listing struct {
	at  time.Time
	sum Bytes
	of  []holding
}

// holding is what a process had; pids are used again, so that start belongs to it.
type holding struct {
	pid   int
	start int64
	bytes Bytes
}

// had is what the process of a later holding had.
func (l *listing) had(h holding) Bytes {
	for _, x := range l.of {
		if x.pid == h.pid && x.start == h.start {
			return x.bytes
		}
	}
	return 0
}

// riser finds the rises of one GPU and whose they were.
type riser struct {
	low   Opt[Bytes] // the level before the next rise
	now   *rise
	over  []rise    // to be told with the next snapshot
	lists []listing // the newest, oldest first
}

// reading takes the used memory at a time.
func (r *riser) reading(at time.Time, used Bytes) {
	if r.now != nil {
		r.goOn(at, used)
	}
	if r.now != nil {
		return
	}
	if low := r.low.Or(used); used > low+staleBytes {
		r.now = &rise{base: low, top: used, began: at, at: at}
		return
	}
	r.low = Some(min(r.low.Or(used), used))
}

func (r *riser) goOn(at time.Time, used Bytes) {
	if used > r.now.top {
		r.now.top, r.now.at = used, at
	}
	if fallen := used < r.now.base+(r.now.top-r.now.base)/2; fallen || at.Sub(r.now.began) > riseMost {
		r.now.ended, r.low = at, Some(used)
		if !r.now.told && len(r.over) < mostRises {
			r.over = append(r.over, *r.now)
		}
		r.now = nil
	}
}

// listed takes a process list that was there at a time.
func (r *riser) listed(at time.Time, procs []Process, used Opt[Bytes]) {
	l := listing{at: at}
	if len(r.lists) == keptLists { // the room of the oldest
		l.of = r.lists[0].of[:0]
		r.lists = append(r.lists[:0], r.lists[1:]...)
	}
	for i := range procs {
		b := min(procs[i].Memory.Or(0), MaxPlausible)
		l.sum = min(l.sum+b, MaxPlausible)
		l.of = append(l.of, holding{procs[i].PID, procs[i].StartTime.Or(time.Time{}).UnixNano(), b})
	}
	r.lists = append(r.lists, l)
	if used.Known() && r.now == nil {
		r.low = used
	}
}

// tell writes the highest rise since the snapshot before into a window. waiting: a list is on its way.
func (r *riser) tell(w *Window, waiting bool) {
	if len(r.lists) == 0 {
		r.over = nil
		return
	}
	var top *rise
	higher := func(x *rise) {
		if top == nil || x.top > top.top {
			top = x
		}
	}
	later := r.over[:0]
	for _, x := range r.over {
		if x.pid = r.owner(&x); !x.pid.Known() && waiting {
			later = append(later, x)
			continue
		}
		higher(&x)
	}
	r.over = later
	if r.now != nil && !r.now.told {
		if r.now.pid = r.owner(r.now); r.now.pid.Known() {
			r.now.told = true
			higher(r.now)
		}
	}
	if top != nil {
		w.Rise, w.RiseTime, w.RisePID = Some(top.top-top.base), Some(top.at), top.pid
	}
}

// owner is the process whose memory made a rise, as far as a list of that time tells.
func (r *riser) owner(x *rise) (pid Opt[int]) {
	for i := len(r.lists) - 1; i > 0; i-- { // the oldest has none before it
		l := &r.lists[i]
		if l.at.Before(x.began) || !x.ended.IsZero() && l.at.After(x.ended.Add(listTakes)) {
			continue
		}
		for k := i - 1; k >= 0; k-- {
			if before := &r.lists[k]; before.at.Before(x.began) && x.explainedBy(before, l) {
				return x.most(before, l)
			}
		}
	}
	return pid
}

// explainedBy says whether the processes have as much more than before as the GPU.
func (x *rise) explainedBy(before, l *listing) bool {
	height, more := float64(x.top-x.base), float64(l.sum)-float64(before.sum)
	return more >= riseLeast*height && more <= riseWhole*height
}

// most is the process that has nearly all of it.
func (x *rise) most(before, l *listing) (pid Opt[int]) {
	for _, h := range l.of {
		if float64(h.bytes.Less(before.had(h))) < riseOwn*float64(x.top-x.base) {
			continue
		}
		if pid.Known() {
			return Opt[int]{} // two, and a third gave as much back: it is of something else
		}
		pid = Some(h.pid)
	}
	return pid
}
