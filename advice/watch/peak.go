package watch

import "math"

// recentPeak is the most that a process has held of late, and what the others held then.
type recentPeak struct {
	now, before peakAt // of this stretch of time and the one before
	since       float64
}

type peakAt struct {
	value, others, time float64
}

// peakStretch is how long a stretch is: a peak is forgotten after one to two of them.
const peakStretch = 1800

func (r *recentPeak) reset(now float64) {
	none := peakAt{value: math.Inf(-1)}
	*r = recentPeak{now: none, before: none, since: now}
}

func (r *recentPeak) add(now, high, others float64) {
	if now-r.since > peakStretch {
		r.before, r.now, r.since = r.now, peakAt{value: math.Inf(-1)}, now
	}
	if high >= r.now.value {
		r.now = peakAt{high, others, now}
	}
}

// most is the larger of both.
func (r *recentPeak) most() peakAt {
	if r.before.value > r.now.value {
		return r.before
	}
	return r.now
}
