package sampler

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoGoroutineLeft must not run beside others: it looks at all goroutines.
func TestNoGoroutineLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := NewLoop(&fake{open: []Inventory{devices("GPU-0", "GPU-1")}}, Options{})
	if err := l.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	if _, err := l.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run ended with %v", err)
	}
	var stacks string
	for range 100 {
		buf := make([]byte, 1<<20)
		stacks = ""
		for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(s, "sampler.(*") && !strings.Contains(s, "TestNoGoroutineLeft(") {
				stacks += s + "\n\n"
			}
		}
		if stacks == "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", stacks)
}

// fakeTime runs a test in which time goes on when all wait, so that a busy machine changes nothing.
func fakeTime(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// withAndWithoutSweeps runs a test with a source that answers single questions and with a
// Sweeper.
func withAndWithoutSweeps(t *testing.T, test func(*testing.T, bool)) {
	for _, sweeps := range []bool{false, true} {
		fakeTime(t, map[bool]string{false: "single", true: "sweeps"}[sweeps], func(t *testing.T) { test(t, sweeps) })
	}
}

func TestRun(t *testing.T) { withAndWithoutSweeps(t, testRun) }

func testRun(t *testing.T, sweeps bool) {
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0", "GPU-1")}}
	began := time.Now()
	r := start(t, f, nil)
	first := r.until(t, "the first snapshot", func(*Snapshot) bool { return true })
	if d := time.Since(began); d > 80*time.Millisecond {
		t.Errorf("the first snapshot takes %v", d)
	}
	if g := first.GPUs[1]; g.Memory.Used.Or(0) != 9*GiB || g.Temperature.Or(0) != 60 || len(g.Processes) != 1 {
		t.Errorf("the first snapshot is not complete: %s", brief(first))
	}
	n, read := 0, 0
	last := r.until(t, "ten snapshots", func(s *Snapshot) bool {
		if w := s.GPUs[0].Memory.Window; w != nil {
			read += w.Readings + w.Missed
		}
		n++
		return n == 10
	})
	if off := last.Time.Sub(last.Time.Truncate(100 * time.Millisecond)); off > 50*time.Millisecond {
		t.Errorf("a snapshot is %v off the whole interval", off)
	}
	if read < 100 || read > 230 {
		t.Errorf("%d readings were made or missed in a second with one every 5 ms", read)
	}
	if last.GPUs[0].PCIe.RX.Or(0) == 0 && f.called("throughput 0") > 0 {
		t.Errorf("no PCIe traffic in %s", brief(last))
	}
	if sampling, ok := last.Sampling.Value(); !ok || sampling.AskedSeconds != 0.005 {
		t.Errorf("the sampling is %+v", last.Sampling)
	}
	r.cancel()
	if err := <-r.ended; err != nil {
		t.Errorf("Run ended with %v", err)
	}
	if f.called("close") != 1 {
		t.Errorf("the source was closed %d times", f.called("close"))
	}
}

// late is a Sweeper whose thread is woken that much late, as on a busy machine.
type late struct {
	sweeping
	by time.Duration
}

func (l late) Sweep(w *Sweep) error {
	err := l.sweeping.Sweep(w)
	time.Sleep(l.by)
	return err
}

// TestSnapshotAwaitsTheSweep: what was read in the second before a snapshot is in it, although all else has
// answered when the sweep ends.
func TestSnapshotAwaitsTheSweep(t *testing.T) {
	for _, by := range []time.Duration{ms(1), ms(30)} {
		t.Run(by.String(), func(t *testing.T) { awaitsTheSweep(t, by) })
	}
}

func awaitsTheSweep(t *testing.T, by time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		grown := func(at time.Time) Bytes { return Bytes(at.UnixMilli()%100_000) * KiB }
		f := &fake{open: []Inventory{devices("GPU-0")}}
		f.memory = func(int) (Reading, error) { return reading(grown(time.Now())), nil }
		r := startWith(t, late{sweeping{f}, by}, f, nil)
		r.until(t, "the first snapshot", func(*Snapshot) bool { return true })
		r.SetInterval(time.Second)
		r.until(t, "the last of the old interval", func(*Snapshot) bool { return true })
		r.until(t, "the first whole second", func(*Snapshot) bool { return true })
		for range 5 {
			s := r.until(t, "a snapshot", func(*Snapshot) bool { return true })
			w, before := s.GPUs[0].Memory.Window, s.Time.Add(-100*time.Millisecond)
			if w == nil || w.Readings < 195-int(by/ms(5)) || w.Max < grown(before) {
				t.Fatalf("the snapshot of %v has the window %+v, not up to %v", s.Time, w, grown(before))
			}
		}
	})
}

