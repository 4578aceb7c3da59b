package sampler

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRise(t *testing.T) {
	const total = 80 * GiB
	steady := func(from, step Bytes, n int) (list []Bytes) {
		for i := range n {
			list = append(list, from+step*Bytes(i+1))
		}
		return list
	}
	jitter := make([]Bytes, 50)
	for i := range jitter {
		jitter[i] = 40*GiB + Bytes(i*7%10)*400*MiB
	}
	for _, row := range []struct {
		name   string
		before Bytes // most of the window before
		window []Bytes
		want   int // pictures of a window when each is shown at once
	}{
		{"still", 40 * GiB, steady(40*GiB, 0, 50), 0},
		{"less than can be seen", 40 * GiB, steady(40*GiB, 2*MiB, 50), 0},
		{"the peak's figure changes", 40 * GiB, steady(40*GiB, 10*MiB, 50), 4},
		{"a spike", 40 * GiB, []Bytes{40 * GiB, 50 * GiB, 50 * GiB, 40 * GiB}, 1},
		{"one as high as in the window before", 50 * GiB, []Bytes{40 * GiB, 50 * GiB, 50 * GiB, 40 * GiB}, 0},
		{"two, the second higher", 40 * GiB, []Bytes{50 * GiB, 40 * GiB, 55 * GiB, 40 * GiB}, 2},
		{"up and down", 0, jitter, 4},
		{"up and down as before", 44560 * MiB, jitter, 0},
		{"steadily by 16 GiB a second", 10 * GiB, steady(10*GiB, 16*GiB/50, 50), 50},
		{"steadily by 70 GiB a second", 0, steady(0, 70*GiB/50, 50), 50},
	} {
		var r height
		if r.see(79 * GiB) {
			t.Errorf("%s: there is news before there was a window", row.name)
		}
		r.begin(row.before, Some(total))
		n, most := 0, Bytes(0)
		for _, used := range row.window {
			most = max(most, used)
			news := uint64(used) > r.above()
			if r.see(used) != news {
				t.Fatalf("%s: a sweep and the collector disagree about %v", row.name, used)
			}
			if news {
				n++
				r.shown(most)
			}
		}
		if n != row.want {
			t.Errorf("%s: %d pictures, want %d", row.name, n, row.want)
		}
	}
}

// Spikes of one height are news once, as long as they come again before they are forgotten.
func TestRiseRemembers(t *testing.T) {
	var r height
	r.begin(20*GiB, Some(80*GiB))
	for window := range 100 {
		spike := window%5 == 0 || window > 60
		if news := spike && r.see(50*GiB); news != (window == 0) {
			t.Errorf("window %d: news %v", window, news)
		}
		r.begin(map[bool]Bytes{false: 20 * GiB, true: 50 * GiB}[spike], Some(80*GiB))
	}
	for range 30 {
		r.begin(20*GiB, Some(80*GiB))
	}
	if !r.see(50 * GiB) {
		t.Error("a spike after half a minute without one is no news")
	}
}

// TestPicturesAddUp: the second of two early pictures of one window shows what the first did, too.
func TestPicturesAddUp(t *testing.T) {
	c := newCollector()
	c.adopt(devices("GPU-0", "GPU-1"))
	c.wantPeaks()
	for dev := range 2 {
		c.reading(dev, noon, reading(9*GiB), nil)
	}
	c.shot(noon)
	for dev := range 2 {
		c.reading(dev, noon.Add(ms(300+100*dev)), reading(29*GiB), nil)
		s := c.picture()
		if s == nil {
			t.Fatalf("GPU %d has risen and there is no picture", dev)
		}
		for i := range dev + 1 {
			if p := s.GPUs[i].Memory.Peak; p == nil || p.Bytes != 29*GiB {
				t.Errorf("when GPU %d has risen the peak of GPU %d is %+v", dev, i, p)
			}
		}
	}
}

// TestPictureTellsTheTime: an early picture has the time of day that the snapshots have.
func TestPictureTellsTheTime(t *testing.T) {
	l := NewLoop(&fake{}, Options{})
	l.ahead = time.Hour
	l.c.adopt(devices("GPU-0"))
	l.c.wantPeaks()
	l.c.reading(0, noon, reading(9*GiB), nil)
	l.c.shot(noon)
	l.c.reading(0, noon.Add(ms(300)), reading(29*GiB), nil)
	l.showPeak()
	if _, early := l.queue.take(); early == nil || early.Ahead() != time.Hour {
		t.Errorf("the picture is %s", brief(early))
	}
}

