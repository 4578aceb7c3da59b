package sampler

import "time"

// FallCounter counts near misses: falls of the used memory that end, at once, at the limit
// of the GPU. An allocator whose request is refused gives back all that it does not use
// and asks again (https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management);
// when the GPU is full again right after, all of that is in use, and the program has only
// just survived. The least and the most of a second do not tell it: the order does. The
// loop and the reader of recordings count with the same rule, so live and replay agree.
type FallCounter struct {
	top, bottom Bytes
	atTop       time.Time // when it was last within half a step of the top
	falling     bool
	fell        time.Time // when it last fell by a step
	low         time.Time // when the bottom was reached
	rose        bool      // it has risen by a step since
	asked       bool      // it fell in the midst of a rise, or rose again at once
	mark        Bytes     // it rose to by steps before it fell
	climbed     time.Time // when it last rose by a step
	base        Bytes     // from where it began to
	floor       Bytes     // the bottom of the fall before
	held        bool      // it stood there before it fell
	last        Bytes     // the reading before
	lastAt      time.Time
	atOnce      time.Duration // within which what was refused is granted, as far as readings so far apart show it
	idle        bool          // nothing was taken at once after the fall
	soon        bool          // it rose by a step at once, however far apart the readings are
	onTheWay    bool          // it rose by a step as it came to the limit: the next reading tells how far
}

const (
	// fallReturn: the step that was refused goes on where it was; what takes longer than a
	// second and a half to come back may be the work that follows.
	fallReturn = 1500 * time.Millisecond
	// fallAtOnce: what was refused is asked for again as soon as the cache is given back, and was more than what was
	// free. Where that is more than fallFree per cent of the GPU, which few single requests are, a rise at once, or right
	// before, tells a refusal from a program that empties its cache before it needs more: within three readings, fallSoonest at least.
	fallAtOnce  = 150 * time.Millisecond
	fallSoonest = 60 * time.Millisecond
	fallFree    = 15
	// fallGranted: what was refused was more than what was free before the fall, so that what is taken within this time after it is at
	// least as much; less was asked for by a program that empties its cache by itself.
	fallGranted = 300 * time.Millisecond
	// A fall is 1 % of the GPU, from more than half of it, and ends within 5 % of the limit. Windows that a desktop opens
	// and closes move less than fallLeast.
	fallStep  = 100
	fallLimit = 20
	fallLeast = 128 * MiB
	// fallOwn is the part of the GPU within which what has just been taken was given back, no more and no less: a buffer of the
	// program's own, as of one that tries algorithms. An allocator gives back its cache, of which most is older, and keeps what is in use.
	// What was held for long and given back to there was the end of a unit of work, such as a fit or a picture, when nothing is taken
	// within fallAtOnce: what is refused and asked for again is granted between two readings.
	fallOwn = 2000
	// fallWall: who is refused comes to the end of the memory: 2.5 % are left, or less. Who empties its cache by itself, below the limit
	// and in no rise, and does not come so far has to take at once what was refused (fallSoonest), and who fills the GPU as far as
	// before, to the byte, has taken again what it had given back.
	fallWall = 40
)

// Fall is a near miss: how far it went, and whether it also began at the limit.
type Fall struct {
	Depth     Bytes
	FromLimit bool
}