// gate is something that hangs until it is opened.
type gate struct{ ch chan struct{} }

func newGate(t *testing.T) gate {
	g := gate{make(chan struct{})}
	t.Cleanup(g.open)
	return g
}

func (g gate) open() {
	select {
	case <-g.ch:
	default:
		close(g.ch)
	}
}

// TestHangingMemory: GPU 1 hangs and says so, GPU 0 goes on; then GPU 1 comes back.
func TestHangingMemory(t *testing.T) { withAndWithoutSweeps(t, testHangingMemory) }

func testHangingMemory(t *testing.T, sweeps bool) {
	hang := newGate(t)
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0", "GPU-1")}}
	f.memory = func(dev int) (Reading, error) {
		if dev == 1 && f.called("memory 1") > 20 {
			<-hang.ch
		}
		return reading(9 * GiB), nil
	}
	r := start(t, f, nil)
	silent := func(g *GPU) bool { return strings.Contains(g.Error.Or(""), "not answering") }
	r.until(t, "both to answer", func(s *Snapshot) bool { return fine(s, 0) && fine(s, 1) })
	r.until(t, "GPU 1 to be called not answering", func(s *Snapshot) bool { return silent(&s.GPUs[1]) && fine(s, 0) })
	asked := f.called("memory 1")
	r.goesOn(t, 700*time.Millisecond, "GPU 0 while GPU 1 hangs", func(s *Snapshot) bool {
		return fine(s, 0) && silent(&s.GPUs[1]) && !s.GPUs[1].Memory.Used.Known()
	})
	if f.called("memory 1") != asked {
		t.Error("a GPU that hangs in a call is asked again")
	}
	hang.open()
	r.until(t, "GPU 1 to come back", func(s *Snapshot) bool { return fine(s, 0) && fine(s, 1) })
	if peak := r.until(t, "its peak", func(*Snapshot) bool { return true }).GPUs[1].Memory.Peak; peak == nil || peak.Bytes != 9*GiB {
		t.Errorf("its peak is %+v", peak)
	}
}

// TestHangingSlowCalls: expensive calls that hang take nothing else with them.
func TestHangingSlowCalls(t *testing.T) {
	for _, call := range []string{"metrics", "processes", "throughput", "xid", "identify"} {
		fakeTime(t, call, func(t *testing.T) {
			hang := newGate(t)
			wait := func(c string, dev int) {
				if c == call && dev == 1 {
					<-hang.ch
				}
			}
			f := &fake{open: []Inventory{devices("GPU-0", "GPU-1")},
				metrics:    func(dev int) (Metrics, error) { wait("metrics", dev); return Metrics{Temperature: Some(60)}, nil },
				processes:  func(dev int) ([]Process, error) { wait("processes", dev); return []Process{{PID: dev}}, nil },
				throughput: func(dev int) (rx, tx Opt[uint64], err error) { wait("throughput", dev); return },
				xid:        func() (int, uint64, error) { wait("xid", 1); return -1, 0, ErrNotSupported },
			}
			r := start(t, f, host(func(list []Process) {
				for _, p := range list {
					wait("identify", p.PID)
				}
			}))
			r.until(t, "memory", func(s *Snapshot) bool { return fine(s, 0) && fine(s, 1) })
			r.goesOn(t, time.Second, "memory of both", func(s *Snapshot) bool {
				return s.GPUs[0].Memory.Used.Known() && s.GPUs[1].Memory.Used.Known()
			})
			if call != "xid" {
				mark := "not answering"
				r.until(t, "GPU 0 with all figures", func(s *Snapshot) bool {
					g := s.GPUs[0]
					return !g.Error.Known() && g.Temperature.Known() && len(g.Processes) == 1
				})
				if call != "throughput" {
					r.until(t, "GPU 1 to say so", func(s *Snapshot) bool { return strings.Contains(s.GPUs[1].Error.Or(""), mark) })
				} else if g := r.until(t, "GPU 1", func(*Snapshot) bool { return true }).GPUs[1]; !g.Temperature.Known() {
					t.Errorf("the temperature of GPU 1 is gone because its PCIe traffic hangs: %v", g.Error)
				}
			}
			hang.open()
			r.until(t, "GPU 1 with all figures", func(s *Snapshot) bool {
				g := s.GPUs[1]
				return !g.Error.Known() && g.Temperature.Known() && len(g.Processes) == 1
			})
		})
	}
}

