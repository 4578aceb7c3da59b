package sampler

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Loop asks a Source and publishes snapshots. One goroutine may call Next.
type Loop struct {
	poller
	queue           *queue
	ahead           time.Duration // of the time of day, as published last
	intervalChanged chan struct{}
	shown           time.Time     // when there was an early picture last
	published       time.Time     // when there was a snapshot last
	unlike          bool          // see Unlike
	told            chan struct{} // closed when there will be no further snapshot
	tellOnce        func()
}

// NewLoop makes a loop; nothing is asked before Connect.
func NewLoop(src Source, o Options) *Loop {
	l := &Loop{poller: newPoller(src, o.defaults()), queue: newQueue(), intervalChanged: make(chan struct{}, 1), told: make(chan struct{})}
	l.tellOnce = sync.OnceFunc(func() { close(l.told) })
	return l
}

// Connect opens the source and chooses the GPUs. Its errors wrap those of errors.go, or
// ErrSelect when a chosen GPU does not exist.
func (l *Loop) Connect(ctx context.Context) error {
	inv, err := l.src.Open(ctx)
	if err != nil {
		return err
	}
	pick, err := Select(inv.Devices, l.wanted(inv.Devices))
	if err != nil {
		l.src.Close()
		return err
	}
	l.pick, l.unlike = pick, unlike(inv.Devices)
	chosen := inv
	chosen.Devices = make([]Device, len(pick))
	for i, n := range pick {
		chosen.Devices[i] = inv.Devices[n]
	}
	if l.opt.Asking != nil {
		l.opt.Asking.Machine(inv.Devices)
	}
	l.c.adopt(chosen)
	l.c.openedAt(l.now())
	return nil
}

// wanted are the selectors that count.
func (l *Loop) wanted(devs []Device) []string {
	if l.opt.Missing == nil {
		return l.opt.Select
	}
	return slices.DeleteFunc(slices.Clone(l.opt.Select), func(one string) bool {
		_, err := Select(devs, []string{one})
		if err != nil {
			l.opt.Missing(err)
		}
		return err != nil
	})
}

// Unlike says whether the machine has GPUs of several models, chosen or not: CUDA may then number them
// otherwise than the driver does. It is known once there is a snapshot.
func (l *Loop) Unlike() bool { return l.unlike }

func unlike(devs []Device) bool {
	model := ""
	for i := range devs {
		if devs[i].MIG != nil {
			continue // its GPU is listed, too
		}
		if model != "" && devs[i].Name != model {
			return true
		}
		model = devs[i].Name
	}
	return false
}

// Next waits for the next snapshot and returns all that came since, oldest first. It
// returns the context's error when that ends, and the reason when the loop has ended.
func (l *Loop) Next(ctx context.Context) ([]*Snapshot, error) { return l.queue.next(ctx) }

// restWait is how long Rest waits for a driver's calls to be passed on, and a snapshot to be made.
const restWait = 100 * time.Millisecond

// Rest is what there is to tell after the context of Run has ended, for who stops right after what is watched: snapshots that nobody
// has taken, and a last one of what processes asked the driver for since.
func (l *Loop) Rest() []*Snapshot {
	select {
	case <-l.told:
	case <-time.After(restWait):
	}
	items, _ := l.queue.take()
	return items
}

// tellRest makes the last snapshot, if processes have asked for anything since the one before.
func (l *Loop) tellRest() {
	if l.opt.Asking != nil && !l.published.IsZero() && l.opt.Asking.Ends() {
		l.publish()
	}
	l.tellOnce()
}

// Fail ends the loop with an error, for whoever runs it could not connect.
func (l *Loop) Fail(err error) { l.queue.end(err) }

// Wait waits until Run has ended and the source is closed, at most d.
func (l *Loop) Wait(d time.Duration) {
	select {
	case <-l.queue.done:
	case <-time.After(d):
	}
}

// SetInterval changes the time between snapshots from the next one on.
func (l *Loop) SetInterval(d time.Duration) {
	l.mu.Lock()
	l.interval = max(d, minInterval)
	l.mu.Unlock()
	select {
	case l.intervalChanged <- struct{}{}:
	default:
	}
}

