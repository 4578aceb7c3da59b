package watch

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// TestRisenOwner: a spike between two process lists is of the process that the window names, not of the largest.
func TestRisenOwner(t *testing.T) {
	w, at := New(Options{}), time.Unix(1_700_000_000, 0)
	for i := range 30 {
		now := at.Add(time.Duration(i) * time.Second)
		used := 42 * sampler.GiB
		m := sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(38 * sampler.GiB), Window: &sampler.Window{Min: used, Max: used, MaxTime: now, Readings: 50}}
		if i == 20 {
			m.Window.Max, m.Window.Rise, m.Window.RiseTime, m.Window.RisePID = used+10*sampler.GiB, sampler.Some(10*sampler.GiB), sampler.Some(now), sampler.Some(2)
		}
		w.Add(sampler.Snapshot{Time: now, GPUs: []sampler.GPU{{UUID: "a", Memory: m, Processes: []sampler.Process{
			{PID: 1, Memory: sampler.Some(40 * sampler.GiB)}, {PID: 2, Memory: sampler.Some(2 * sampler.GiB)}}}}})
	}
	for _, p := range w.gpus[0].procs {
		if want := map[int]float64{1: 40 * 1024, 2: 12 * 1024}[p.pid]; p.series.Peak != want {
			t.Errorf("process %d has a peak of %v MiB, want %v", p.pid, p.series.Peak, want)
		}
	}
}
