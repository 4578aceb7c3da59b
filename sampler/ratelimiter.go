package sampler

import (
	"slices"
	"time"
)

// memoryDuty is the share of one thread that the memory poller may spend in driver calls.
// The calls take the resource manager's lock, which allocations of the jobs need too.
const memoryDuty = 0.02

// rateLimiter keeps the duty of the memory poller under memoryDuty: when the median sweep of a window takes
// more, the rate halves; when it takes less than a quarter, it doubles again.
type rateLimiter struct {
	asked, period time.Duration
	sweeps        []time.Duration
	median        time.Duration
}

const limiterWindow = 50

func newRateLimiter(period time.Duration) *rateLimiter {
	return &rateLimiter{asked: period, period: period, sweeps: make([]time.Duration, 0, limiterWindow)}
}

// note takes the duration of a sweep and is true when there is something new to say.
func (r *rateLimiter) note(d time.Duration) bool {
	r.sweeps = append(r.sweeps, d)
	if len(r.sweeps) < limiterWindow {
		return false
	}
	slices.Sort(r.sweeps) // the median: a preempted thread is not a slow driver
	r.median = r.sweeps[len(r.sweeps)/2]
	r.sweeps = r.sweeps[:0]
	duty := float64(r.median) / float64(r.period)
	switch {
	case duty > memoryDuty:
		r.period *= 2
	case r.period > r.asked && duty < memoryDuty/4:
		r.period = max(r.period/2, r.asked)
	}
	return true
}

// noteSweeps takes the sweeps of one call at their mean.
func (r *rateLimiter) noteSweeps(s *Sweep) (news bool) {
	for range s.Sweeps {
		news = r.note(s.Busy/time.Duration(s.Sweeps)) || news
	}
	return news
}

// sampling is how the memory is read now.
func (r *rateLimiter) sampling() Sampling {
	return Sampling{PeriodSeconds: r.period.Seconds(), AskedSeconds: r.asked.Seconds(),
		DutyPercent: 100 * float64(r.median) / float64(r.period)}
}
