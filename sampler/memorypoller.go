package sampler

import (
	"errors"
	"math"
	"runtime"
	"time"
)

// sleep is how the thread waits for its next reading. Tests put fake time in its place.
var sleep = block

// pollMemory reads the memory of all devices every period, at absolute times, on a
// thread of its own: a slow call elsewhere, a busy scheduler or a long frame must not
// cost a reading.
func (p *poller) pollMemory(ready func()) func(*worker) {
	slow := newAside(p.opt.PeakInterval)
	return func(w *worker) {
		runtime.LockOSThread() // never unlocked: the thread ends with the poller
		if sw, failing := p.sweeper(); sw != nil {
			p.pollSweeper(w, sw, failing, slow, ready)
			return
		}
		p.pollDevices(w, ready)
	}
}

// pollDevices polls a source that answers single questions.
func (p *poller) pollDevices(w *worker, ready func()) {
	punctual()
	r := newRateLimiter(p.opt.PeakInterval, len(p.pick))
	p.c.setSampling(r.sampling())
	next := time.Now()
	began := make([]time.Time, len(p.pick))
	for w.group.ctx.Err() == nil {
		if !p.sweep(w, r, began) {
			return
		}
		p.c.readUntil(p.now())
		ready()
		now := time.Now()
		r.settle()
		p.c.setSampling(r.sampling())
		next = next.Add(r.asked)
		if late := now.Sub(next); late > 0 {
			n := late/r.asked + 1
			p.c.missed(int(n))
			next = next.Add(n * r.asked)
		}
		for w.group.ctx.Err() == nil && time.Now().Before(next) {
			sleep(min(time.Until(next), 200*time.Millisecond))
		}
	}
}

// sweeper is the source when it can sweep every device, and which of them do not answer at present; nil: it cannot.
func (p *poller) sweeper() (sw Sweeper, failing []bool) {
	sw, ok := p.src.(Sweeper)
	if !ok {
		return nil, nil
	}
	failing = make([]bool, len(p.pick))
	for dev, n := range p.pick {
		can := sw.CanSweep(n)
		if can == SweepNever {
			return nil, nil
		}
		failing[dev] = can == SweepLater
	}
	return sw, failing
}

// pollSweeper polls a source that sweeps by itself. Each call lasts until the next snapshot is
// due, or shortly before. Devices that fail are asked one by one between the calls, until they
// answer again; slow ones are set aside, also by who finds one in a call that is overdue: what becomes of that is theirs to see.
func (p *poller) pollSweeper(w *worker, src Sweeper, failing []bool, slow *aside, ready func()) {
	apart := func(first bool) {
		if first {
			w.group.start(callMemory, memoryLimit, p.pollAside(slow))
		}
	}
	s := &Sweep{calm: src.Calm}
	w.relievedBy(func(dev int, took time.Duration) {
		p.c.overdue(dev)
		if src.Rescue(s) {
			s.Missed += int(took / s.Period)
			p.takeSweep(s, w.ours, make([]bool, len(p.pick)))
		}
		apart(slow.overdue(dev, took, time.Now()))
	})
	r := newRateLimiter(p.opt.PeakInterval, len(p.pick))
	p.c.setSampling(r.sampling())
	for first := true; w.group.ctx.Err() == nil; first = false {
		var ours, theirs []int
		for dev, n := range p.pick {
			hung := w.group.isHung(callMemory, dev)
			r.gpus[dev].hung = hung || slow.waits(dev)
			switch cost, period, apart := slow.rate(dev); {
			case r.setAside(dev, cost, period, apart): // even if it hangs
			case hung:
			case failing[dev]:
				ok, alive := p.askMemory(w, dev)
				if !alive {
					return
				}
				failing[dev] = !ok
			default:
				ours, theirs = append(ours, dev), append(theirs, n)
			}
		}
		s.prepare(theirs)
		p.c.seeQuiet(r, time.Now())
		s.pace(r, ours)
		s.For = p.sweepTime(time.Now())
		if first {
			s.For = 0 // one reading at once
		}
		s.Step = p.c.watchAbove(ours, s.Above, s.News, p.now())
		if !w.enterSweep(s, ours) {
			return
		}
		p.sweepEnd.Store(time.Now().Add(s.For).UnixNano())
		err := src.Sweep(s)
		if !w.leaveSweep() {
			return
		}
		if err != nil {
			p.trip(err)
			return
		}
		p.takeSweep(s, ours, failing)
		p.sweepEnd.Store(0)
		select {
		case p.swept <- struct{}{}:
		default:
		}
		p.c.readUntil(p.now())
		ready()
		apart(slow.add(r.judge(s, ours), time.Now()))
		r.settle()
		p.c.setSampling(r.sampling())
	}
}