// Add takes one reading. near: a fall has just ended at the limit. usable is what all
// processes together can have.
func (f *FallCounter) Add(at time.Time, used, usable Bytes) (fall Fall, near bool) {
	step, limit := max(usable/fallStep, fallLeast), usable-usable/fallLimit
	if f.falling && !f.rose && used >= f.bottom+step {
		f.rose, f.asked, f.soon = true, f.asked || at.Sub(f.low) <= f.atOnce, at.Sub(f.low) <= fallSoonest
	}
	if f.falling && f.last <= f.bottom && at.Sub(f.low) > fallAtOnce {
		f.idle = true
	}
	apart, climbs := at.Sub(f.lastAt), used >= f.last+step
	wall := usable.Less(used) <= usable/fallWall
	if f.onTheWay && (!wall || apart > fallAtOnce) {
		f.end(f.last)
		f.climbed = f.lastAt
	}
	f.last, f.lastAt = used, at
	sufficed := used.Less(f.bottom)+step/2 < usable.Less(f.top)
	if f.falling && f.rose && sufficed && at.Sub(f.low) > fallGranted {
		f.asked = false
	}
	switch {
	case usable == 0:
		return fall, false
	case !f.falling && used+step <= f.top:
		f.falling, f.asked = true, at.Sub(f.climbed) <= fallReturn
		f.held = !f.asked
		f.reach(used, at, apart)
		f.fell = at
	case !f.falling:
		f.rise(used, at, step)
	case used+step <= f.bottom: // a further step down
		f.reach(used, at, apart)
		f.fell = at
	case (at.Sub(f.fell) > fallReturn || at.Before(f.fell)) && !f.onTheWay:
		// It gave back all it could, and goes on at the limit: there is nothing else to give.
		fall, near = Fall{f.top.Less(f.bottom), true}, min(f.bottom, used) >= limit && (f.rose || !f.back(f.base, usable))
		from := f.bottom
		f.end(used)
		if f.rose {
			f.climbed, f.base = at, from
		}
	case used >= limit && f.bottom < limit:
		own := !f.held && f.back(f.base, usable) || f.idle && (f.back(f.base, usable) || f.back(f.floor, usable)) || !wall && same(used, f.top, usable)
		refused := (f.top >= limit || !f.held || f.soon || wall) && (f.asked || f.top >= usable-usable*fallFree/100)
		fall, near = Fall{f.top - f.bottom, f.top >= limit}, f.top > usable/2 && refused && !own && !sufficed
		if !near && !wall && climbs && !f.onTheWay {
			f.onTheWay = true
			return fall, false
		}
		f.end(used)
		f.climbed = at
	case used < f.bottom:
		f.reach(used, at, apart)
	}
	return fall, near
}

// back says whether the fall has ended where it stood before.
func (f *FallCounter) back(level, usable Bytes) bool {
	return level > 0 && same(level, f.bottom, usable)
}

// same says whether two levels of a GPU are one.
func same(a, b, usable Bytes) bool { return max(a, b)-min(a, b) <= usable/fallOwn }

// reach sets a new bottom, so long after the reading before.
func (f *FallCounter) reach(used Bytes, at time.Time, apart time.Duration) {
	f.atOnce = max(fallSoonest, min(fallAtOnce, 3*apart))
	f.bottom, f.low, f.rose, f.idle, f.soon = used, at, false, false, false
}

// end begins anew at the level of now.
func (f *FallCounter) end(used Bytes) {
	f.falling, f.top, f.mark, f.base, f.floor, f.onTheWay = false, used, used, 0, f.bottom, false
}

// rise follows the top, and what drifts away from it little by little, as a desktop beside does: that is no fall.
func (f *FallCounter) rise(used Bytes, at time.Time, step Bytes) {
	switch {
	case used+step/2 >= f.top:
		f.top, f.atTop = max(f.top, used), at
	case at.Sub(f.atTop) > fallReturn || at.Before(f.atTop):
		f.top, f.atTop = used, at
	}
	if used >= f.mark+step {
		if f.mark > 0 && at.Sub(f.climbed) > fallReturn {
			f.base = f.mark
		}
		f.mark, f.climbed = used, at
	}
}

// Count takes one reading into a window.
func (f *FallCounter) Count(w *Window, at time.Time, used, usable Bytes) {
	w.Falls = Some(w.Falls.Or(0))
	if fall, near := f.Add(at, used, usable); near {
		w.Falls = Some(w.Falls.Or(0) + 1)
		w.DeepestFall = Some(max(w.DeepestFall.Or(0), fall.Depth))
		if fall.FromLimit {
			w.LimitFalls = Some(w.LimitFalls.Or(0) + 1)
		}
	}
}
