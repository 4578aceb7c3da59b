package sampler

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// A memory call of asideCall lasts as long as a spike that must not be missed: made by the thread that reads all GPUs, it
// would hide one on each of the others. So a GPU with such calls is set aside: asked on a thread of its own, until it is quick again.
const asideCall = 50 * time.Millisecond

// asidePeriod is how often such a GPU is read where gpuDuty would make that more seldom and allDuty lets it: its memory is
// then never out of date.
const asidePeriod = freshFor - 200*time.Millisecond

// aside are the GPUs of a connection that are set aside.
type aside struct {
	asked   time.Duration // never more often than that
	mu      sync.Mutex
	gpus    map[int]*setAside
	more    chan struct{}
	started bool
}

// setAside is one of them.
type setAside struct {
	cost  time.Duration // of the last call
	next  time.Time
	since time.Time // when a call was overdue, of which it is not known yet what it costs; zero: one was answered since
}

// asideAgain is how soon a GPU is asked again that did not answer. While a call hangs none is made.
const asideAgain = 100 * time.Millisecond

func newAside(asked time.Duration) *aside {
	return &aside{asked: asked, gpus: map[int]*setAside{}, more: make(chan struct{}, 1)}
}

// judge notes what the calls of a sweep cost, and returns the GPUs of which they cost too much for one.
func (r *rateLimiter) judge(s *Sweep, ours []int) (dear map[int]time.Duration) {
	now, calls, quickest := time.Now(), 0, time.Duration(math.MaxInt64)
	for i, dev := range ours {
		if s.Calls[i] > 0 {
			calls, quickest = calls+s.Calls[i], min(quickest, time.Duration(s.Least[i]))
		}
		switch least := time.Duration(s.Least[i]); {
		case s.Calls[i] == 0:
		case least < asideCall:
			r.note(dev, now, least, s.Calls[i])
		case dear == nil:
			dear = map[int]time.Duration{dev: least}
		default:
			dear[dev] = least
		}
	}
	r.round(now, quickest, calls)
	return dear
}

// add sets GPUs aside whose calls cost that much in one sweep. One alone is asked at once: a call that only lost its processor is
// soon known; several have their turns one after the other. first: they are the first ones ever.
func (a *aside) add(costs map[int]time.Duration, now time.Time) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.put(costs, now)
}

// put is add.
func (a *aside) put(costs map[int]time.Duration, now time.Time) (first bool) {
	if len(costs) == 0 {
		return false
	}
	for dev, cost := range costs {
		a.gpus[dev] = &setAside{cost: cost, next: now}
	}
	if n := time.Duration(len(costs)); n > 1 {
		for turn, dev := range slices.Sorted(maps.Keys(costs)) {
			a.gpus[dev].next = now.Add(a.period(a.gpus[dev]) * time.Duration(turn+1) / n)
		}
	}
	first, a.started = !a.started, true
	select {
	case a.more <- struct{}{}:
	default:
	}
	return first
}

// overdue sets a GPU aside whose call has lasted that long and may hang.
func (a *aside) overdue(dev int, lasted time.Duration, now time.Time) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	since := now
	if g := a.gpus[dev]; g != nil && !g.since.IsZero() {
		since = g.since
	}
	first = a.put(map[int]time.Duration{dev: lasted}, now)
	a.gpus[dev].since = since
	return first
}

// waits says whether a GPU was set aside for a call that was overdue, and none was answered since.
func (a *aside) waits(dev int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok := a.gpus[dev]
	return ok && !g.since.IsZero()
}

// rate is what a call for a GPU costs, and how often it is read; false: it is not set aside.
func (a *aside) rate(dev int) (cost, period time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok := a.gpus[dev]
	if !ok {
		return 0, 0, false
	}
	return g.cost, a.period(g), true
}

func (a *aside) period(g *setAside) time.Duration {
	sum := time.Duration(0)
	for _, o := range a.gpus {
		sum += o.cost
	}
	return max(min(time.Duration(float64(g.cost)/gpuDuty), asidePeriod), time.Duration(float64(sum)/allDuty), a.asked)
}

// due is the GPU that is due next; -1: there is none.
func (a *aside) due() (dev int, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	dev = -1
	for d, g := range a.gpus {
		if dev < 0 || g.next.Before(at) || g.next.Equal(at) && d < dev {
			dev, at = d, g.next
		}
	}
	return dev, at
}

// answered notes a call, and says for how long there was no answer where one was overdue. One that was quick gives the GPU back.
func (a *aside) answered(dev int, began time.Time, cost time.Duration) (silent time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.gpus[dev]
	if !g.since.IsZero() {
		silent, g.since = began.Sub(g.since), time.Time{}
	}
	if g.cost = cost; cost < asideCall {
		delete(a.gpus, dev)
		return silent
	}
	g.next = began.Add(a.period(g))
	return silent
}

// later lets a GPU alone for a moment.
func (a *aside) later(dev int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gpus[dev].next = now.Add(asideAgain)
}

// pollAside reads the GPUs that are set aside.
func (p *poller) pollAside(a *aside) func(*worker) {
	return func(w *worker) {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			dev, at := a.due()
			wait := time.Until(at)
			if dev < 0 {
				wait = time.Hour
			}
			timer.Reset(max(wait, 0))
			select {
			case <-w.group.ctx.Done():
				return
			case <-a.more:
				continue
			case <-timer.C:
			}
			if dev < 0 {
				continue
			}
			began := time.Now()
			ok, alive := p.askMemory(w, dev)
			switch {
			case !alive:
				return
			case ok:
				silent := a.answered(dev, began, time.Since(began))
				p.c.counted([]int{dev}, []int{0}, int(silent/p.opt.PeakInterval))
			default:
				a.later(dev, began)
			}
		}
	}
}