// askMemory asks one device outside the sweep. alive is false when the worker must end.
func (p *poller) askMemory(w *worker, dev int) (ok, alive bool) {
	now := p.opt.Clock.Now()
	if !p.c.due(dev, now) || !w.enter(dev) {
		return false, true
	}
	reading, err := p.src.Memory(p.pick[dev])
	if !w.leave() {
		return false, false
	}
	if errors.Is(err, ErrReconnect) {
		p.trip(err)
		return false, false
	}
	p.offer(dev, p.now(), reading, err)
	p.c.tellRisen()
	return err == nil, true
}

// takeSweep passes on what a sweep saw.
func (p *poller) takeSweep(s *Sweep, ours []int, failing []bool) {
	timed := p.timed()
	for _, r := range s.Readings {
		if p.c.asking != nil && !r.Before.IsZero() { // only requests are put between two readings
			p.c.stood(ours[r.Device], timed(r.Before))
		}
		p.offer(ours[r.Device], timed(r.Time), r.Reading, nil)
		s.Counts[r.Device]--
	}
	for i, dev := range ours {
		if s.Failed[i] {
			failing[dev] = true
			s.Counts[i]--
		}
	}
	p.c.counted(ours, s.Counts, s.Missed)
	p.c.tellRisen()
}

// untilSnapshot is how long it is until the next snapshot is due, and how long that then waits for what the slow
// pollers ask at that moment.
func (p *poller) untilSnapshot(now time.Time) (left, wait time.Duration) {
	every := p.currentInterval()
	due := now.Truncate(every).Add(every)
	if due.Truncate(p.slowPeriod()).Equal(due) {
		wait = slotMargin
	}
	return due.Sub(now), wait
}

// sweeping says whether a sweep of before that time is still to end, or to tell what it saw. One that should have ended
// long ago is in a call that hangs, and is not waited for.
func (p *poller) sweeping(before time.Time) bool {
	end := p.sweepEnd.Load()
	return end > before.Add(-2*sweepLate).UnixNano() && end <= before.Add(time.Millisecond).UnixNano()
}

// sweepLate is how long a snapshot waits for a sweep whose thread is late, as on a machine without a free processor:
// without what it saw, the snapshot would have no window and the next one two.
const sweepLate = 50 * time.Millisecond

// sweepTime is how long a sweep may last: to slotMargin before the next snapshot is made, so that it holds what was
// read until then, and all are awake together; at most a second, for the poller has more to do. After one that has
// ended a little early, as where the clock is slewed, there is none of a millisecond.
func (p *poller) sweepTime(now time.Time) time.Duration {
	left, wait := p.untilSnapshot(now)
	if left += wait - slotMargin; left <= time.Millisecond {
		left += p.currentInterval()
	}
	return min(left, time.Second)
}

// sweep reads the devices whose turn it is. It is false when the worker must end.
func (p *poller) sweep(w *worker, r *rateLimiter, began []time.Time) bool {
	p.c.seeQuiet(r, time.Now())
	calls, quickest := 0, time.Duration(math.MaxInt64)
	for dev := range p.c.gpus {
		now := time.Now()
		turn := now.Sub(began[dev]) > r.period(dev)-r.asked/2 // a sweep begins a little early or late
		if !turn || !p.c.due(dev, p.opt.Clock.Now()) || !w.enter(dev) {
			continue
		}
		began[dev] = now
		reading, err := p.src.Memory(p.pick[dev])
		if !w.leave() {
			return false
		}
		if errors.Is(err, ErrReconnect) {
			p.trip(err)
			return false
		}
		cost := time.Since(now)
		r.note(dev, now, cost, 1)
		calls, quickest = calls+1, min(quickest, cost)
		p.offer(dev, p.now(), reading, err)
	}
	r.round(time.Now(), quickest, calls)
	p.c.tellRisen()
	return true
}

// offer passes a reading on and asks for a process list where it no longer fits.
func (p *poller) offer(dev int, at time.Time, r Reading, err error) {
	used, stale := p.c.reading(dev, at, r, err)
	p.report(dev, at, used)
	if stale {
		select {
		case p.stale <- dev:
		default:
		}
	}
}