// Interval is the time between two snapshots.
func (l *Loop) Interval() time.Duration { return l.currentInterval() }

// ResetPeaks lets all peaks and the least free memory begin again.
func (l *Loop) ResetPeaks() {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.c.marks.Reset()
	for _, d := range l.c.gpus {
		d.win = Window{} // what was seen before belongs to the old peaks
		d.height.forget(d.mem.Used.Or(0))
	}
}

// Run measures until the context ends or Connect was never called. When the driver goes
// away it reconnects for ever, at once and then 1 to 30 s apart, and says so in the snapshots.
func (l *Loop) Run(ctx context.Context) error {
	err := l.run(ctx)
	l.tellOnce()
	l.queue.end(err)
	return err
}

func (l *Loop) run(ctx context.Context) (err error) {
	for {
		reason := l.connected(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(reason, ErrReconnect) {
			return reason
		}
		if err := l.reconnect(ctx, reason); err != nil {
			return nil // only the context ends it
		}
	}
}

// connected runs the pollers of one connection until the context or the connection ends.
func (l *Loop) connected(ctx context.Context) error {
	polling, cancel := context.WithCancel(ctx)
	g := newGroup(polling, l.trip, l.c.failed)
	ready, rates := make(chan struct{}), make(chan struct{})
	memory, slow := both(func() { close(ready) })
	g.start(callMemory, memoryLimit, l.pollMemory(memory))
	g.start(callSlow, slowLimit, l.pollSlow(slow))
	g.start(callTraffic, slowLimit, l.pollTraffic(sync.OnceFunc(func() { close(rates) })))
	g.background(l.pollXID)
	g.background(g.watch)
	if sw, ok := l.src.(Sweeper); ok {
		g.background(func(context.Context) { g.awaitOverdue(sw) })
	}
	err := l.publishing(polling, ready, rates)
	if ctx.Err() != nil {
		l.tellRest()
	}
	cancel()
	g.wait(closeWait)
	l.src.Close()
	return l.leftovers(err)
}

// both calls then when the two functions it returns have been called, each at least once.
func both(then func()) (a, b func()) {
	var left atomic.Int32
	left.Store(2)
	one := func() func() {
		return sync.OnceFunc(func() {
			if left.Add(-1) == 0 {
				then()
			}
		})
	}
	return one(), one()
}

// publishing makes a snapshot each interval, on whole multiples of it; the first as soon
// as there are figures, or when they are late once without them and once as soon as there are.
func (l *Loop) publishing(ctx context.Context, ready, rates <-chan struct{}) error {
	err := error(nil)
	switch d := l.opt.Settle; {
	case l.opt.Whole > 0:
		err = l.awaitWhole(ctx, l.opt.Whole)
	case d == 0:
		err = l.await(ctx, firstWait, ready)
	default:
		settled := make(chan struct{})
		defer time.AfterFunc(d, func() { close(settled) }).Stop()
		err = l.await(ctx, max(d, settleMost), ready, rates, settled)
		if err == nil && (pending(ready) != nil || l.c.undecided()) { // one snapshot is all there is: it waits for what hangs to be known
			err = l.awaitWhole(ctx, hangMost)
		}
	}
	if err != nil {
		return err
	}
	late := pending(ready)
	l.publish()
	for {
		if err := l.between(ctx, late); err != nil {
			return err
		}
		late = pending(ready)
	}
}

// pending is a channel that is not closed yet; nil: it is.
func pending(c <-chan struct{}) <-chan struct{} {
	select {
	case <-c:
		return nil
	default:
		return c
	}
}

// await waits for all of these, or so long.
func (l *Loop) await(ctx context.Context, most time.Duration, all ...<-chan struct{}) error {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for _, c := range all {
		select {
		case <-c:
		case <-limit.C:
			return nil
		case err := <-l.trips:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// How long the first snapshot waits for the first round of the pollers: firstWait, and
// settleMost when it is to have all figures. PCIe traffic takes some drivers 40 ms a GPU. Where a driver is later than that,
// hangMost more: a slow call that hangs is given up after slowLimit and watchPeriod, and the others then have their turn.
const (
	firstWait  = 25 * time.Millisecond
	settleMost = 450 * time.Millisecond
	hangMost   = slowLimit + watchPeriod + time.Second
)

func (l *Loop) publish() {
	var host string
	var hm Opt[HostMemory]
	if l.opt.Host != nil {
		host, hm = Clean(l.opt.Host.Name()), l.opt.Host.Memory()
	}
	s := l.c.snapshot(l.now(), host, hm)
	l.ahead = follow(l.opt.Clock, l.ahead)
	l.published = time.Now()
	l.queue.put(s.WithAhead(l.ahead))
}

const (
	earlyEvery = 100 * time.Millisecond // early pictures come at most that often
	earlyList  = 30 * time.Millisecond  // how long one waits for the process list that its peak asked for

	// A refused request brings the next snapshot forward, by then with what came of it: an allocator that frees its
	// cache and asks again does so within milliseconds.
	refusedWait  = 50 * time.Millisecond
	refusedEvery = 250 * time.Millisecond // at most that often
)

// afterRefusal is when the snapshot that tells of a refusal is due.
func (l *Loop) afterRefusal() <-chan time.Time {
	return time.After(max(refusedWait, refusedEvery-time.Since(l.published)))
}

// NextOrPeak is Next, but also returns when the memory of a GPU has reached a new height,
// with an early picture of that; nil: there is none. It is newer than the snapshots.
func (l *Loop) NextOrPeak(ctx context.Context) (snaps []*Snapshot, early *Snapshot, err error) {
	l.c.wantPeaks()
	return l.queue.nextOrPeak(ctx)
}

// showPeak publishes an early picture, if there is news for one.
func (l *Loop) showPeak() {
	if s := l.c.picture(); s != nil {
		l.shown = time.Now()
		l.queue.putEarly(s.WithAhead(l.ahead))
	}
}

// between waits until the next snapshot is due, and makes early pictures meanwhile. It also
// returns when the snapshot is due at another time. figures, unless nil, is closed when there are the first ones, which are
// shown at once.
func (l *Loop) between(ctx context.Context, figures <-chan struct{}) error {
	now := time.Now()
	left, wait := l.untilSnapshot(now)
	due := now.Add(left) // setting the clock must not stop the loop
	next := time.NewTimer(left + wait)
	defer next.Stop()
	early := time.NewTimer(time.Hour)
	defer early.Stop()
	var since time.Time // the news that wait
	asked := false      // the slow poller has asked what is due, too, or is no longer waited for
	late := false       // only the sweep is
	var refused, tensor <-chan struct{}
	var refusal <-chan time.Time // the snapshot that tells of one
	aging := l.aging(due)
	if l.opt.Asking != nil {
		refused = l.opt.Asking.Refused()
	}
	if l.opt.Inside != nil {
		tensor = l.opt.Inside.Refused()
	}
	for {
		select {
		case <-next.C:
			if !late && l.sweeping(due) {
				asked, late = true, true
				next.Reset(sweepLate)
				continue
			}
			l.publish()
			return nil
		case <-l.rounds:
			asked = wait > 0 && !time.Now().Before(due)
			if asked && !l.sweeping(due) {
				l.publish()
				return nil
			}
		case <-l.swept:
			if asked && !l.sweeping(due) {
				l.publish()
				return nil
			}
		case <-refusal:
			l.publish()
			return nil
		case <-figures:
			l.publish()
			return nil
		case <-l.c.peaked:
			now := time.Now()
			if since.IsZero() {
				since = now
			}
			pause := earlyEvery - now.Sub(l.shown)
			if l.c.listing() {
				pause = max(pause, earlyList-now.Sub(since))
			}
			if pause > 0 {
				early.Reset(pause)
			} else { // a timer would wake the runtime for nothing
				early.Stop()
				since = time.Time{}
				l.showPeak()
			}
		case <-refused:
			refused, refusal = nil, l.afterRefusal()
		case <-tensor:
			tensor, refusal = nil, l.afterRefusal()
		case <-early.C:
			since = time.Time{}
			l.showPeak()
		case <-aging:
			l.showAged()
			aging = l.aging(due)
		case <-l.intervalChanged:
			return nil
		case err := <-l.trips:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
