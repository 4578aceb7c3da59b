package sampler

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// abandoning is a source in one of whose calls the worker is given up as hanging.
type abandoning struct {
	Source
	w     *worker
	in    string
	calls []string
}

func (s *abandoning) call(name string) {
	s.calls = append(s.calls, name)
	if name == s.in {
		s.w.mu.Lock()
		s.w.abandoned = true
		s.w.mu.Unlock()
	}
}

func (s *abandoning) Memory(int) (Reading, error)  { s.call("memory"); return reading(GiB), nil }
func (s *abandoning) Metrics(int) (Metrics, error) { s.call("metrics"); return Metrics{}, nil }
func (s *abandoning) Processes(int) ([]Process, error) {
	s.call("processes")
	return []Process{{PID: 7, Memory: Some(GiB)}}, nil
}

// A worker that was given up while it was in a call ends with it, asks for nothing more, and what the call brought is
// not told: another one has taken over.
func TestAbandonedWorkerEnds(t *testing.T) {
	for _, row := range []struct {
		name, in string
		ask      func(*poller, *worker) bool
		calls    []string
		alive    bool
	}{
		{"figures", "", func(p *poller, w *worker) bool { return p.askFigures(w, 0) }, []string{"metrics"}, true},
		{"given up in metrics", "metrics", func(p *poller, w *worker) bool { return p.askFigures(w, 0) }, []string{"metrics"}, false},
		{"a list", "", func(p *poller, w *worker) bool { return p.askList(w, 0, p.c.list) }, []string{"processes"}, true},
		{"given up in a list", "processes", func(p *poller, w *worker) bool { return p.askList(w, 0, p.c.list) }, []string{"processes"}, false},
		{"memory", "", func(p *poller, w *worker) bool { _, alive := p.askMemory(w, 0); return alive }, []string{"memory"}, true},
		{"given up in memory", "memory", func(p *poller, w *worker) bool { _, alive := p.askMemory(w, 0); return alive }, []string{"memory"}, false},
	} {
		src := &abandoning{in: row.in}
		p := newPoller(src, Options{Clock: NewSteady()})
		p.c.adopt(devices("GPU-0"))
		p.pick, p.reported = []int{0}, make([]Opt[Bytes], 1)
		src.w = &worker{group: newGroup(context.Background(), nil, nil), dev: -1}
		if alive := row.ask(&p, src.w); alive != row.alive || !slices.Equal(src.calls, row.calls) {
			t.Errorf("%s: goes on %v after %v", row.name, alive, src.calls)
		}
		if d := p.c.gpus[0]; !row.alive && (d.procsOK || !d.readAt.IsZero() || !d.slowAt.IsZero()) {
			t.Errorf("%s: what it brought is told", row.name)
		}
		p.c.gpus[0].memErr = ErrLost
		src.calls = nil
		p.askFigures(src.w, 0)
		if p.askList(src.w, 0, p.c.list); len(src.calls) > 0 {
			t.Errorf("%s: a lost GPU is asked for %v", row.name, src.calls)
		}
	}
}

// A call in a sweep that hangs is given up half a second after watch has seen it, not a second: all others wait for it. One of less is
// slow, and no call that is seen twice is another.
func TestSweepGivenUpSoon(t *testing.T) {
	for name, row := range map[string]struct {
		lasts time.Duration // a call that begins 200 ms before watch looks; the next one begins at once
		want  time.Duration // after its begin; 0: never
	}{
		"it hangs":    {time.Hour, 700 * time.Millisecond},
		"it is slow":  {450 * time.Millisecond, 0},
		"one by one":  {300 * time.Millisecond, 0},
		"it is quick": {10 * time.Millisecond, 0},
	} {
		fakeTime(t, name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			var given atomic.Pointer[time.Time] // by the goroutine that watches
			g := newGroup(ctx, func(error) {}, func(int, string, error) {
				now := time.Now()
				given.Store(&now)
			})
			s := &Sweep{calm: func(*Sweep) {}}
			w := &worker{group: g, kind: callMemory, limit: memoryLimit, run: func(*worker) {}, dev: -1}
			g.workers = append(g.workers, w)
			g.wg.Add(1)
			w.enterSweep(s, []int{0})
			g.background(g.watch)
			time.Sleep(time.Until(time.Now().Truncate(watchPeriod).Add(watchPeriod)) - 200*time.Millisecond)
			began := time.Now()
			for time.Since(began) < 5*time.Second && given.Load() == nil {
				atomic.AddInt64(&s.Control[controlCalls], 1)
				atomic.StoreInt64(&s.Control[controlCalling], 1)
				time.Sleep(min(row.lasts, 5*time.Second))
				atomic.StoreInt64(&s.Control[controlCalling], 0)
			}
			after := time.Duration(0)
			if at := given.Load(); at != nil {
				after = at.Sub(began)
			}
			if after != row.want {
				t.Errorf("given up after %v, want %v", after, row.want)
			}
			cancel()
			synctest.Wait()
		})
	}
}
