package sampler

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

	mu    sync.Mutex
	opens int
	calls map[string]int
}

// cards is an inventory of GPUs with these UUIDs.
func cards(uuids ...string) Inventory {
	inv := Inventory{Driver: "580.159.03", CUDA: "13.0"}
	for i, u := range uuids {
		inv.Devices = append(inv.Devices, Device{Index: i, UUID: u, Name: "NVIDIA H100 80GB HBM3"})
	}
	return inv
}

// reading of a card of 80 GiB of which 1 is reserved.
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
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opens++
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

func (f *fake) Close() { f.count("close") }

// running is a loop at work over a fake.
type running struct {
	*Loop
	cancel context.CancelFunc
	ended  chan error // what Run returned
}

// start runs a loop, ten snapshots a second, until the test ends.
func start(t *testing.T, f *fake, host Host) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{NewLoop(f, Options{Interval: 100 * time.Millisecond, PeakInterval: 5 * time.Millisecond, Host: host}), cancel, make(chan error, 1)}
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
	f := r.src.(*fake)
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