// host identifies processes by a function.
type host func([]Process)

func (h host) Name() string            { return "box7\x1b" }
func (h host) Identify(list []Process) { h(list) }
func (h host) Memory() Opt[HostMemory] { return Some(HostMemory{Total: 64 * GiB}) }

// TestHostTextsAreCleaned: what /proc says of a process is anybody's text.
func TestHostTextsAreCleaned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := "\x1b]0;x\x07\xff\n"
		r := start(t, &fake{open: []Inventory{devices("GPU-0")}}, host(func(list []Process) {
			for i := range list {
				p := &list[i]
				p.User, p.Name, p.Command, p.Container = bad, bad, bad, Some(bad)
				p.Environment = map[string]string{bad: bad, "A": "b"}
			}
		}))
		s := r.until(t, "a process", func(s *Snapshot) bool { return len(s.GPUs[0].Processes) == 1 })
		p := s.GPUs[0].Processes[0]
		texts := []string{s.Host, p.User, p.Name, p.Command, p.Container.Or("")}
		for k, v := range p.Environment {
			texts = append(texts, k, v)
		}
		if len(texts) != 9 {
			t.Errorf("the environment is %q", p.Environment)
		}
		for _, text := range texts {
			if text != Clean(text) {
				t.Errorf("%q reaches the snapshot", text)
			}
		}
	})
}

// TestReconnect: the driver goes away; the source is opened again once, and GPUs that
// come back in another order keep their peaks.
func TestReconnect(t *testing.T) { withAndWithoutSweeps(t, testReconnect) }

func testReconnect(t *testing.T, sweeps bool) {
	var gone atomic.Bool
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-a", "GPU-b", "GPU-c"), devices("GPU-c", "GPU-a")}}
	fail := func() error {
		if gone.Load() && f.opened() == 1 {
			return fmt.Errorf("uninitialized: %w", ErrReconnect)
		}
		return nil
	}
	f.memory = func(dev int) (Reading, error) {
		if f.opened() == 1 {
			return reading(Bytes(dev+1) * 10 * GiB), fail()
		}
		return reading(GiB), nil
	}
	f.metrics = func(dev int) (Metrics, error) { return Metrics{Temperature: Some(60)}, fail() }
	f.processes = func(dev int) ([]Process, error) { return nil, fail() }
	f.throughput = func(dev int) (rx, tx Opt[uint64], err error) { return rx, tx, fail() }
	r := start(t, f, nil)
	r.until(t, "three GPUs", func(s *Snapshot) bool { return len(s.GPUs) == 3 && fine(s, 2) })
	for range cap(r.stale) { // asked for just before the driver went
		select {
		case r.stale <- 2:
		default:
		}
	}
	gone.Store(true)
	r.until(t, "the reason", func(s *Snapshot) bool {
		return strings.Contains(s.GPUs[0].Error.Or(""), "driver connection lost") && !s.GPUs[0].Memory.Used.Known()
	})
	read := func(s *Snapshot, dev int) bool { return fine(s, dev) && s.GPUs[dev].Memory.Used.Or(0) == GiB }
	s := r.until(t, "two GPUs", func(s *Snapshot) bool { return len(s.GPUs) == 2 && read(s, 0) && read(s, 1) })
	for i, want := range []Bytes{30 * GiB, 10 * GiB} {
		if g := s.GPUs[i]; g.Memory.Peak.Bytes != want {
			t.Errorf("%s: used %v, peak %v, want %v", g.UUID, g.Memory.Used, g.Memory.Peak.Bytes, want)
		}
	}
	r.goesOn(t, 1500*time.Millisecond, "two GPUs", func(s *Snapshot) bool { return fine(s, 0) && fine(s, 1) })
	if f.opened() != 2 || f.called("close") != 1 {
		t.Errorf("opened %d times and closed %d times", f.opened(), f.called("close"))
	}
}

