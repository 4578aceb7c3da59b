package watch

import "math"

// recentPeak is the most that a process has held of late, and what the others held then.
type recentPeak struct {
	now, before peakAt // of this stretch of time and the one before
	since       float64
	// crowd is the most that the others have held since it left its peak, survived the most
	// that they gave back before it came again: they take turns.
	crowd, survived float64
	last            float64 // what the others held at the snapshot before
	fresh           bool    // that was a peak
	prior           float64 // what they held before it
	up              bool
	times           int // that it came to its peak
}

type peakAt struct {
	value, others, time float64
}

// peakStretch is how long a stretch is: a peak is forgotten after one to two of them.
const peakStretch = 1800

const (
	// peakAgain of its peak is that peak again.
	peakAgain   = 0.95
	turnsMargin = 1.02
)

func (r *recentPeak) reset(now float64) {
	none := peakAt{value: math.Inf(-1)}
	*r = recentPeak{now: none, before: none, since: now}
}

func (r *recentPeak) add(now, high, others float64) {
	if now-r.since > peakStretch {
		r.before, r.now, r.since = r.now, peakAt{value: math.Inf(-1)}, now
	}
	switch up := high >= peakAgain*r.most().value; {
	case up && !r.up:
		if r.crowd-others >= neighborLeast {
			r.survived = max(r.survived, r.crowd)
		}
		r.up, r.crowd = true, 0
		r.times++
		if high*peakAgain > r.most().value {
			r.times = 1 // to one that is higher
		}
	case !up:
		r.up, r.crowd = false, max(r.crowd, min(others, r.last)) // a list and a reading may be of two moments
	}
	if r.fresh { // as above: who was just rising may have been listed before, and the rest of it is nobody else's
		r.now.others = min(r.now.others, max(r.prior, others))
	}
	if r.fresh = high >= r.now.value; r.fresh {
		r.now, r.prior = peakAt{high, others, now}, r.last
	}
	r.last = others
}

// turns says whether others, who hold more than at the peak, held as much before and gave
// it back in time.
func (r *recentPeak) turns(others float64) bool {
	return others-r.most().others >= neighborLeast && others <= turnsMargin*r.survived
}

// again says whether it has come to its peak more than once.
func (r *recentPeak) again() bool { return r.times > 1 }

// most is the larger of both.
func (r *recentPeak) most() peakAt {
	if r.before.value > r.now.value {
		return r.before
	}
	return r.now
}
