package sampler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is a source whose answers are written down by the test. What is not, is fine.
type fake struct {
	open       []Inventory // one per call of Open; the last is repeated
	memory     func(dev int) (Reading, error)
	metrics    func(dev int) (Metrics, error)
	throughput func(dev int) (rx, tx Opt[uint64], err error)
	processes  func(dev int) ([]Process, error)
	xid        func() (int, uint64, error)
	away       time.Duration // how long the second call of Open takes
	sweeps     bool          // it is a Sweeper
	began      atomic.Int64  // of the call of a sweep that is under way; 0: none is

	mu     sync.Mutex
	closed chan struct{}
	opens  int
	calls  map[string]int
}

// devices is an inventory of GPUs with these UUIDs.
func devices(uuids ...string) Inventory {
	inv := Inventory{Driver: "580.159.03", CUDA: "13.0"}
	for i, u := range uuids {
		inv.Devices = append(inv.Devices, Device{Index: i, UUID: u, Name: "NVIDIA H100 80GB HBM3"})
	}
	return inv
}

// reading of a GPU of 80 GiB of which 1 is reserved.
func reading(used Bytes) Reading {
	return Reading{Total: 80 * GiB, Used: used, Free: 79*GiB - used, Reserved: Some(GiB)}
}

func (f *fake) count(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[call]++
}

// called is how often a call was made.
func (f *fake) called(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// opened is how often the source was opened.
func (f *fake) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opens
}

func (f *fake) Open(context.Context) (Inventory, error) {
	if f.opened() == 1 {
		time.Sleep(f.away)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opens++
	f.closed = make(chan struct{})
	return f.open[min(f.opens, len(f.open))-1], nil
}

func (f *fake) Memory(dev int) (Reading, error) {
	f.count(fmt.Sprint("memory ", dev))
	if f.memory == nil {
		return reading(9 * GiB), nil
	}
	return f.memory(dev)
}

func (f *fake) Metrics(dev int) (Metrics, error) {
	f.count(fmt.Sprint("metrics ", dev))
	if f.metrics == nil {
		return Metrics{Temperature: Some(60)}, nil
	}
	return f.metrics(dev)
}

func (f *fake) Throughput(dev int) (Opt[uint64], Opt[uint64], error) {
	f.count(fmt.Sprint("throughput ", dev))
	if f.throughput == nil {
		return Some(uint64(1000)), Some(uint64(2000)), nil
	}
	return f.throughput(dev)
}

func (f *fake) Processes(dev int) ([]Process, error) {
	f.count(fmt.Sprint("processes ", dev))
	if f.processes == nil {
		return []Process{{PID: 4242 + dev, Memory: Some(8 * GiB)}}, nil
	}
	return f.processes(dev)
}

func (f *fake) WaitXID(timeout time.Duration) (int, uint64, error) {
	if f.xid == nil {
		return -1, 0, ErrNotSupported
	}
	return f.xid()
}

func (f *fake) Close() {
	f.count("close")
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.closed:
	default:
		close(f.closed)
	}
}

// gone is closed when the source is.
func (f *fake) gone() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// sweeping is a fake that reads many devices in one call.
type sweeping struct{ *fake }

func (sweeping) CanSweep(int) Sweepable { return SweepNow }

func (sweeping) Calm(*Sweep) {}

func (sweeping) Rescue(*Sweep) bool { return false }