// TestReopeningHangs: a driver that does not answer when it is opened again is told as that, not by what it said before.
func TestReopeningHangs(t *testing.T) {
	fakeTime(t, "slow", func(t *testing.T) {
		f := &fake{open: []Inventory{devices("GPU-a")}, away: 4 * time.Second}
		f.memory = func(dev int) (Reading, error) {
			if f.opened() == 1 {
				return Reading{}, fmt.Errorf("%w: the driver is not loaded", ErrReconnect)
			}
			return reading(GiB), nil
		}
		r := start(t, f, nil)
		r.until(t, "the reason", func(s *Snapshot) bool { return strings.Contains(s.GPUs[0].Error.Or(""), "is not loaded") })
		r.until(t, "that it hangs", func(s *Snapshot) bool {
			return s.GPUs[0].Error.Or("") == "driver connection lost: not answering for 3 s"
		})
		r.until(t, "its figures", func(s *Snapshot) bool { return fine(s, 0) })
	})
}

// TestStragglerOfTheOldConnection: a call that hung when the driver went away returns
// long after; the new connection has fewer GPUs.
func TestStragglerOfTheOldConnection(t *testing.T) {
	for _, call := range []string{"metrics", "throughput", "xid"} {
		fakeTime(t, call, func(t *testing.T) {
			hang := newGate(t)
			var hung, gone atomic.Bool
			f := &fake{open: []Inventory{devices("GPU-a", "GPU-b", "GPU-c"), devices("GPU-c")}}
			wait := func(c string, dev int) {
				if c == call && dev == 2 && f.opened() == 1 {
					hung.Store(true)
					<-hang.ch
				}
			}
			f.memory = func(dev int) (Reading, error) {
				if gone.Load() && f.opened() == 1 {
					return Reading{}, ErrReconnect
				}
				return reading(GiB), nil
			}
			f.metrics = func(dev int) (Metrics, error) { wait("metrics", dev); return Metrics{Temperature: Some(60 + dev)}, nil }
			f.throughput = func(dev int) (rx, tx Opt[uint64], err error) { wait("throughput", dev); return }
			f.xid = func() (int, uint64, error) {
				first := f.opened() == 1
				if wait("xid", 2); first {
					time.Sleep(time.Millisecond)
					return 2, 79, nil
				}
				return -1, 0, ErrNotSupported
			}
			r := start(t, f, nil)
			r.until(t, "the call to hang", func(s *Snapshot) bool { return hung.Load() })
			gone.Store(true)
			r.until(t, "the new connection", func(s *Snapshot) bool { return len(s.GPUs) == 1 && fine(s, 0) })
			hang.open()
			r.goesOn(t, time.Second, "the new connection", func(s *Snapshot) bool { return len(s.GPUs) == 1 && fine(s, 0) })
			if f.opened() != 2 {
				t.Errorf("opened %d times", f.opened())
			}
		})
	}
}

// TestCallReturnsWhileItIsGivenUp: the call comes back between the moment it is found
// hanging and the moment that is written down.
func TestCallReturnsWhileItIsGivenUp(t *testing.T) {
	l := NewLoop(&fake{open: []Inventory{devices("GPU-0")}}, Options{})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := newGroup(ctx, l.trip, l.c.failed)
	w := &worker{group: g, kind: callSlow, limit: 0, run: func(*worker) {}, dev: -1}
	g.workers = append(g.workers, w)
	g.wg.Add(1)
	if !w.enter(0) {
		t.Fatal("a device that does not hang is refused")
	}
	hung, fates, _ := g.judge(time.Now(), 0)
	if len(hung) != 1 || fates[0] != hangs || w.enter(0) {
		t.Fatal("a call over its limit does not hang")
	}
	if w.leave() {
		t.Error("an abandoned worker goes on")
	}
	g.replace(w, hangs, time.Now())
	next := &worker{group: g, kind: callSlow, limit: time.Hour, dev: -1}
	if !next.enter(0) {
		t.Error("the call has returned, but its device is never asked again")
	}
}

// TestLostGPU: one GPU falls off the bus; the others go on, its last peak stays.
func TestLostGPU(t *testing.T) { withAndWithoutSweeps(t, testLostGPU) }

