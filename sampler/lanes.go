package sampler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How long a driver call may take before its GPU is called "not answering" and the call
// is left to itself. A memory call takes 12 us and a process list 4.5 ms
// (https://github.com/flightlessmango/MangoHud/pull/2104); a GSP time-out takes 45 s
// (https://github.com/NVIDIA/open-gpu-kernel-modules/issues/446).
const (
	memoryLimit = 500 * time.Millisecond
	slowLimit   = 2 * time.Second
	watchPeriod = time.Second
	closeWait   = time.Second // for lanes to finish their call before the source is closed
)

// xidWait is how long one wait for an Xid error lasts.
const xidWait = 10 * time.Second

// Shares of one thread that the dear lanes may spend in driver calls.
const slowDuty = 0.05

// group is the lanes of one connection.
type group struct {
	loop *Loop
	ctx  context.Context
	wg   sync.WaitGroup

	mu      sync.Mutex
	workers []*worker
	hung    map[hangKey]bool
}

type hangKey struct {
	lane string
	dev  int
}

func newGroup(ctx context.Context, l *Loop) *group {
	return &group{loop: l, ctx: ctx, hung: map[hangKey]bool{}}
}

// worker is one incarnation of a lane. When a call hangs, the worker is abandoned in it
// and another one takes over the lane without that device.
type worker struct {
	group *group
	lane  string
	limit time.Duration
	run   func(*worker)
	over  sync.Once // it has ended or was abandoned: nobody waits for it

	mu        sync.Mutex
	dev       int // in a call for this device, or -1
	since     time.Time
	abandoned bool
	stuck     int // the device of the call in which it was abandoned

	sweep *Sweep // in progress
	ours  []int  // our numbers of its devices
	call  int64  // the driver call it was in when watch looked last
}

// lane starts a worker.
func (g *group) lane(name string, limit time.Duration, run func(*worker)) {
	w := &worker{group: g, lane: name, limit: limit, run: run, dev: -1}
	g.mu.Lock()
	g.workers = append(g.workers, w)
	g.mu.Unlock()
	g.wg.Add(1)
	go func() {
		defer w.over.Do(g.wg.Done)
		defer Guard(g.loop.trip)
		w.run(w)
	}()
}

// background starts a goroutine that is not watched and not waited for: the source ends
// its waits when it is closed.
func (g *group) background(run func(context.Context)) {
	go func() {
		defer Guard(g.loop.trip)
		run(g.ctx)
	}()
}

// wait waits for everything but abandoned workers, at most d. Workers that are in a call
// even then are abandoned: what they bring is of a connection that is no more.
func (g *group) wait(d time.Duration) {
	done := make(chan struct{})
	go func() { g.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(d):
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.workers {
		w.mu.Lock()
		w.abandoned = true
		w.mu.Unlock()
		w.over.Do(g.wg.Done)
	}
}

// enter begins a call for a device. It is false when the device hangs in this lane.
func (w *worker) enter(dev int) bool {
	if w.group.isHung(w.lane, dev) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return false
	}
	w.dev, w.since = dev, time.Now()
	return true
}

// leave ends a call. It is false when the worker was abandoned meanwhile: it must then
// touch nothing more and return. The device may be asked again.
func (w *worker) leave() bool {
	w.mu.Lock()
	dev, ok := w.dev, !w.abandoned
	w.dev = -1
	w.mu.Unlock()
	if !ok {
		g := w.group
		g.mu.Lock()
		delete(g.hung, hangKey{w.lane, dev})
		g.mu.Unlock()
	}
	return ok
}

func (g *group) isHung(lane string, dev int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hung[hangKey{lane, dev}]
}

// enterSweep begins a sweep; leaveSweep ends it as leave does.
func (w *worker) enterSweep(s *Sweep, ours []int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweep, w.ours, w.call = s, ours, 0
	return !w.abandoned
}

func (w *worker) leaveSweep() bool {
	w.mu.Lock()
	w.sweep = nil
	w.mu.Unlock()
	return w.leave()
}

