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
func (l *Loop) memoryLane(ready func()) func(*worker) {
	return func(w *worker) {
		if sw, ok := l.sweeper(); ok {
			l.sweeperLane(w, sw, ready)
			return
		}
		runtime.LockOSThread() // never unlocked: the thread ends with the lane
		l.threadLane(w, ready)
	}
}

// threadLane is the memory lane of a source that answers single questions.
func (l *Loop) threadLane(w *worker, ready func()) {
	p := newPace(l.opt.PeakInterval)
	l.c.setLane(p.lane())
	next := time.Now()
	for w.group.ctx.Err() == nil {
		began := time.Now()
		if !l.sweep(w) {
			return
		}
		ready()
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

// sweeper is the source when it can sweep every device.
func (l *Loop) sweeper() (Sweeper, bool) {
	sw, ok := l.src.(Sweeper)
	if !ok {
		return nil, false
	}
	for _, n := range l.pick {
		if !sw.CanSweep(n) {
			return nil, false
		}
	}
	return sw, true
}

// sweeperLane is the memory lane of a source that sweeps by itself. Each call lasts until
// shortly before the next snapshot. Devices that fail are asked one by one between the
// calls, until they answer again.
func (l *Loop) sweeperLane(w *worker, src Sweeper, ready func()) {
	p := newPace(l.opt.PeakInterval)
	l.c.setLane(p.lane())
	s := &Sweep{}
	failing := make([]bool, len(l.pick))
	for first := true; w.group.ctx.Err() == nil; first = false {
		var ours, theirs []int
		for dev, n := range l.pick {
			switch {
			case w.group.isHung(laneMemory, dev):
			case failing[dev]:
				ok, alive := l.askMemory(w, dev)
				if !alive {
					return
				}
				failing[dev] = !ok
			default:
				ours, theirs = append(ours, dev), append(theirs, n)
			}
		}
		s.prepare(theirs)
		s.Period, s.For = p.period, l.untilSnapshot()
		if first {
			s.For = 0 // one reading at once
		}
		l.c.watchAbove(ours, s.Above)
		if !w.enterSweep(s, ours) {
			return
		}
		err := src.Sweep(s)
		if !w.leaveSweep() {
			return
		}
		if err != nil {
			l.trip(err)
			return
		}
		l.takeSweep(s, ours, failing)
		ready()
		if p.noteSweeps(s) {
			l.c.setLane(p.lane())
		}
	}
}

// askMemory asks one device outside the sweep. alive is false when the lane must end.
func (l *Loop) askMemory(w *worker, dev int) (ok, alive bool) {
	now := l.opt.Clock.Now()
	if !l.c.due(dev, now) || !w.enter(dev) {
		return false, true
	}
	r, err := l.src.Memory(l.pick[dev])
	if !w.leave() {
		return false, false
	}
	if errors.Is(err, ErrReconnect) {
		l.trip(err)
		return false, false
	}
	l.offer(dev, l.now(), r, err)
	return err == nil, true
}

// takeSweep passes on what a sweep saw.
func (l *Loop) takeSweep(s *Sweep, ours []int, failing []bool) {
	for _, r := range s.Readings {
		l.offer(ours[r.Device], milli(r.Time), r.Reading, nil)
		s.Counts[r.Device]--
	}
	for i, dev := range ours {
		if s.Failed[i] {
			failing[dev] = true
			s.Counts[i]--
		}
	}
	l.c.counted(ours, s.Counts, s.Missed)
}

// untilSnapshot is how long a sweep may last: to just before the next snapshot, so that
// it holds what was read until then; at most a second, for the lane has more to do.
func (l *Loop) untilSnapshot() time.Duration {
	const margin = 2 * time.Millisecond
	every, now := l.Interval(), time.Now()
	left := now.Truncate(every).Add(every).Sub(now) - margin
	if left <= 0 {
		left += every
	}
	return min(left, time.Second)
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
		l.offer(dev, l.now(), r, err)
	}
	return true
}

// offer passes a reading on and asks for a process list where it no longer fits.
func (l *Loop) offer(dev int, at time.Time, r Reading, err error) {
	stale := l.c.reading(dev, at, r, err)
	l.tell(dev, at)
	if stale {
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

// noteSweeps takes the sweeps of one call at their mean.
func (p *pace) noteSweeps(s *Sweep) (news bool) {
	for range s.Sweeps {
		news = p.note(s.Busy/time.Duration(s.Sweeps)) || news
	}
	return news
}

func (p *pace) lane() Lane {
	return Lane{PeriodSeconds: p.period.Seconds(), AskedSeconds: p.asked.Seconds(),
		DutyPercent: 100 * float64(p.median) / float64(p.period)}
}
