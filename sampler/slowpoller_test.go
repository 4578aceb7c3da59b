package sampler

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Slow questions are asked of a device that answers and does not hang; a worker that is given up meanwhile ends.
func TestSlowLaneGoesOn(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(*poller, *worker)
		asked   int // for figures, for processes
		goes    bool
	}{
		"it answers":              {func(*poller, *worker) {}, 1, true},
		"it is lost":              {func(p *poller, _ *worker) { p.c.gpus[0].memErr = ErrLost }, 0, true},
		"memory is not supported": {func(p *poller, _ *worker) { p.c.gpus[0].memErr = ErrNotSupported }, 1, true},
		"no permission":           {func(p *poller, _ *worker) { p.c.gpus[0].memErr = ErrNoPermission }, 1, true},
		"a call hangs":            {func(_ *poller, w *worker) { w.group.hung[hangKey{w.kind, 0}] = true }, 0, true},
		"the worker was given up": {func(_ *poller, w *worker) { w.abandoned = true }, 0, false},
		"it is given up in a call": {func(p *poller, w *worker) {
			f := p.src.(*fake)
			f.metrics = func(int) (Metrics, error) { w.abandoned = true; return Metrics{}, nil }
			f.processes = func(int) ([]Process, error) { w.abandoned = true; return nil, nil }
		}, 1, false},
	} {
		for kind, ask := range map[string]func(*poller, *worker) bool{
			"metrics":   func(p *poller, w *worker) bool { return p.askFigures(w, 0) },
			"processes": func(p *poller, w *worker) bool { return p.askList(w, 0, p.c.list) },
		} {
			p, w := lane(nil)
			row.prepare(p, w)
			if goes := ask(p, w); goes != row.goes {
				t.Errorf("%s, %s: goes on %v", name, kind, goes)
			}
			if asked := p.src.(*fake).called(kind + " 0"); asked != row.asked {
				t.Errorf("%s, %s: asked %d times", name, kind, asked)
			}
			if told := p.c.gpus[0].procsOK || !p.c.gpus[0].slowAt.IsZero(); told != (row.asked > 0 && row.goes) {
				t.Errorf("%s, %s: told %v", name, kind, told)
			}
		}
	}
}

// Names and values of variables are cleaned; a map in which all are clean stays the one it was.
func TestCleanVariables(t *testing.T) {
	for name, row := range map[string]struct {
		env  map[string]string
		want string
	}{
		"clean":          {map[string]string{"A": "1"}, "A=1"},
		"a dirty value":  {map[string]string{"A": "1\x1b"}, "A=" + Clean("1\x1b")},
		"a dirty name":   {map[string]string{"A\x1b": "1"}, Clean("A\x1b") + "=1"},
		"both are dirty": {map[string]string{"A\x1b": "1\x1b"}, Clean("A\x1b") + "=" + Clean("1\x1b")},
	} {
		for k, v := range cleanAll(row.env) {
			if k+"="+v != row.want {
				t.Errorf("%s: %q", name, k+"="+v)
			}
		}
	}
}

// Where the slow calls for one GPU hang, the figures of the others are never out of date; and one whose calls always take that long has its own.
func TestHungFiguresOfOne(t *testing.T) {
	fakeTime(t, "one hangs, one is slow", func(t *testing.T) {
		gate := newGate(t)
		var hangs atomic.Bool
		var last, longest atomic.Int64 // between two turns of GPU 3
		f := &fake{open: []Inventory{devices("GPU-a", "GPU-b", "GPU-c", "GPU-d")}}
		f.metrics = func(dev int) (Metrics, error) {
			switch now := time.Now().UnixNano(); {
			case dev == 3:
				if before := last.Swap(now); before > 0 {
					longest.Store(max(longest.Load(), now-before))
				}
			case dev == 1 && hangs.Load():
				<-gate.ch
			case dev == 2:
				time.Sleep(700 * time.Millisecond)
			}
			return Metrics{Temperature: Some(60)}, nil
		}
		r := start(t, f, nil)
		r.until(t, "the figures of all", func(s *Snapshot) bool {
			return !slices.ContainsFunc(s.GPUs, func(g GPU) bool { return !g.Temperature.Known() || g.Error.Known() })
		})
		hangs.Store(true)
		r.goesOn(t, 8*time.Second, "figures of the others", func(s *Snapshot) bool { return fine(s, 0) && fine(s, 3) })
		if d := time.Duration(longest.Load()); d > 1900*time.Millisecond {
			t.Errorf("%v without a turn", d)
		}
		r.until(t, "that one does not answer", func(s *Snapshot) bool { return strings.HasPrefix(s.GPUs[1].Error.Or(""), "not answering (") })
		r.until(t, "the figures of the slow one", func(s *Snapshot) bool { return fine(s, 2) })
	})
}

// Lists that take so long that they are read seldom do not make the figures seldom.
func TestSlowListsAlone(t *testing.T) {
	fakeTime(t, "lists of 40 ms", func(t *testing.T) {
		f := &fake{open: []Inventory{devices("GPU-a", "GPU-b", "GPU-c", "GPU-d")}}
		f.processes = func(int) ([]Process, error) { time.Sleep(40 * time.Millisecond); return nil, nil }
		r := start(t, f, nil)
		r.until(t, "the first", func(s *Snapshot) bool { return fine(s, 3) })
		time.Sleep(20 * time.Second)
		if figures, lists := f.called("metrics 0"), f.called("processes 0"); figures < 19 || lists < 4 || lists > 8 {
			t.Errorf("in 20 s figures were read %d times and lists %d times", figures, lists)
		}
	})
}