func testLostGPU(t *testing.T, sweeps bool) {
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0", "GPU-1", "GPU-2")}}
	f.memory = func(dev int) (Reading, error) {
		switch n := f.called("memory 1"); {
		case dev == 1 && n > 40:
			return Reading{}, fmt.Errorf("reading memory: %w", ErrLost)
		case dev == 1 && n == 40:
			return reading(47 * GiB), nil // its last words
		}
		return reading(9 * GiB), nil
	}
	r := start(t, f, nil)
	lost := func(s *Snapshot) bool {
		g := s.GPUs[1]
		return strings.Contains(g.Error.Or(""), "lost") && !g.Memory.Used.Known() && !g.Temperature.Known() && len(g.Processes) == 0
	}
	r.until(t, "GPU 1 to be lost", lost)
	r.goesOn(t, time.Second, "the others", func(s *Snapshot) bool { return lost(s) && fine(s, 0) && fine(s, 2) })
	s := r.until(t, "its peak", func(*Snapshot) bool { return true })
	if p := s.GPUs[1].Memory.Peak; p == nil || p.Bytes != 47*GiB {
		t.Errorf("the peak of the lost GPU is %+v, want what was read last", p)
	}
	if n := f.called("memory 1"); n > 43 {
		t.Errorf("a lost GPU is asked %d times in a second", n-40)
	}
}

// TestPanicEndsRun: a panic in any goroutine is an error of Run, so that the terminal is
// restored, and Next tells it.
func TestPanicEndsRun(t *testing.T) {
	for _, call := range []string{"memory", "metrics", "processes", "throughput", "xid", "identify"} {
		fakeTime(t, call, func(t *testing.T) {
			hit := func(c string) {
				if c == call {
					panic("boom in " + call)
				}
			}
			f := &fake{open: []Inventory{devices("GPU-0")},
				memory:     func(int) (Reading, error) { hit("memory"); return reading(GiB), nil },
				metrics:    func(int) (Metrics, error) { hit("metrics"); return Metrics{}, nil },
				processes:  func(int) ([]Process, error) { hit("processes"); return nil, nil },
				throughput: func(int) (rx, tx Opt[uint64], err error) { hit("throughput"); return },
				xid:        func() (int, uint64, error) { hit("xid"); return -1, 0, ErrNotSupported },
			}
			r := start(t, f, host(func([]Process) { hit("identify") }))
			select {
			case err := <-r.ended:
				if err == nil || !strings.Contains(err.Error(), "boom in "+call) || !strings.Contains(err.Error(), "fake_test.go") && !strings.Contains(err.Error(), "loop_test.go") {
					t.Errorf("Run ended with %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Run goes on")
			}
			for {
				if _, err := r.Next(context.Background()); err != nil {
					if !strings.Contains(err.Error(), "boom") {
						t.Errorf("Next says %v", err)
					}
					return
				}
			}
		})
	}
}

// TestNoDevices: a source without devices is odd, but no reason to fall.
func TestNoDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &fake{open: []Inventory{{}}}, nil)
		r.goesOn(t, 500*time.Millisecond, "no GPUs", func(s *Snapshot) bool { return len(s.GPUs) == 0 })
	})
}

func TestConnectFails(t *testing.T) {
	f := &fake{open: []Inventory{devices("GPU-0")}}
	l := NewLoop(f, Options{Select: []string{"7"}})
	if err := l.Connect(context.Background()); !errors.Is(err, ErrSelect) || f.called("close") != 1 {
		t.Errorf("a GPU that does not exist: %v, closed %d times", err, f.called("close"))
	}
	l.Fail(err7)
	if _, err := l.Next(context.Background()); err != err7 {
		t.Errorf("Next says %v", err)
	}
	l.Wait(time.Minute)
}

var err7 = errors.New("no GPU 7")

