package sampler

import (
	"context"
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
	closeWait   = time.Second // for workers to finish their call before the source is closed
)

// slowOverdue is how long the slow calls of one GPU may last before another worker goes on for the others. What they bring counts
// all the same, for some drivers always take that long.
const slowOverdue = 300 * time.Millisecond

// The kinds of driver calls, as an error names them. Each has its own goroutine, so that
// no kind waits for another.
const (
	callMemory  = "memory"
	callSlow    = "metrics and processes"
	callTraffic = "PCIe throughput"
)

// group is the workers of one connection.
type group struct {
	ctx    context.Context
	trip   func(error) // ends the connection
	failed func(dev int, kind string, err error)
	wg     sync.WaitGroup

	overdue chan struct{} // a call of a sweep is

	mu      sync.Mutex
	workers []*worker
	hung    map[hangKey]bool
}

type hangKey struct {
	kind string
	dev  int
}

func newGroup(ctx context.Context, trip func(error), failed func(int, string, error)) *group {
	return &group{ctx: ctx, trip: trip, failed: failed, overdue: make(chan struct{}, 1), hung: map[hangKey]bool{}}
}

// worker makes the calls of one kind. When a call hangs, the worker is abandoned in it
// and another one takes over without that device. A worker that sweeps is relieved sooner, when it is not yet known whether the
// call hangs.
type worker struct {
	group *group
	kind  string
	limit time.Duration
	run   func(*worker)
	over  sync.Once // it has ended or was abandoned: nobody waits for it

	mu        sync.Mutex
	dev       int // in a call for this device, or -1
	since     time.Time
	abandoned bool
	relieved  bool                              // another one goes on, before it was known whether its call hangs
	stuck     int                               // the device of the call in which it was abandoned
	relieve   func(dev int, took time.Duration) // takes that device, if it was in a sweep, and how long the call has lasted; nil: nobody does

	sweep *Sweep // in progress
	ours  []int  // our numbers of its devices
	call  int64  // the driver call it was in when watch looked last
}

// start starts a worker.
func (g *group) start(kind string, limit time.Duration, run func(*worker)) {
	w := &worker{group: g, kind: kind, limit: limit, run: run, dev: -1}
	g.mu.Lock()
	g.workers = append(g.workers, w)
	g.mu.Unlock()
	g.wg.Add(1)
	go func() {
		defer w.over.Do(g.wg.Done)
		defer Guard(g.trip)
		w.run(w)
	}()
}

