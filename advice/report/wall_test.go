package report

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// Times are told as the clock stood at each of them; spans are not changed by a clock that is set.
func TestByWall(t *testing.T) {
	r := New(Options{Outline: true})
	for i, ahead := range []time.Duration{0, 0, time.Hour, time.Hour, -time.Minute} {
		used := gibs
		if i == 2 {
			used = 30 * gibs
		}
		r.Snapshot(card(float64(i), 48*gibs, used, job(7, used)).WithAhead(ahead))
		r.Event(Event{Time: r.at, Kind: "xid"})
	}
	if sets := r.ClockSets(); len(sets) != 2 || sets[0].Ahead != time.Hour || !sets[1].At.Equal(r.start.Add(4*time.Second)) {
		t.Errorf("%+v", sets)
	}
	out := r.Report()
	after := func(at time.Time) time.Duration { return at.Sub(r.start) }
	if after(out.Start.Time) != 0 || after(out.End.Time) != 4*time.Second-time.Minute || out.Duration != 4 {
		t.Errorf("from %v to %v, %v s", after(out.Start.Time), after(out.End.Time), out.Duration)
	}
	if g, p := out.GPUs[0].Peak, out.Processes[0].Peak; after(g.Time) != time.Hour+2*time.Second || after(p.Time) != time.Hour+2*time.Second || g.T != 2 || p.T != 2 {
		t.Errorf("peaks %v at %v, %v at %v", after(g.Time), g.T, after(p.Time), p.T)
	}
	for i, want := range []time.Duration{0, time.Second, time.Hour + 2*time.Second, time.Hour + 3*time.Second, 4*time.Second - time.Minute} {
		if e := out.Events[i]; after(e.Time) != want || e.T != float64(i) {
			t.Errorf("event %d at %v, %v s", i, after(e.Time), e.T)
		}
	}
}

// A report without a peak and with a clock that was set is told all the same.
func TestByWallWithoutPeak(t *testing.T) {
	r := New(Options{Outline: true})
	r.Snapshot((&sampler.Snapshot{Time: time.Unix(1000, 0), GPUs: []sampler.GPU{{}}}).WithAhead(time.Hour))
	if out := r.Report(); out.GPUs[0].Peak != nil || !out.End.Equal(r.start.Add(time.Hour)) {
		t.Errorf("%+v", out)
	}
}
