package sampler

import (
	"errors"
	"runtime"
	"slices"
	"time"
)

// memoryDuty is the share of one thread that the memory lane may spend in driver calls.
// The calls take the resource manager's lock, which allocations of the jobs need too.
const memoryDuty = 0.02

// memoryLane reads the memory of all devices every period, at absolute times, on a
// thread of its own: a slow call elsewhere, a busy scheduler or a long frame must not
// cost a reading.
func (l *Loop) memoryLane(w *worker) {
	runtime.LockOSThread() // never unlocked: the thread ends with the lane
	p := newPace(l.opt.PeakInterval)
	l.c.setLane(p.lane())
	next := time.Now()
	for w.group.ctx.Err() == nil {
		began := time.Now()
		if !l.sweep(w) {
			return
		}
		now := time.Now()
		if p.note(now.Sub(began)) {
			l.c.setLane(p.lane())
		}
		next = next.Add(p.period)
		if late := now.Sub(next); late > 0 {
			n := late/p.period + 1
			l.c.missed(int(n))
			next = next.Add(n * p.period)
		}
		for w.group.ctx.Err() == nil && time.Now().Before(next) {
			sleep(min(time.Until(next), 200*time.Millisecond))
		}
	}
}

// sweep reads all devices once. It is false when the lane must end.
func (l *Loop) sweep(w *worker) bool {
	for dev := range l.c.gpus {
		if !l.c.due(dev, l.opt.Clock.Now()) || !w.enter(dev) {
			continue
		}
		r, err := l.src.Memory(l.pick[dev])
		if !w.leave() {
			return false
		}
		if errors.Is(err, ErrReconnect) {
			l.trip(err)
			return false
		}
		l.offer(dev, l.opt.Clock.Now(), r, err)
	}
	return true
}

// offer passes a reading on and asks for a process list where it no longer fits.
func (l *Loop) offer(dev int, at time.Time, r Reading, err error) {
	if l.c.reading(dev, at, r, err) {
		select {
		case l.stale <- dev:
		default:
		}
	}
}

// pace keeps the lane's duty under memoryDuty: when the median sweep of a window takes
// more, the rate halves; when it takes less than a quarter, it doubles again.
type pace struct {
	asked, period time.Duration
	sweeps        []time.Duration
	median        time.Duration
}

const paceWindow = 50

func newPace(period time.Duration) *pace {
	return &pace{asked: period, period: period, sweeps: make([]time.Duration, 0, paceWindow)}
}

// note takes the duration of a sweep and is true when there is something new to say.
func (p *pace) note(d time.Duration) bool {
	p.sweeps = append(p.sweeps, d)
	if len(p.sweeps) < paceWindow {
		return false
	}
	slices.Sort(p.sweeps) // the median: a preempted thread is not a slow driver
	p.median = p.sweeps[len(p.sweeps)/2]
	p.sweeps = p.sweeps[:0]
	duty := float64(p.median) / float64(p.period)
	switch {
	case duty > memoryDuty:
		p.period *= 2
	case p.period > p.asked && duty < memoryDuty/4:
		p.period = max(p.period/2, p.asked)
	}
	return true
}

func (p *pace) lane() Lane {
	return Lane{PeriodSeconds: p.period.Seconds(), AskedSeconds: p.asked.Seconds(),
		DutyPercent: 100 * float64(p.median) / float64(p.period)}
}