// TestSelected: only chosen devices are asked, and they keep their own numbers.
func TestSelected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{open: []Inventory{devices("GPU-aaaaaaaa", "GPU-bbbbbbbb", "GPU-cccccccc")}}
		f.memory = func(dev int) (Reading, error) { return reading(Bytes(dev+1) * GiB), nil }
		xids := 0
		f.xid = func() (int, uint64, error) {
			if xids++; xids > 3 {
				return -1, 0, ErrNotSupported
			}
			return 3 - xids, uint64(70 + 3 - xids), nil // of devices 2, 1 and 0
		}
		ctx, cancel := context.WithCancel(context.Background())
		l := NewLoop(f, Options{Interval: 100 * time.Millisecond, Select: []string{"2", "GPU-aaaa"}})
		if err := l.Connect(ctx); err != nil {
			t.Fatal(err)
		}
		go l.Run(ctx) //nolint:errcheck // Wait follows
		defer l.Wait(5 * time.Second)
		defer cancel()
		r := &running{Loop: l}
		s := r.until(t, "two GPUs", func(s *Snapshot) bool { return len(s.GPUs) == 2 && fine(s, 1) && s.GPUs[0].LastXID.Known() })
		for i, want := range []int{0, 2} {
			g := s.GPUs[i]
			if g.Index != want || g.Memory.Used.Or(0) != Bytes(want+1)*GiB || g.Processes[0].PID != 4242+want || g.LastXID.Or(0) != uint64(70+want) {
				t.Errorf("GPU %d of the screen: %s, Xid %v", i, brief(s), g.LastXID)
			}
		}
		if n := f.called("memory 1") + f.called("metrics 1") + f.called("processes 1") + f.called("throughput 1"); n != 0 {
			t.Errorf("a GPU that was not chosen is asked %d times", n)
		}
	})
}

func TestSetInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &fake{open: []Inventory{devices("GPU-0")}}, nil)
		r.SetInterval(time.Nanosecond) // no faster than every 100 ms
		if d := r.currentInterval(); d != 100*time.Millisecond {
			t.Errorf("asked for each nanosecond snapshots come every %v", d)
		}
		r.goesOn(t, 500*time.Millisecond, "snapshots", func(*Snapshot) bool { return true })
		r.SetInterval(400 * time.Millisecond)
		r.until(t, "two more", func(*Snapshot) bool { return true })
		a := r.until(t, "one", func(*Snapshot) bool { return true })
		b := r.until(t, "another", func(*Snapshot) bool { return true })
		if d := b.Time.Sub(a.Time); d < 300*time.Millisecond || d > 600*time.Millisecond {
			t.Errorf("snapshots are %v apart, want 400 ms", d)
		}
	})
}

// TestResetPeaks: peaks are reset while the loop runs.
func TestResetPeaks(t *testing.T) { withAndWithoutSweeps(t, testResetPeaks) }

func testResetPeaks(t *testing.T, sweeps bool) {
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0")}}
	f.memory = func(int) (Reading, error) {
		if f.called("memory 0") < 10 {
			return reading(47 * GiB), nil
		}
		return reading(9 * GiB), nil
	}
	r := start(t, f, nil)
	s := r.until(t, "the level after the peak", func(s *Snapshot) bool {
		w := s.GPUs[0].Memory.Window
		return w != nil && w.Readings > 0 && w.Max == 9*GiB
	})
	if s.GPUs[0].Memory.Peak.Bytes != 47*GiB {
		t.Errorf("the peak is %v", s.GPUs[0].Memory.Peak.Bytes)
	}
	r.ResetPeaks()
	r.queue.take()
	r.until(t, "a new snapshot", func(*Snapshot) bool { return true })
	if s := r.until(t, "a new snapshot", func(*Snapshot) bool { return true }); s.GPUs[0].Memory.Peak.Bytes != 9*GiB || s.GPUs[0].Memory.WorstFree.Or(0) != 70*GiB {
		t.Errorf("after the reset the peak is %v, least free %v", s.GPUs[0].Memory.Peak.Bytes, s.GPUs[0].Memory.WorstFree)
	}
}

// scripted is memory by the time of a clock: 9 GiB, 47 GiB for 200 ms at 400 ms, then 12.
func scripted(clock Clock, epoch time.Time) *fake {
	f := &fake{open: []Inventory{devices("GPU-0")}}
	used := func() Bytes {
		switch t := clock.Now().Sub(epoch); {
		case t >= ms(400) && t < ms(600):
			return 47 * GiB
		case t >= ms(700):
			return 12 * GiB
		}
		return 9 * GiB
	}
	f.memory = func(int) (Reading, error) { return reading(used()), nil }
	f.processes = func(int) ([]Process, error) { return []Process{{PID: 1, Memory: Some(used() - GiB)}}, nil }
	return f
}

