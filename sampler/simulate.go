package sampler

import (
	"sync"
	"time"
)

// ScriptClock is a clock that is set by hand, and may be let go to run on from there.
type ScriptClock struct {
	mu    sync.Mutex
	at    time.Time
	real  time.Time     // of day when it was let go; zero while it stands
	began time.Duration // by the clock that is never set
}

// NewScriptClock makes a clock that stands at that time.
func NewScriptClock(at time.Time) *ScriptClock { return &ScriptClock{at: at} }

// Now is the time of the clock.
func (c *ScriptClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real.IsZero() {
		return c.at
	}
	return c.at.Add(sinceBoot() - c.began)
}

// Wall is the time of day where the clock runs on from then; while it stands, its own.
func (c *ScriptClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real.IsZero() {
		return c.at
	}
	return c.at.Add(time.Now().Round(0).Sub(c.real))
}

// Set makes the clock stand at that time.
func (c *ScriptClock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.real = at, time.Time{}
}

// Run lets the clock go.
func (c *ScriptClock) Run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real.IsZero() {
		c.real, c.began = time.Now().Round(0), sinceBoot()
	}
}

// Simulate runs the connected loop over a stretch of scripted time without waiting: every
// reading, process list and snapshot that Run would have made, on one goroutine. The demo
// begins with it, so that its first screen has a past; tests use it for exact screens.
func (l *Loop) Simulate(clock *ScriptClock, d time.Duration) {
	start := clock.Now()
	l.c.setSampling(newRateLimiter(l.opt.PeakInterval, 0).sampling())
	nextSlow, nextShot := start, start.Truncate(l.opt.Interval).Add(l.opt.Interval)
	for t := start; !t.After(start.Add(d)); t = t.Add(l.opt.PeakInterval) {
		clock.Set(t)
		for _, dev := range l.simulateSweep(t) {
			l.simulateList(dev, t)
		}
		shot := !t.Before(nextShot)
		if (shot || t.Equal(start)) && !t.Before(nextSlow) { // as in Run: before the snapshot is made
			nextSlow = t.Truncate(l.slowPeriod()).Add(l.slowPeriod())
			for dev := range l.c.gpus {
				l.simulateSlow(dev, t)
			}
		}
		if shot {
			nextShot = nextShot.Add(l.opt.Interval)
			l.publish()
		}
	}
}

func (l *Loop) simulateSweep(t time.Time) (stale []int) {
	for dev, n := range l.pick {
		r, err := l.src.Memory(n)
		used, again := l.c.reading(dev, milli(t), r, err)
		if again {
			stale = append(stale, dev)
		}
		l.report(dev, milli(t), used)
	}
	l.c.readUntil(milli(t))
	return stale
}

func (l *Loop) simulateSlow(dev int, t time.Time) {
	m, merr := l.src.Metrics(l.pick[dev])
	procs, perr := l.src.Processes(l.pick[dev])
	l.identify(procs)
	l.c.slow(dev, milli(t), m, merr, procs, perr)
	if rx, tx, err := l.src.Throughput(l.pick[dev]); err == nil {
		l.c.traffic(dev, milli(t), rx, tx)
	}
}

func (l *Loop) simulateList(dev int, t time.Time) {
	procs, err := l.src.Processes(l.pick[dev])
	l.identify(procs)
	l.c.list(dev, milli(t), procs, err)
}
