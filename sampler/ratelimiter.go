package sampler

import (
	"math"
	"slices"
	"time"
)

// The shares of one thread that the memory poller may spend in driver calls. The calls take
// the resource manager's lock, which allocations of the jobs need too. One GPU has gpuDuty,
// many have allDuty together, and machines between them manyDuty for each. Calls of cheapCall at most hold nobody up: they may
// have cheapDuty together, as 16 GPUs with 7 instances each need.
const (
	gpuDuty   = 0.02
	manyDuty  = 0.01
	allDuty   = 0.12
	cheapDuty = 0.25
	cheapCall = 50 * time.Microsecond
)

// quietPeriod is how often a GPU is read that nobody uses. No hot GPU pays for it.
const quietPeriod = 200 * time.Millisecond

// rateLimiter keeps the memory poller within its duty, GPU by GPU: a slow one is read less
// often and the others as before. A call costs what the quickest of late did, for a driver is
// as slow in its quickest call while a thread that lost its processor is slow in some only.
type rateLimiter struct {
	asked  time.Duration
	gpus   []gpuRate
	rounds []callCosts // the newest sweeps, each of all its calls
}

// gpuRate is how often one GPU is read and why.
type gpuRate struct {
	cost   time.Duration // of a call, the least of late
	period time.Duration // within the duty
	quiet  bool
	apart  bool // it is set aside: somebody else says how often it is read
	hung   bool // its memory call does not return: how often it would be read says nothing
	late   []callCosts
}

// callCosts are calls that began within costSpan.
type callCosts struct {
	began time.Time
	least time.Duration
	calls int
}

// A judgment rests on the calls of lateSpan, a little less than the second that a sweep lasts,
// and on judgedCalls at least, or on judgedAll of all GPUs.
const (
	costSpan    = 100 * time.Millisecond
	lateSpan    = 900 * time.Millisecond
	judgedCalls = 3
	judgedAll   = 16
)

func newRateLimiter(asked time.Duration, gpus int) *rateLimiter {
	r := &rateLimiter{asked: asked, gpus: make([]gpuRate, gpus)}
	for i := range r.gpus {
		r.gpus[i].period = asked
	}
	return r
}

// note takes the quickest of some calls for a GPU.
func (r *rateLimiter) note(dev int, now time.Time, least time.Duration, calls int) {
	g := &r.gpus[dev]
	if n := len(g.late); n > 0 && now.Sub(g.late[n-1].began) < costSpan {
		last := &g.late[n-1]
		last.least, last.calls = min(last.least, least), last.calls+calls
	} else {
		g.late = append(g.late, callCosts{now, least, calls})
	}
	known := 0
	for _, c := range g.late {
		known += c.calls
	}
	if known < judgedCalls {
		return
	}
	for known-g.late[0].calls >= judgedCalls && now.Sub(g.late[0].began) > lateSpan {
		known -= g.late[0].calls
		g.late = slices.Delete(g.late, 0, 1)
	}
	g.cost = g.late[0].least
	for _, c := range g.late {
		g.cost = min(g.cost, c.least)
	}
}

// round takes the quickest of all calls of a sweep.
func (r *rateLimiter) round(now time.Time, least time.Duration, calls int) {
	if calls == 0 {
		return
	}
	r.rounds = append(r.rounds, callCosts{now, least, calls})
	known := 0
	for _, c := range r.rounds {
		known += c.calls
	}
	for known-r.rounds[0].calls >= judgedAll {
		known -= r.rounds[0].calls
		r.rounds = slices.Delete(r.rounds, 0, 1)
	}
}

// together is what the quickest of the newest calls took, where there are judgedAll of them: a thread that lost its
// processor was not slow in all of them. With many GPUs it is known when a few of them were asked, and none has enough calls of its own.
func (r *rateLimiter) together() (least time.Duration) {
	calls := 0
	for i, c := range r.rounds {
		if calls += c.calls; i == 0 || c.least < least {
			least = c.least
		}
	}
	if calls < judgedAll {
		return 0
	}
	return least
}

// setAside takes the rate of a GPU that is set aside, and says whether it is.
func (r *rateLimiter) setAside(dev int, cost, period time.Duration, apart bool) bool {
	g := &r.gpus[dev]
	switch {
	case apart:
		g.cost, g.period, g.late = cost, period.Truncate(r.asked)+r.asked, nil
	case g.apart:
		g.cost = 0 // of its calls in the sweep nothing is known
	}
	g.apart = apart
	return apart
}

// settle works the periods out anew.
func (r *rateLimiter) settle() {
	least := r.together()
	for i := range r.gpus {
		r.gpus[i].cost = max(r.gpus[i].cost, least)
	}
	duties := map[bool]float64{true: r.share(true), false: r.share(false)}
	for i := range r.gpus {
		g := &r.gpus[i]
		if g.apart {
			continue
		}
		duty := duties[g.cheap()]
		// A cost near the border of two periods must not make the rate swing.
		if longer := r.multiple(g.cost, duty); longer > g.period {
			g.period = longer
		} else if shorter := r.multiple(g.cost*11/10, duty); shorter < g.period {
			g.period = shorter
		}
	}
}

// multiple is the least multiple of the period asked for at which a call of that cost is
// within the duty.
func (r *rateLimiter) multiple(cost time.Duration, duty float64) time.Duration {
	n := math.Ceil(float64(cost)/duty/float64(r.asked) - 1e-9)
	return r.asked * time.Duration(max(n, 1))
}

// share is the duty of each GPU of those whose calls are cheap, or of the others: gpuDuty, or where that is too much for all
// of them, what those that need less leave to the others.
func (r *rateLimiter) share(cheap bool) float64 {
	var needs []float64
	for i := range r.gpus {
		if g := &r.gpus[i]; g.cheap() == cheap && !g.apart {
			needs = append(needs, float64(g.cost)/float64(r.base(g)))
		}
	}
	all := cheapDuty
	if !cheap {
		all = min(max(gpuDuty, manyDuty*float64(len(r.gpus))), allDuty)
	}
	return min(gpuDuty, fairShare(needs, all))
}

// cheap calls hold nobody up.
func (g *gpuRate) cheap() bool { return g.cost <= cheapCall }

// base is the period of a GPU whose driver is quick.
func (r *rateLimiter) base(g *gpuRate) time.Duration {
	if g.quiet {
		return r.asked * max(quietPeriod/r.asked, 1)
	}
	return r.asked
}

// period is how often a GPU is read now.
func (r *rateLimiter) period(dev int) time.Duration {
	g := &r.gpus[dev]
	return max(g.period, r.base(g))
}

// sampling is how the memory is read now. The period is that of the slowest GPU whose memory
// may move, and that answers.
func (r *rateLimiter) sampling() Sampling {
	s := Sampling{PeriodSeconds: r.asked.Seconds(), AskedSeconds: r.asked.Seconds()}
	for i := range r.gpus {
		if r.gpus[i].hung {
			continue
		}
		s.PeriodSeconds = max(s.PeriodSeconds, r.gpus[i].period.Seconds())
		s.DutyPercent += 100 * float64(r.gpus[i].cost) / float64(r.period(i))
	}
	return s
}