// background starts a goroutine that is not watched and not waited for: the source ends
// its waits when it is closed.
func (g *group) background(run func(context.Context)) {
	go func() {
		defer Guard(g.trip)
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

// enter begins a call for a device. It is false when the device hangs in a call of this kind.
func (w *worker) enter(dev int) bool {
	if w.group.isHung(w.kind, dev) {
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

// goesOn says whether the worker makes the calls of other devices, too: not when another one does so now.
func (w *worker) goesOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.abandoned && !w.relieved
}

// gaveUp says whether the worker was abandoned.
func (w *worker) gaveUp() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.abandoned
}

// leave ends a call. It is false when the worker was abandoned meanwhile: it must then
// touch nothing more and return. The device may be asked again.
func (w *worker) leave() bool {
	w.mu.Lock()
	dev, ok, away := w.dev, !w.abandoned, w.abandoned || w.relieved
	w.dev = -1
	w.mu.Unlock()
	if away {
		g := w.group
		g.mu.Lock()
		delete(g.hung, hangKey{w.kind, dev})
		g.mu.Unlock()
	}
	return ok
}

func (g *group) isHung(kind string, dev int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hung[hangKey{kind, dev}]
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

// relievedBy names who takes the device whose call is overdue in a sweep.
func (w *worker) relievedBy(who func(dev int, took time.Duration)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.relieve = who
}

// look finds out which device a sweep is in a call for. That began at some time since watch looked last, and counts from now,
// less what it has lasted for certain.
func (w *worker) look(now time.Time, lasted time.Duration) {
	dev, call := w.sweep.calling()
	if dev < 0 {
		w.dev, w.call = -1, 0
		return
	}
	if w.dev = w.ours[dev]; call != w.call {
		w.call, w.since = call, now.Add(-lasted)
	}
}

// awaitOverdue passes on that a call of a sweep is overdue.
func (g *group) awaitOverdue(sw Sweeper) {
	for g.ctx.Err() == nil && sw.Overdue() {
		select {
		case g.overdue <- struct{}{}:
		default:
		}
	}
}

// watch abandons workers whose call hangs, and relieves those in whose sweep one is overdue. It looks on whole periods, for awake
// together with everybody else costs less, and beside that when a call that was under way then will have lasted too long.
func (g *group) watch(ctx context.Context) {
	tick := time.NewTimer(watchPeriod)
	defer tick.Stop()
	over := watchPeriod
	for {
		now := time.Now()
		tick.Reset(min(over, now.Truncate(watchPeriod).Add(watchPeriod).Sub(now)))
		lasted := time.Duration(0)
		select {
		case <-ctx.Done():
			return
		case <-g.overdue:
			lasted = CallOverdue
		case <-tick.C:
		}
		now = time.Now()
		var workers []*worker
		var fates []fate
		workers, fates, over = g.judge(now, lasted)
		for i, w := range workers {
			g.replace(w, fates[i], now)
		}
	}
}

// fate is what becomes of a worker.
type fate int

const (
	goesOn   fate = iota
	relieved      // its call is overdue: another one takes over
	hangs         // its call is given up
	gaveUp        // it was relieved, and its call has returned
)

// replace lets another worker go on without the device whose call is overdue, and says of it that it hangs where that is known.
func (g *group) replace(w *worker, f fate, now time.Time) {
	if f == hangs {
		g.failed(w.stuck, w.kind, fmt.Errorf("%w: a driver call (%s) has not returned", ErrNotAnswering, w.kind))
		defer w.over.Do(g.wg.Done)
	} else if f == relieved || w.kind == callMemory { // what the slow calls brought is told
		w.relieve(w.stuck, now.Sub(w.since))
	}
	if f == relieved || !w.relieved {
		g.start(w.kind, w.limit, w.run)
	}
}

// judge gives up the workers whose call has lasted too long, and returns those for which something is to be done. Should
// a call return just now, leave waits for our lock, and then finds its device marked.
func (g *group) judge(now time.Time, lasted time.Duration) (workers []*worker, fates []fate, over time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept, over := g.workers[:0], watchPeriod
	for _, w := range g.workers {
		f, left := w.fate(now, lasted)
		if f == relieved || f == hangs {
			g.hung[hangKey{w.kind, w.stuck}] = true
			workers, fates = append(workers, w), append(fates, f)
		}
		if f == goesOn || f == relieved {
			kept, over = append(kept, w), min(over, left)
		}
	}
	g.workers = kept
	return workers, fates, over
}

// fate is what becomes of the worker now, and how long it is until that may be another, if it is in a call.
func (w *worker) fate(now time.Time, lasted time.Duration) (f fate, left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sweep != nil && !w.abandoned {
		w.look(now, lasted)
	}
	took := now.Sub(w.since)
	switch sweeps := w.sweep != nil && w.relieve != nil; {
	case w.dev < 0 && (w.abandoned || w.relieved):
		return gaveUp, 0
	case w.dev < 0:
		return goesOn, watchPeriod
	case took >= w.limit:
		w.abandon()
		return hangs, 0
	case w.kind == callSlow && w.relieve != nil && !w.relieved && !w.abandoned:
		if took < slowOverdue { // the next whole period is soon enough
			return goesOn, w.limit - took
		}
		w.relieved, w.stuck = true, w.dev
		return relieved, w.limit - took
	case w.abandoned || !sweeps:
		return goesOn, w.limit - took
	case took < CallOverdue:
		return goesOn, CallOverdue - took
	}
	w.abandon()
	w.relieved = true
	return relieved, w.limit - took
}

// abandon leaves the worker to the call it is in.
func (w *worker) abandon() {
	w.abandoned, w.stuck = true, w.dev
	if w.sweep != nil {
		w.sweep.Stop()
		w.sweep.calm(w.sweep) // its call may be at work for a minute
	}
}