// sweepHangs: the sweep is in the same driver call as when watch looked last.
func (w *worker) sweepHangs() bool {
	dev, call := w.sweep.calling()
	same := dev >= 0 && call == w.call
	w.call = call
	if !same {
		return false
	}
	w.dev = w.ours[dev]
	w.abandoned, w.stuck = true, w.dev
	w.sweep.Stop()
	return true
}

// watch abandons workers whose call hangs.
func (g *group) watch(ctx context.Context) {
	tick := time.NewTimer(watchPeriod)
	defer tick.Stop()
	for {
		// On whole periods: awake together with everybody else costs less.
		tick.Reset(time.Until(time.Now().Truncate(watchPeriod).Add(watchPeriod)))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, w := range g.abandon() {
			g.replace(w)
		}
	}
}

// abandon gives up the workers whose call hangs and returns them. Should a call return
// just now, leave waits for our lock, and then finds its device marked.
func (g *group) abandon() (hung []*worker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := g.workers[:0]
	for _, w := range g.workers {
		if w.hangs() {
			g.hung[hangKey{w.lane, w.stuck}] = true
			hung = append(hung, w)
		} else {
			kept = append(kept, w)
		}
	}
	g.workers = kept
	return hung
}

func (w *worker) hangs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sweep != nil {
		return w.sweepHangs()
	}
	if w.dev < 0 || time.Since(w.since) < w.limit {
		return false
	}
	w.abandoned, w.stuck = true, w.dev
	return true
}

// replace lets another worker go on without the device that hangs.
func (g *group) replace(w *worker) {
	g.loop.c.failed(w.stuck, w.lane, fmt.Errorf("%w: a driver call (%s) has not returned", ErrNotAnswering, w.lane))
	g.lane(w.lane, w.limit, w.run)
	w.over.Do(g.wg.Done)
}

// rounds plans who is asked when in a dear lane: every device once a period, one after
// the other shortly before the snapshot of whole periods is made, so that processes and
// memory are of one moment. Drivers hold a lock during a list, hence the spacing between
// devices. When the calls are slow the period grows, so that they take at most slowDuty
// of one thread.
type rounds struct {
	base time.Duration
	next []time.Time
	cost []time.Duration
	off  []bool
}

// slotMost bounds the time between two devices, slotMargin how long before the snapshot
// the last one is asked. Calls that cost less than slotCheap are made in one go: a
// wake-up costs more than they do.
const (
	slotMost   = 10 * time.Millisecond
	slotMargin = 5 * time.Millisecond
	slotCheap  = 250 * time.Microsecond
)

func newRounds(base time.Duration, n int, now time.Time) *rounds {
	r := &rounds{base: base, next: make([]time.Time, n), cost: make([]time.Duration, n), off: make([]bool, n)}
	for i := range r.next {
		r.next[i] = r.slot(i, now)
	}
	return r
}

// slot is the turn of a device before the first whole period for which it is not too late.
func (r *rounds) slot(dev int, now time.Time) time.Time {
	n := time.Duration(len(r.next))
	spacing := min(slotMost, r.base*6/10/n)
	if mean := r.sum() / n; mean < slotCheap {
		spacing = 0
	}
	left := now.Truncate(r.base).Sub(now) + r.base // added to now: setting the clock must not stop the lane
	at := now.Add(left - slotMargin - (n-1-time.Duration(dev))*spacing)
	for !at.After(now) {
		at = at.Add(r.base)
	}
	return at
}

func (r *rounds) sum() (sum time.Duration) {
	for _, c := range r.cost {
		sum += c
	}
	return sum
}

// first is the device that is due next, or -1 when none is left.
func (r *rounds) first() (dev int, at time.Time) {
	dev = -1
	for i, t := range r.next {
		if !r.off[i] && (dev < 0 || t.Before(at)) {
			dev, at = i, t
		}
	}
	return dev, at
}

// done notes what a device has cost and plans its next turn.
func (r *rounds) done(dev int, began, now time.Time) {
	r.cost[dev] = now.Sub(began)
	skipped := time.Duration(float64(r.sum())/slowDuty) / r.base
	r.next[dev] = r.slot(dev, now.Add(skipped*r.base+slotMargin))
}

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