func (f sweeping) Overdue() bool {
	for {
		if began := f.began.Load(); began != 0 && time.Since(time.Unix(0, began)) >= CallOverdue {
			f.began.Store(0)
			return true
		}
		select {
		case <-f.gone():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (f sweeping) Sweep(w *Sweep) error {
	last := map[int]Bytes{}
	end := time.Now().Add(w.For)
	next := &w.Control[0] // when to read again, kept from call to call
	*next = max(*next, time.Now().UnixNano())
	sweeps := 0
	for look := false; !look; *next += int64(w.Period) {
		if *next > end.UnixNano() && sweeps > 0 {
			time.Sleep(time.Until(end))
			return nil
		}
		time.Sleep(time.Until(time.Unix(0, *next)))
		for i, dev := range w.Devices {
			atomic.StoreInt64(&w.Control[controlCalling], int64(i+1))
			atomic.AddInt64(&w.Control[controlCalls], 1)
			f.began.Store(time.Now().UnixNano())
			r, err := f.Memory(dev)
			f.began.Store(0)
			atomic.StoreInt64(&w.Control[controlCalling], 0)
			if w.Stopped() {
				return nil
			}
			if errors.Is(err, ErrReconnect) {
				return err
			}
			w.Counts[i]++
			w.Calls[i], w.Least[i] = w.Counts[i], int64(time.Microsecond)
			if w.Failed[i] = err != nil; w.Failed[i] {
				look = true
				continue
			}
			if was, ok := last[i]; !ok || was != r.Used {
				last[i] = r.Used
				w.Readings = append(w.Readings, TimedReading{Device: i, Time: time.Now(), Reading: r})
				look = look || uint64(r.Used) > min(atomic.LoadUint64(&w.Above[i]), atomic.LoadUint64(&w.News[i]))
			}
		}
		sweeps++
	}
	return nil
}

// running is a loop at work over a fake.
type running struct {
	*Loop
	fake   *fake
	cancel context.CancelFunc
	ended  chan error // what Run returned
}

// start runs a loop, ten snapshots a second, until the test ends.
func start(t *testing.T, f *fake, host Host) *running {
	t.Helper()
	var src Source = f
	if f.sweeps {
		src = sweeping{f}
	}
	return startWith(t, src, f, host)
}

func startWith(t *testing.T, src Source, f *fake, host Host) *running {
	t.Helper()
	return startEvery(t, src, f, host, 100*time.Millisecond)
}

func startEvery(t *testing.T, src Source, f *fake, host Host, interval time.Duration) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{NewLoop(src, Options{Interval: interval, PeakInterval: 5 * time.Millisecond, Host: host}), f, cancel, make(chan error, 1)}
	if err := r.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		r.Wait(5 * time.Second)
	})
	return r
}

// until waits for a snapshot of which ok is true, 20 s at most.
func (r *running) until(t *testing.T, what string, ok func(*Snapshot) bool) *Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var last *Snapshot
	for {
		list, err := r.Next(ctx)
		if err != nil {
			t.Fatalf("waited for %s: %v; the last snapshot was %s", what, err, brief(last))
		}
		for _, s := range list {
			if last = s; ok(s) {
				return s
			}
		}
	}
}

// goesOn watches for d that ok is true of all snapshots, that they keep coming, and that
// the memory of GPU 0 is read.
func (r *running) goesOn(t *testing.T, d time.Duration, what string, ok func(*Snapshot) bool) {
	t.Helper()
	f := r.fake
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	r.queue.take()
	n, asked := 0, f.called("memory 0")
	for {
		list, err := r.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			asked = f.called("memory 0") - asked
			if want := int(d/(100*time.Millisecond)) / 3; n < want || asked < want && len(f.open[0].Devices) > 0 {
				t.Fatalf("%s: %d snapshots in %v, memory read %d times", what, n, d, asked)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, s := range list {
			if n++; !ok(s) {
				t.Fatalf("%s: not in %s", what, brief(s))
			}
		}
	}
}

func brief(s *Snapshot) (text string) {
	if s == nil {
		return "none"
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		text += fmt.Sprintf("[%s used %v temperature %v processes %d error %v] ", g.Key(), g.Memory.Used, g.Temperature, len(g.Processes), g.Error)
	}
	return text
}

// fine says whether the GPU of that number has memory figures and no error.
func fine(s *Snapshot, dev int) bool {
	return !s.GPUs[dev].Error.Known() && s.GPUs[dev].Memory.Used.Known()
}
