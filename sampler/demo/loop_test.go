package demo

import (
	"context"
	"testing"
	"time"

	"nvpeak/sampler"
)

// TestThroughTheLoop plays stories through the real loop, as the monitor does: what a
// snapshot calls the peak must be the largest value that the script had up to then.
func TestThroughTheLoop(t *testing.T) {
	const minutes = 2
	for _, sc := range Scenarios() {
		clock := sampler.NewScriptClock(morning)
		src, err := New(sc.Name, clock)
		if err != nil {
			t.Fatal(err)
		}
		l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock})
		if err := l.Connect(context.Background()); err != nil {
			t.Fatal(err)
		}
		l.Simulate(clock, minutes*time.Minute)
		shots, err := l.Next(context.Background())
		if err != nil || len(shots) == 0 {
			t.Fatalf("%s: %d snapshots, %v", sc.Name, len(shots), err)
		}
		last := shots[len(shots)-1]
		if last.Host != "box7" || last.Driver != "580.159.03" || last.CUDA != "13.0" {
			t.Errorf("%s: snapshot of %q, driver %q, CUDA %q", sc.Name, last.Host, last.Driver, last.CUDA)
		}
		other, h := play(t, sc.Name)
		for dev, g := range last.GPUs {
			if dev%9 != 0 && dev > 8 {
				continue // of 64 alike a few will do
			}
			want := highestUsed(t, other, h, dev, 0, last.Time.Sub(morning).Seconds()-0.5, period)
			p := g.Memory.Peak
			if p == nil || p.Bytes < want || g.Error.Known() {
				t.Errorf("%s: peak of GPU %d is %+v, %v in the script, error %v", sc.Name, dev, p, want, g.Error)
				continue
			}
			h.t = p.Time
			if u := used(t, other, dev); u != p.Bytes {
				t.Errorf("%s: GPU %d had %v at the moment of its peak of %v", sc.Name, dev, u, p.Bytes)
			}
		}
	}
}
