package sampler

import (
	"context"
	"slices"
	"testing"
	"time"
)

// lane is a memory poller with one worker for one GPU that answers with an error, or well.
func lane(err error) (*poller, *worker) {
	f := &fake{memory: func(int) (Reading, error) { return reading(9 * GiB), err }}
	p := newPoller(f, Options{}.defaults())
	p.c.adopt(devices("GPU-0"))
	p.pick, p.reported = []int{0}, make([]Opt[Bytes], 1)
	g := newGroup(context.Background(), func(error) {}, p.c.failed)
	return &p, &worker{group: g, kind: callMemory, limit: time.Minute, dev: -1}
}

// A device is asked outside of the sweep when its time has come; only a connection that is
// lost and a worker that was given up end the worker.
func TestMemoryLaneGoesOn(t *testing.T) {
	for name, row := range map[string]struct {
		err                  error
		prepare              func(*poller, *worker)
		ok, alive, sweepGoes bool
		asked                int // by both
	}{
		"it answers":              {nil, func(*poller, *worker) {}, true, true, true, 2},
		"it does not for now":     {ErrTransient, func(*poller, *worker) {}, false, true, true, 2},
		"it is lost":              {ErrLost, func(*poller, *worker) {}, false, true, true, 1},
		"the connection is lost":  {ErrReconnect, func(*poller, *worker) {}, false, false, false, 2},
		"a call hangs":            {nil, func(_ *poller, w *worker) { w.group.hung[hangKey{callMemory, 0}] = true }, false, true, true, 0},
		"the worker was given up": {nil, func(_ *poller, w *worker) { w.abandoned = true }, false, true, true, 0},
		"it is too early": {nil, func(p *poller, _ *worker) { p.c.reading(0, p.opt.Clock.Now(), Reading{}, ErrLost) },
			false, true, true, 0},
	} {
		p, w := lane(row.err)
		row.prepare(p, w)
		if ok, alive := p.askMemory(w, 0); ok != row.ok || alive != row.alive {
			t.Errorf("%s: answered %v, goes on %v", name, ok, alive)
		}
		if goes := p.sweep(w, newRateLimiter(ms(20), 1), make([]time.Time, 1)); goes != row.sweepGoes {
			t.Errorf("%s: the sweep goes on %v", name, goes)
		}
		if asked := p.src.(*fake).called("memory 0"); asked != row.asked {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
}

// A worker that is given up during a call ends with it.
func TestMemoryLaneEndsWhenGivenUp(t *testing.T) {
	p, w := lane(nil)
	p.src.(*fake).memory = func(int) (Reading, error) { w.abandoned = true; return reading(0), nil }
	if ok, alive := p.askMemory(w, 0); ok || alive {
		t.Errorf("answered %v, goes on %v", ok, alive)
	}
	w.abandoned = false
	if p.sweep(w, newRateLimiter(ms(20), 1), make([]time.Time, 1)) {
		t.Error("the sweep goes on")
	}
	if p.c.gpus[0].win.Readings != 0 {
		t.Error("what it brought is told")
	}
}

// Only a source that sweeps every device is left to sweep.
func TestSweeperForAll(t *testing.T) {
	p, _ := lane(nil)
	if sw, _ := p.sweeper(); sw != nil {
		t.Error("a source without sweeps is a sweeper")
	}
	p.src = sweeping{p.src.(*fake)}
	if sw, failing := p.sweeper(); sw == nil || failing[0] {
		t.Error("a source that sweeps all is none")
	}
	p.src = halfSweeping{sweeping{&fake{}}}
	p.pick = []int{0, 1}
	if sw, _ := p.sweeper(); sw != nil {
		t.Error("a source that does not sweep all is one")
	}
}

type halfSweeping struct{ sweeping }

func (halfSweeping) CanSweep(dev int) Sweepable {
	return []Sweepable{SweepNow, SweepNever}[min(dev, 1)]
}

// Who wants readings gets each that is known and another than the one before, of any device.
func TestReadingsAreReported(t *testing.T) {
	p, _ := lane(nil)
	p.report(0, noon, Some(GiB)) // nobody wants it
	p.reported = nil
	var got []Bytes
	p.opt.Readings = func(dev int, _ time.Time, used Bytes) { got = append(got, Bytes(dev), used) }
	for _, r := range []struct {
		dev  int
		used Opt[Bytes]
	}{{1, Some(GiB)}, {1, Some(GiB)}, {1, Opt[Bytes]{}}, {1, Some(2 * GiB)}, {0, Some(GiB)}, {1, Some(2 * GiB)}, {2, Opt[Bytes]{}}} {
		p.report(r.dev, noon, r.used)
	}
	if want := []Bytes{1, GiB, 1, 2 * GiB, 0, GiB}; !slices.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
}