// What compares calls with readings hears in scripted time too how far it may: without that it keeps all of them.
func TestSimulateTellsHowFarItHasRead(t *testing.T) {
	var until time.Time
	clock := NewScriptClock(noon)
	l := NewLoop(scripted(clock, noon), Options{Clock: clock, Asking: asking{until: &until}})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Simulate(clock, 100*time.Millisecond)
	if !until.Equal(noon.Add(100 * time.Millisecond)) {
		t.Errorf("read until %v", until)
	}
}

// TestSimulateIsRun: scripted time gives the figures that life gives.
func TestSimulateIsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length, period = 1200 * time.Millisecond, 10 * time.Millisecond
		options := Options{Interval: 100 * time.Millisecond, PeakInterval: period}
		simulated := func() []*Snapshot {
			clock := NewScriptClock(noon)
			options.Clock = clock
			l := NewLoop(scripted(clock, noon), options)
			if err := l.Connect(context.Background()); err != nil {
				t.Fatal(err)
			}
			l.Simulate(clock, length)
			if !clock.Now().Equal(noon.Add(length)) {
				t.Errorf("after the simulation it is %v later", clock.Now().Sub(noon))
			}
			list, _ := l.Next(context.Background())
			return list
		}()
		clock := NewScriptClock(noon)
		options.Clock = clock
		l := NewLoop(scripted(clock, noon), options)
		ctx, cancel := context.WithCancel(context.Background())
		if err := l.Connect(ctx); err != nil {
			t.Fatal(err)
		}
		clock.Run()
		go l.Run(ctx) //nolint:errcheck // Wait follows
		var lived []*Snapshot
		for len(lived) == 0 || lived[len(lived)-1].Time.Before(noon.Add(length)) {
			more, err := l.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			lived = append(lived, more...)
		}
		cancel()
		l.Wait(5 * time.Second)
		if n := len(simulated); n < 11 || n > 13 {
			t.Errorf("%d simulated snapshots in %v", n, length)
		}
		a, b := simulated[len(simulated)-1].GPUs[0], lived[len(lived)-1].GPUs[0]
		if a.Memory.Used != b.Memory.Used || a.Memory.Free != b.Memory.Free || a.Memory.Reserved != b.Memory.Reserved ||
			a.Memory.WorstFree != b.Memory.WorstFree || a.Memory.Peak.Bytes != b.Memory.Peak.Bytes || a.Temperature != b.Temperature {
			t.Errorf("simulated %+v\nlived %+v", a.Memory, b.Memory)
		}
		for _, g := range []GPU{a, b} {
			if d := g.Memory.Peak.Time.Sub(noon.Add(ms(400))); d < 0 || d > 3*period {
				t.Errorf("the peak is dated %v late", d)
			}
			if p := g.Processes[0]; p.Memory.Or(0) != 11*GiB || p.Peak.Bytes != 46*GiB {
				t.Errorf("process: %v now, peak %+v", p.Memory, p.Peak)
			}
			if g.Memory.Unattributed.Or(0) != GiB {
				t.Errorf("unattributed is %v", g.Memory.Unattributed)
			}
		}
		if a, b := simulated[5].GPUs[0].Memory.Window, lived[5].GPUs[0].Memory.Window; a.Readings < 9 || a.Readings > 11 || b.Readings+b.Missed < 5 {
			t.Errorf("windows of 100 ms: %+v and %+v", a, b)
		}
	})
}

func TestGuard(t *testing.T) {
	var got error
	func() {
		defer Guard(func(err error) { got = err })
	}()
	if got != nil {
		t.Errorf("no panic is reported as %v", got)
	}
	func() {
		defer Guard(func(err error) { got = err })
		var m map[string]int
		m["x"] = 1 //nolint:staticcheck // the panic is the point
	}()
	if got == nil || !strings.HasPrefix(got.Error(), "internal error: ") || !strings.Contains(got.Error(), "TestGuard") {
		t.Errorf("a panic is reported as %v", got)
	}
}

// asking sees refusals as a test wants.
type asking struct {
	refused chan struct{}
	until   *time.Time // all readings before have been told; nil: nobody asks
	ended   int        // pid
	rest    bool       // there is something to tell in the end
}

