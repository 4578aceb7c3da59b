package sampler

import (
	"context"
	"errors"
	"time"
)

// xidWait is how long one wait for an Xid error lasts.
const xidWait = 10 * time.Second

func (l *Loop) slowPeriod() time.Duration { return max(l.opt.Interval, time.Second) }

// slowLane reads metrics and processes: all devices at once to begin with, then spread
// over the second; and a process list at once when the memory has moved.
func (l *Loop) slowLane(ready func()) func(*worker) {
	return func(w *worker) {
		for dev := range l.c.gpus {
			if !l.askSlow(w, dev) {
				return
			}
		}
		ready()
		plan := newRounds(l.slowPeriod(), len(l.c.gpus), time.Now())
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			dev, at := plan.first()
			if dev < 0 {
				return
			}
			timer.Reset(time.Until(at))
			select {
			case <-w.group.ctx.Done():
				return
			case d := <-l.stale: // a new peak: whose?
				if !l.askProcesses(w, d) {
					return
				}
			case <-timer.C:
				for ; dev >= 0 && !time.Now().Before(at); dev, at = plan.first() {
					began := time.Now()
					if !l.askSlow(w, dev) {
						return
					}
					plan.done(dev, began, time.Now())
				}
			}
		}
	}
}

// askSlow is false when the worker must end.
func (l *Loop) askSlow(w *worker, dev int) bool {
	if !l.c.answers(dev) || !w.enter(dev) {
		return true
	}
	m, merr := l.src.Metrics(l.pick[dev])
	if !w.leave() || !w.enter(dev) {
		return false
	}
	procs, perr := l.src.Processes(l.pick[dev])
	l.identify(procs) // may hang too: /proc waits for the memory map of a process
	if !w.leave() {
		return false
	}
	l.tripOn(merr, perr)
	l.c.slow(dev, l.now(), m, merr, procs, perr)
	return true
}

func (l *Loop) askProcesses(w *worker, dev int) bool {
	if !l.c.answers(dev) || !w.enter(dev) {
		return true
	}
	procs, err := l.src.Processes(l.pick[dev])
	l.identify(procs)
	if !w.leave() {
		return false
	}
	l.tripOn(err)
	l.c.list(dev, l.now(), procs, err)
	return true
}

func (l *Loop) identify(procs []Process) {
	if l.opt.Host != nil {
		l.opt.Host.Identify(procs)
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

func (l *Loop) tripOn(errs ...error) {
	for _, err := range errs {
		if errors.Is(err, ErrReconnect) {
			l.trip(err)
		}
	}
}

// trafficPeriod is the least time between two readings of PCIe throughput.
const trafficPeriod = 2 * time.Second

// trafficLane reads PCIe throughput, which takes some drivers 20 ms a direction.
func (l *Loop) trafficLane(w *worker) {
	now := time.Now()
	plan := newRounds(max(l.slowPeriod(), trafficPeriod), len(l.c.gpus), now)
	for i := range plan.next {
		plan.next[i] = now // the first round at once
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		dev, at := plan.first()
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
		if l.c.answers(dev) && w.enter(dev) {
			rx, tx, err := l.src.Throughput(l.pick[dev])
			if !w.leave() {
				return
			}
			plan.off[dev] = errors.Is(err, ErrNotSupported)
			l.tripOn(err)
			l.c.traffic(dev, rx, tx)
		}
		plan.done(dev, began, time.Now())
	}
}

// xidLane waits for Xid errors. An error other than "never" is asked about again after a
// pause: drivers that answer at once would take a core
// (https://github.com/Project-HAMi/HAMi/issues/2322).
func (l *Loop) xidLane(ctx context.Context) {
	for ctx.Err() == nil {
		dev, xid, err := l.src.WaitXID(xidWait)
		switch {
		case errors.Is(err, ErrNotSupported):
			return
		case err != nil:
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		case dev >= 0 && ctx.Err() == nil: // else it is of a connection that is no more
			l.c.sawXID(l.ours(dev), xid, l.now())
		}
	}
}

// ours is our number of a device of the source, or -1.
func (l *Loop) ours(dev int) int {
	for i, n := range l.pick {
		if n == dev {
			return i
		}
	}
	return -1
}
