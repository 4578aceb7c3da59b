package sampler

import (
	"context"
	"errors"
	"time"
)

// xidWait is how long one wait for an Xid error lasts.
const xidWait = 10 * time.Second

func (p *poller) slowPeriod() time.Duration { return max(p.opt.Interval, time.Second) }

// pollSlow reads figures and processes: all devices at once to begin with, then spread
// over the second, GPU by GPU, its figures and its list each as often as its own calls allow; and a process list at once when the
// memory has moved. The plan is of all workers that do so, one after the other.
func (p *poller) pollSlow(ready func()) func(*worker) {
	n := len(p.c.gpus)
	plan := newSchedule(p.slowPeriod(), 2*n, n, time.Now())
	return func(w *worker) {
		w.relievedBy(func(dev int, _ time.Duration) { p.c.slowOverdue(dev) })
		ask := func(turn int) (goesOn bool) {
			if turn < n {
				return p.askFigures(w, turn)
			}
			return p.askList(w, turn-n, p.c.listInTurn)
		}
		if !plan.begun() {
			costs := make([]time.Duration, 2*n)
			for i := range costs {
				turn := i/2 + i%2*n // device by device, so that some are known early
				began := time.Now()
				if !ask(turn) {
					return
				}
				costs[turn] = time.Since(began)
			}
			plan.begin(costs, time.Now())
		}
		ready()
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			turn, at := plan.first()
			if turn < 0 {
				return
			}
			timer.Reset(time.Until(at))
			select {
			case <-w.group.ctx.Done():
				return
			case d := <-p.stale: // a new peak: whose?
				began := time.Now()
				if !p.askList(w, d, p.c.list) {
					return
				}
				p.c.spent(time.Since(began))
			case <-timer.C:
				for ; turn >= 0 && !time.Now().Before(at); turn, at = plan.first() {
					began := time.Now()
					goesOn := ask(turn)
					if !w.gaveUp() {
						plan.done(turn, began, time.Now())
					}
					if !goesOn {
						return
					}
				}
				if time.Until(at) > slotMost {
					p.roundOver()
				}
			}
		}
	}
}

// roundOver says that all devices were asked.
func (p *poller) roundOver() {
	select {
	case p.rounds <- struct{}{}:
	default:
	}
}

// askFigures is false when the worker must end.
func (p *poller) askFigures(w *worker, dev int) bool {
	if !p.c.answers(dev) || !w.enter(dev) {
		return w.goesOn()
	}
	began := time.Now()
	m, err := p.src.Metrics(p.pick[dev])
	if !w.leave() {
		return false
	}
	p.tripOn(err)
	p.c.figuresTook(dev, time.Since(began), p.slowPeriod())
	p.c.figures(dev, p.now(), m, err)
	return w.goesOn()
}

// askList passes a process list on. It is false when the worker must end.
func (p *poller) askList(w *worker, dev int, pass func(dev int, at time.Time, procs []Process, err error)) bool {
	if !p.c.answers(dev) || !w.enter(dev) {
		return w.goesOn()
	}
	began := time.Now()
	procs, err := p.src.Processes(p.pick[dev])
	at := p.now()     // what it says is of then
	p.identify(procs) // may hang too: /proc waits for the memory map of a process
	if !w.leave() {
		return false
	}
	p.tripOn(err)
	p.c.listTook(dev, time.Since(began))
	pass(dev, at, procs, err)
	return w.goesOn()
}

func (p *poller) identify(procs []Process) {
	if p.opt.Host != nil {
		p.opt.Host.Identify(procs)
	}
	for i := range procs {
		p := &procs[i]
		p.User, p.Name, p.Command = Clean(p.User), Clean(p.Name), Clean(p.Command)
		if c, ok := p.Container.Value(); ok {
			p.Container = Some(Clean(c))
		}
		p.Environment = cleanAll(p.Environment)
	}
}

// cleanAll cleans the values; the map may belong to others, so a change makes a new one.
func cleanAll(env map[string]string) map[string]string {
	for k, v := range env {
		if Clean(v) != v || Clean(k) != k {
			fresh := make(map[string]string, len(env))
			for k, v := range env {
				fresh[Clean(k)] = Clean(v)
			}
			return fresh
		}
	}
	return env
}

func (p *poller) tripOn(errs ...error) {
	for _, err := range errs {
		if errors.Is(err, ErrReconnect) {
			p.trip(err)
		}
	}
}

// trafficPeriod is the least time between two readings of PCIe throughput.
const trafficPeriod = 2 * time.Second

// pollTraffic reads PCIe throughput, which takes some drivers 20 ms a direction.
func (p *poller) pollTraffic(ready func()) func(*worker) {
	return func(w *worker) { p.readTraffic(w, ready) }
}

// readTraffic does it; ready is called when every device was asked.
func (p *poller) readTraffic(w *worker, ready func()) {
	now := time.Now()
	plan := newSchedule(max(p.slowPeriod(), trafficPeriod), len(p.c.gpus), len(p.c.gpus), now)
	for i := range plan.next {
		plan.next[i] = now // the first round at once
	}
	worked := make([]bool, len(plan.next))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		dev, at := plan.first()
		if dev < 0 || at.After(now) {
			ready()
		}
		if dev < 0 {
			return
		}
		timer.Reset(time.Until(at))
		select {
		case <-w.group.ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		if p.c.answers(dev) && w.enter(dev) {
			rx, tx, err := p.src.Throughput(p.pick[dev])
			if !w.leave() {
				return
			}
			worked[dev] = worked[dev] || err == nil
			plan.off[dev] = errors.Is(err, ErrNotSupported) && !worked[dev]
			p.tripOn(err)
			p.c.traffic(dev, p.now(), rx, tx)
		}
		plan.done(dev, began, time.Now())
	}
}

// pollXID waits for Xid errors. An error other than "never" is asked about again after a
// pause: drivers that answer at once would take a core
// (https://github.com/Project-HAMi/HAMi/issues/2322).
func (p *poller) pollXID(ctx context.Context) {
	for ctx.Err() == nil {
		dev, xid, err := p.src.WaitXID(xidWait)
		switch {
		case errors.Is(err, ErrNotSupported):
			return
		case err != nil:
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		case dev >= 0 && ctx.Err() == nil: // else it is of a connection that is no more
			p.c.sawXID(p.ours(dev), xid, p.now())
		}
	}
}

// ours is our number of a device of the source, or -1.
func (p *poller) ours(dev int) int {
	for i, n := range p.pick {
		if n == dev {
			return i
		}
	}
	return -1
}