// TestPicture: an early picture has the peaks of now and nothing else of it, and what comes
// after is as if there had been none.
func TestPicture(t *testing.T) {
	with, without := collected(), collected()
	with.wantPeaks()
	if with.picture() != nil {
		t.Error("there is a picture before the first snapshot")
	}
	spike := func(c *collector, look func()) *Snapshot {
		list := func(used Bytes) []Process {
			return []Process{{PID: 1, Memory: Some(used)}, {PID: 2, Memory: Some(GiB)}}
		}
		c.reading(0, noon, reading(9*GiB), nil)
		c.slow(0, noon, Metrics{}, nil, list(8*GiB), nil)
		c.shot(noon)
		c.reading(0, noon.Add(ms(300)), reading(29*GiB), nil)
		c.list(0, noon.Add(ms(305)), list(28*GiB), nil)
		look()
		c.reading(0, noon.Add(ms(320)), reading(10*GiB), nil)
		c.list(0, noon.Add(ms(990)), list(9*GiB), nil)
		return c.shot(noon.Add(time.Second))
	}
	var early *Snapshot
	got := spike(with, func() { early = with.picture() })
	want := spike(without, func() {
		if without.picture() != nil {
			t.Error("nobody asked for a picture, and there is one")
		}
	})
	if early == nil {
		t.Fatal("there is no picture")
	}
	g := early.GPUs[0]
	if g.Memory.Peak.Bytes != 29*GiB || !g.Memory.Peak.Time.Equal(noon.Add(ms(300))) || g.Memory.Used.Or(0) != 9*GiB || g.Memory.WorstFree.Or(0) != 50*GiB {
		t.Errorf("the picture has the memory %+v", g.Memory)
	}
	if p := g.Processes[0]; p.Peak.Bytes != 28*GiB || p.Memory.Or(0) != 8*GiB {
		t.Errorf("the picture has the process %+v, peak %+v", p, p.Peak)
	}
	if with.picture() != nil {
		t.Error("the same news is shown twice")
	}
	a, b := got.GPUs[0], want.GPUs[0]
	if *a.Memory.Window != *b.Memory.Window || *a.Memory.Peak != *b.Memory.Peak || *a.Processes[0].Peak != *b.Processes[0].Peak {
		t.Errorf("the snapshot after a picture differs: %+v, %+v", a.Memory, b.Memory)
	}
}

// TestNextOrPeak: a spike is handed over while it lasts, and is in the next snapshot too.
func TestNextOrPeak(t *testing.T) { withAndWithoutSweeps(t, testNextOrPeak) }

func testNextOrPeak(t *testing.T, sweeps bool) {
	var used atomic.Uint64
	used.Store(uint64(9 * GiB))
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0", "GPU-1")}}
	f.memory = func(int) (Reading, error) { return reading(Bytes(used.Load())), nil }
	r := start(t, f, nil)
	r.until(t, "the first snapshot", func(s *Snapshot) bool { return fine(s, 0) })
	r.SetInterval(time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	next := func() ([]*Snapshot, *Snapshot) {
		snaps, early, err := r.NextOrPeak(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return snaps, early
	}
	next()
	next() // a whole second, and early pictures are wanted
	time.Sleep(2 * time.Millisecond)
	began := time.Now()
	used.Store(uint64(40 * GiB))
	snaps, early := next()
	took := time.Since(began)
	used.Store(uint64(9 * GiB))
	if early == nil || len(snaps) > 0 {
		t.Fatalf("after %v there are %d snapshots and the picture %s", took, len(snaps), brief(early))
	}
	if early.GPUs[0].Memory.Peak.Bytes != 40*GiB || early.GPUs[0].Memory.Used.Or(0) != 9*GiB || took > 500*time.Millisecond {
		t.Errorf("after %v the picture has %+v", took, early.GPUs[0].Memory)
	}
	for snaps == nil {
		snaps, _ = next()
	}
	if w := snaps[0].GPUs[0].Memory.Window; w == nil || w.Max != 40*GiB || w.Readings+w.Missed < 100 {
		t.Errorf("the snapshot after it has the window %+v", w)
	}
}

// TestPicturesAreLimited: memory that climbs all the time is shown ten times a second at most.
func TestPicturesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{open: []Inventory{devices("GPU-0", "GPU-1")}}
		began := time.Now()
		f.memory = func(dev int) (Reading, error) {
			return reading(min(Bytes(time.Since(began)/(20*time.Millisecond)+time.Duration(dev))*GiB/2, 79*GiB)), nil
		}
		r := start(t, f, nil)
		r.SetInterval(10 * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		n := 0
		for last := (time.Time{}); ; {
			_, early, err := r.NextOrPeak(ctx)
			if err != nil {
				break
			}
			if now := time.Now(); early != nil {
				if d := now.Sub(last); d < earlyEvery/2 {
					t.Errorf("two pictures are %v apart", d)
				}
				n, last = n+1, now
			}
		}
		if n < 5 || n > 21 {
			t.Errorf("there were %d in 2 s", n)
		}
	})
}

// Some drivers count what they reserve as used: a sweep compares with their figure.
func TestSweepThresholdIsTheDrivers(t *testing.T) {
	c := collected()
	c.wantPeaks()
	r := Reading{Total: 8 * GiB, Used: 4 * GiB, Free: 4 * GiB, Reserved: Some(GiB)}
	c.reading(0, noon, r, nil)
	first := []uint64{0}
	if c.watchAbove([]int{0}, []uint64{0}, first, noon); first[0] != math.MaxUint64 {
		t.Errorf("before there was a window a sweep returns above %v", Bytes(first[0]))
	}
	c.slow(0, noon, Metrics{}, nil, []Process{{PID: 1, Memory: Some(GiB)}}, nil)
	c.shot(noon)
	above, news := []uint64{0}, []uint64{0}
	c.watchAbove([]int{0}, above, news, noon)
	if min(above[0], news[0]) <= uint64(r.Used) || above[0] > uint64(r.Used+staleBytes) {
		t.Errorf("a sweep returns above %v, %v are in use", Bytes(above[0]), r.Used)
	}
}
