package demo

import (
	"context"
	"testing"
	"time"

	"nvpeak/sampler"
)

// asked plays a scenario through the loop, requests included.
func asked(t *testing.T, name string, d time.Duration) []*sampler.Snapshot {
	t.Helper()
	clock := sampler.NewScriptClock(morning)
	src, err := New(name, clock)
	if err != nil {
		t.Fatal(err)
	}
	l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock, Asking: src.Asking()})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	clock.Set(morning.Add(7 * time.Millisecond)) // readings are not on the grid of the calls
	l.Simulate(clock, d)
	shots, err := l.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return shots
}

// Requests agree with the curves: what is live and the context are what the driver lists, once a run is whole.
// Each run has one near miss, and dies of a refusal that stays open; who has died is no row.
func TestRequestsOfOOM(t *testing.T) {
	flushes, open, whole := 0, 0, 0
	for _, s := range asked(t, "oom", 5*time.Minute) {
		if s.Door == nil {
			t.Fatal("no door")
		}
		for _, p := range s.GPUs[0].Processes {
			held := p.Memory.Or(0)
			if held == 0 {
				t.Errorf("%v: a row for pid %d, which holds nothing", s.Time, p.PID)
			}
			r := p.Requests
			if r == nil || !r.Whole {
				continue
			}
			whole++
			if context := sampler.Bytes(388 * sampler.MiB); held != r.Live+context && p.PID != 1893 {
				t.Errorf("%v: %v held, %v asked for", s.Time, held, r.Live)
			}
			switch last := r.Refusal; {
			case last == nil:
			case last.Outcome == sampler.RefusalFlush:
				flushes++
			case last.Outcome == sampler.RefusalOpen && last.Tries > 1:
				if free, ok := last.Free.Value(); !ok || free != 208*sampler.MiB || last.Bytes != 1640*sampler.MiB || r.Flushes != 1 {
					t.Errorf("%v: %v refused with %v free, %+v", s.Time, last.Bytes, last.Free, r)
				}
				open++
			}
		}
	}
	if flushes < 3 || open < 3 || whole < 100 {
		t.Errorf("%d snapshots after a near miss, %d after the last refusal, %d of whole runs", flushes, open, whole)
	}
}

// Each rank's requests are on its own GPU, and only some scenarios have any.
func TestRequestsOfTraining(t *testing.T) {
	shots := asked(t, "training", 3*time.Minute)
	last := shots[len(shots)-1]
	for i, g := range last.GPUs {
		if n := len(g.Processes); n != 1 && (i != 3 || n != 2) {
			t.Errorf("GPU %d has %d processes", i, n)
		}
		r := g.Processes[0].Requests
		if r == nil || r.Granted < 500 || r.Refused != 0 || r.Largest != 240*sampler.MiB || g.Processes[0].Peak.Source != sampler.PeakCalls {
			t.Errorf("GPU %d: %+v, peak %+v", i, r, g.Processes[0].Peak)
		}
	}
	src, _ := play(t, "neighbour")
	if src.Asking() != nil {
		t.Error("neighbour has requests")
	}
}

// Who begins to look late has not seen the calls before: no request of then, no peak above what the GPU has had since.
func TestRequestsFromNowOn(t *testing.T) {
	clock := sampler.NewScriptClock(morning)
	src, err := New("training", clock)
	if err != nil {
		t.Fatal(err)
	}
	l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock, Asking: src.Asking()})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	begin := morning.Add(10 * time.Minute)
	clock.Set(begin)
	l.Simulate(clock, 2*time.Second)
	shots, err := l.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shots {
		for _, r := range s.Requests {
			if r.Time.Before(begin.Add(-askEvery)) {
				t.Fatalf("a request of %v before anybody looked", begin.Sub(r.Time))
			}
		}
		for _, g := range s.GPUs {
			for _, p := range g.Processes {
				if p.Peak != nil && p.Peak.Bytes > g.Memory.Peak.Bytes {
					t.Errorf("pid %d had %v (%s), its GPU %v", p.PID, p.Peak.Bytes, p.Peak.Source, g.Memory.Peak.Bytes)
				}
			}
		}
	}
}