func (asking) Machine([]Device)                                   {}
func (asking) Listed(GPUKey, time.Time, time.Duration, []Process) {}
func (a asking) ReadUntil(at time.Time) {
	if a.until != nil {
		*a.until = at
	}
}
func (asking) Reading(GPUKey, time.Time, Bytes) {}
func (a asking) Refused() <-chan struct{}       { return a.refused }
func (a asking) Alone(_ GPUKey, pid int) bool   { return pid != a.ended }
func (a asking) Ends() bool                     { return a.rest }
func (asking) Apply(s *Snapshot)                { s.Door = &Door{} }

// A refused request brings the next snapshot forward, but not as often as it is refused.
func TestRefusalIsShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asking{refused: make(chan struct{}, 1)}
		l := NewLoop(&fake{open: []Inventory{devices("GPU-0")}}, Options{Interval: time.Hour, Asking: a})
		if err := l.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go l.Run(ctx) //nolint:errcheck // Wait follows
		defer l.Wait(5 * time.Second)
		defer cancel()
		if s, err := l.Next(t.Context()); err != nil || s[0].Door == nil {
			t.Fatal(s, err)
		}
		time.Sleep(refusedEvery)
		began := time.Now()
		for n := range 3 {
			a.refused <- struct{}{}
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			past := time.Since(began)
			if least := refusedWait + time.Duration(n)*refusedEvery; past < least || past > least+time.Second {
				t.Errorf("snapshot %d after %v, not %v", n, past, least)
			}
		}
	})
}

// Who stops still gets what processes have asked for since the last snapshot, and nothing where they have not.
func TestRest(t *testing.T) {
	for _, rest := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := NewLoop(&fake{open: []Inventory{devices("GPU-0")}}, Options{Interval: time.Hour, Asking: asking{refused: make(chan struct{}, 1), rest: rest}})
			if err := l.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go l.Run(ctx) //nolint:errcheck // Wait follows
			defer l.Wait(5 * time.Second)
			if _, err := l.Next(ctx); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			began := time.Now()
			cancel()
			if got := l.Rest(); len(got) == 1 != rest || rest && got[0].Time.Before(began) {
				t.Errorf("with something to tell (%v) there are %d snapshots more", rest, len(got))
			}
		})
	}
}

// inside is an allocator that a test has refuse tensors.
type inside struct{ refused chan struct{} }

func (i inside) Refused() <-chan struct{} { return i.refused }
func (inside) Apply(s *Snapshot) {
	s.GPUs[0].Processes = append(s.GPUs[0].Processes, Process{PID: 7, Peak: &Peak{Bytes: 9, Source: PeakAllocator}, Allocator: &Allocator{LastOOM: &RefusedTensor{}}})
}

// So does a refused tensor; its process has its peak from then on.
func TestRefusedTensorIsShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := inside{make(chan struct{}, 1)}
		l := NewLoop(&fake{open: []Inventory{devices("GPU-0")}}, Options{Interval: time.Hour, Inside: in})
		if err := l.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go l.Run(ctx) //nolint:errcheck // Wait follows
		defer l.Wait(5 * time.Second)
		defer cancel()
		for range 3 {
			s, err := l.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if list := s[0].GPUs[0].Processes; len(list) == 0 || list[len(list)-1].Allocator == nil || list[len(list)-1].Peak.Source != PeakAllocator {
				t.Fatalf("%+v", list)
			}
			in.refused <- struct{}{}
		}
	})
}

// The time of a refused tensor follows the clock that is set, and the snapshot before is not changed.
func TestRefusedTensorRetimed(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := &Snapshot{Time: at, GPUs: []GPU{{Processes: []Process{{Allocator: &Allocator{LastOOM: &RefusedTensor{Time: at}}}, {Allocator: &Allocator{}}, {}}}}}
	c := s.WithAhead(time.Hour).Wall()
	if got := c.GPUs[0].Processes[0].Allocator.LastOOM.Time; !got.Equal(at.Add(time.Hour)) || !s.GPUs[0].Processes[0].Allocator.LastOOM.Time.Equal(at) {
		t.Errorf("%v, %v", got, s.GPUs[0].Processes[0].Allocator.LastOOM.Time)
	}
}
