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

	mu      sync.Mutex
	workers []*worker
	hung    map[hangKey]bool
}

type hangKey struct {
	kind string
	dev  int
}

func newGroup(ctx context.Context, trip func(error), failed func(int, string, error)) *group {
	return &group{ctx: ctx, trip: trip, failed: failed, hung: map[hangKey]bool{}}
}

// worker makes the calls of one kind. When a call hangs, the worker is abandoned in it
// and another one takes over without that device.
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
	stuck     int // the device of the call in which it was abandoned

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

// look finds out which device a sweep is in a call for. That began at some time since watch looked last, and counts from now.
func (w *worker) look(now time.Time) {
	dev, call := w.sweep.calling()
	if dev < 0 {
		w.dev, w.call = -1, 0
		return
	}
	if w.dev = w.ours[dev]; call != w.call {
		w.call, w.since = call, now
	}
}

// watch abandons workers whose call hangs. It looks on whole periods, for awake together with everybody else costs less,
// and beside that when a call that was under way then will have lasted too long.
func (g *group) watch(ctx context.Context) {
	tick := time.NewTimer(watchPeriod)
	defer tick.Stop()
	over := watchPeriod
	for {
		now := time.Now()
		tick.Reset(min(over, now.Truncate(watchPeriod).Add(watchPeriod).Sub(now)))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var hung []*worker
		hung, over = g.abandon(time.Now())
		for _, w := range hung {
			g.replace(w)
		}
	}
}

// abandon gives up the workers whose call hangs and returns them, and how long it is until the next one does, if it does. Should
// a call return just now, leave waits for our lock, and then finds its device marked.
func (g *group) abandon(now time.Time) (hung []*worker, over time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept, over := g.workers[:0], watchPeriod
	for _, w := range g.workers {
		left, calls := w.left(now)
		if calls && left <= 0 {
			g.hung[hangKey{w.kind, w.stuck}] = true
			hung = append(hung, w)
			continue
		}
		if kept = append(kept, w); calls {
			over = min(over, left)
		}
	}
	g.workers = kept
	return hung, over
}

// left is how long the call that a worker is in may still last; where that is no time, the worker is abandoned.
func (w *worker) left(now time.Time) (left time.Duration, calls bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sweep != nil {
		w.look(now)
	}
	if w.dev < 0 {
		return 0, false
	}
	if left = w.limit - now.Sub(w.since); left > 0 {
		return left, true
	}
	w.abandoned, w.stuck = true, w.dev
	if w.sweep != nil {
		w.sweep.Stop()
		w.sweep.calm(w.sweep) // its call may be at work for a minute
	}
	return 0, true
}

// replace lets another worker go on without the device that hangs.
func (g *group) replace(w *worker) {
	g.failed(w.stuck, w.kind, fmt.Errorf("%w: a driver call (%s) has not returned", ErrNotAnswering, w.kind))
	g.start(w.kind, w.limit, w.run)
	w.over.Do(g.wg.Done)
}
