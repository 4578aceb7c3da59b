package sampler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Loop. Zero values mean the defaults.
type Options struct {
	Interval     time.Duration // between snapshots: 1 s; at least 100 ms
	PeakInterval time.Duration // of the memory lane: 20 ms; 1 ms to 10 s
	Host         Host
	Clock        Clock
	Select       []string // GPUs to watch: index, UUID or PCI bus id; empty: all

	// Readings, if set, gets each reading of the memory lane that differs from the one
	// before: the place of the GPU in the snapshots, the moment and the used memory. The
	// lane calls it: it must not wait for anything.
	Readings func(dev int, at time.Time, used Bytes)
}

// Loop asks a Source and publishes snapshots. One goroutine may call Next.
type Loop struct {
	src   Source
	opt   Options
	c     *collector
	queue *queue
	stale chan int // devices whose process list should be read again
	trips chan error
	paced chan struct{} // the interval has changed
	pick  []int         // device numbers of the source that are watched, by our numbers
	told  []Opt[Bytes]  // what Options.Readings was told last, by device

	mu       sync.Mutex
	interval time.Duration
}

// The lanes. Each has its own goroutine, so that no kind of call waits for another.
const (
	laneMemory  = "memory"
	laneSlow    = "metrics and processes"
	laneTraffic = "PCIe throughput"
)

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// NewLoop makes a loop; nothing is asked before Connect.
func NewLoop(src Source, o Options) *Loop {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.PeakInterval == 0 {
		o.PeakInterval = 20 * time.Millisecond
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return &Loop{src: src, opt: o, c: newCollector(), stale: make(chan int, 256),
		trips: make(chan error, 1), paced: make(chan struct{}, 1), queue: newQueue(), interval: o.Interval}
}

// Connect opens the source and chooses the GPUs. Its errors wrap those of errors.go, or
// ErrSelect when a chosen GPU does not exist.
func (l *Loop) Connect(ctx context.Context) error {
	inv, err := l.src.Open(ctx)
	if err != nil {
		return err
	}
	pick, err := choose(inv.Devices, l.opt.Select)
	if err != nil {
		l.src.Close()
		return err
	}
	l.pick = pick
	chosen := inv
	chosen.Devices = make([]Device, len(pick))
	for i, n := range pick {
		chosen.Devices[i] = inv.Devices[n]
	}
	l.c.adopt(chosen)
	return nil
}

// Next waits for the next snapshot and returns all that came since, oldest first. It
// returns the context's error when that ends, and the reason when the loop has ended.
func (l *Loop) Next(ctx context.Context) ([]*Snapshot, error) { return l.queue.next(ctx) }

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
	case l.paced <- struct{}{}:
	default:
	}
}

// Interval is the time between two snapshots.
func (l *Loop) Interval() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.interval
}

const minInterval = 100 * time.Millisecond

// ResetPeaks lets all peaks and the least free memory begin again.
func (l *Loop) ResetPeaks() {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.c.marks.Reset()
	for _, d := range l.c.gpus {
		d.win = Window{} // what was seen before belongs to the old peaks
	}
}

// Run measures until the context ends or Connect was never called. When the driver goes
// away it reconnects for ever, 1 to 30 s apart, and says so in the snapshots.
func (l *Loop) Run(ctx context.Context) error {
	err := l.run(ctx)
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

// connected runs the lanes of one connection until the context or the connection ends.
func (l *Loop) connected(ctx context.Context) error {
	lanes, cancel := context.WithCancel(ctx)
	g := newGroup(lanes, l)
	ready := make(chan struct{})
	memory, slow := both(func() { close(ready) })
	g.lane(laneMemory, memoryLimit, l.memoryLane(memory))
	g.lane(laneSlow, slowLimit, l.slowLane(slow))
	g.lane(laneTraffic, slowLimit, l.trafficLane)
	g.background(l.xidLane)
	g.background(g.watch)
	err := l.publishing(lanes, ready)
	cancel()
	g.wait(closeWait)
	l.src.Close()
	return l.leftovers(err)
}

// leftovers forgets what the lanes of the last connection have still asked for; a panic
// among it counts more than why the connection ended.
func (l *Loop) leftovers(reason error) error {
	for {
		select {
		case <-l.stale:
		case err := <-l.trips:
			if !errors.Is(err, ErrReconnect) {
				reason = err
			}
		default:
			return reason
		}
	}
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
// as there are figures.
func (l *Loop) publishing(ctx context.Context, ready <-chan struct{}) error {
	first := time.NewTimer(firstWait)
	defer first.Stop()
	select {
	case <-ready:
	case <-first.C:
	case err := <-l.trips:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	l.publish()
	for {
		now := time.Now()
		every := l.Interval()
		next := time.NewTimer(now.Truncate(every).Add(every).Sub(now))
		select {
		case <-next.C:
			l.publish()
		case <-l.paced: // another interval
			next.Stop()
		case err := <-l.trips:
			next.Stop()
			return err
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		}
	}
}

// firstWait bounds how long the first picture waits for the first round of the lanes.
const firstWait = 25 * time.Millisecond

func (l *Loop) publish() {
	var host string
	var hm Opt[HostMemory]
	if l.opt.Host != nil {
		host, hm = Clean(l.opt.Host.Name()), l.opt.Host.Memory()
	}
	l.queue.put(l.c.snapshot(l.now(), host, hm))
}

// reconnect opens the source again, with growing pauses; snapshots go on and say why
// they are empty.
func (l *Loop) reconnect(ctx context.Context, reason error) error {
	pause := time.Second
	for {
		l.c.mu.Lock()
		l.c.lost = reason
		l.c.mu.Unlock()
		again := make(chan error, 1)
		go func() {
			defer Guard(func(err error) { again <- err })
			select {
			case <-ctx.Done():
				again <- ctx.Err()
			case <-time.After(pause):
				again <- l.Connect(ctx)
			}
		}()
		err := l.publishUntil(ctx, again)
		if err == nil || ctx.Err() != nil {
			return err
		}
		reason = fmt.Errorf("%w: %w", ErrReconnect, err)
		pause = min(2*pause, 30*time.Second)
	}
}

// publishUntil makes snapshots, which say what is lost, until again has an answer: a
// driver that comes back may take long to open.
func (l *Loop) publishUntil(ctx context.Context, again <-chan error) error {
	for {
		l.publish()
		select {
		case err := <-again:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(l.Interval()):
		}
	}
}

// trip ends the present connection.
func (l *Loop) trip(err error) {
	select {
	case l.trips <- err:
	default:
	}
}

// Guard turns a panic of a goroutine into a call of report, so that the screen can be
// restored before the program ends. Use: defer Guard(report).
func Guard(report func(error)) {
	if r := recover(); r != nil {
		report(fmt.Errorf("internal error: %v\n%s", r, debug.Stack()))
	}
}
