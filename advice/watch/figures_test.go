package watch

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// The figures of one alert are of one reckoning: what the process has, what another one keeps and what will be free are no more than
// there is, also while the other one still grows, and to stop that frees what it is said to keep.
func TestSpikeFiguresAddUp(t *testing.T) {
	w, seen, grew := New(Options{}), 0, false
	for _, s := range demoOf(t, "neighbour", 12*time.Minute) {
		for _, a := range w.Add(*s) {
			g := s.Find(a.Key)
			if a.Kind != sampler.AlertRepeatSpike || g == nil || len(g.Processes) < 2 {
				continue
			}
			held, free := a.Numbers["top_bytes"]-a.Numbers["need_bytes"], a.Numbers["free_bytes"]
			for _, fix := range a.Advice {
				if pid, stops := fix.PID.Value(); stops {
					seen++
					frees := float64(fix.Saves.Or(sampler.Range{}).High)
					if sum, usable := held+frees+free, float64(g.Memory.Usable()); sum > usable+float64(sampler.GiB)/20 {
						t.Errorf("%v: %.1f held + %.1f of pid %d + %.1f free of %.1f GiB: %s; %s", s.Time, held/(1<<30), frees/(1<<30), pid, free/(1<<30), usable/(1<<30), a.Text, a.Evidence)
					}
					for _, p := range g.Processes {
						grew = grew || p.PID == pid && float64(p.Memory.Or(0)) > frees+float64(sampler.GiB)
					}
				}
			}
		}
	}
	if seen < 20 || !grew {
		t.Errorf("seen %d times, grew: %v", seen, grew)
	}
}
