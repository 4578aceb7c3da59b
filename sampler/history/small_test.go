package history

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// TestSmallHistory plays 25 hours in which every figure moves: one of many GPUs takes little, and over the last ten
// minutes it shows what any other does.
func TestSmallHistory(t *testing.T) {
	const interval, gpus = 10 * time.Second, 20
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	s := sampler.Snapshot{}
	for i := range gpus {
		s.GPUs = append(s.GPUs, sampler.GPU{Index: i, UUID: fmt.Sprint("GPU-", i)})
	}
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	played := func(h *History) int {
		before := heap()
		for at := time.Duration(0); at < 25*time.Hour; at += interval {
			s.Time = start.Add(at)
			for i := range s.GPUs {
				g, x := &s.GPUs[i], int(at/interval)*7%83+i
				g.Memory.Used = sampler.Some(sampler.Bytes(x) * sampler.GiB)
				g.Utilization.GPU, g.Temperature, g.Power = sampler.Some(x), sampler.Some(x), sampler.Some(float64(x))
			}
			h.Add(&s)
		}
		return (heap() - before) / gpus
	}
	small, full := NewSmall(interval), New(interval)
	if room := played(small); room > 55<<10 {
		t.Errorf("a small history takes %d KiB per GPU", room>>10)
	}
	if room := played(full); room > 180<<10 || room < 100<<10 {
		t.Errorf("a full history takes %d KiB per GPU", room>>10)
	}
	key := sampler.GPUKey{ID: "GPU-3"}
	for _, name := range []string{"memory.used", "power.draw"} {
		for _, step := range []time.Duration{time.Second, 2 * time.Second, time.Minute} {
			n := int(10 * time.Minute / step)
			if a, b := small.GPU(key).Plot(name).Columns(s.Time, step, n), full.GPU(key).Plot(name).Columns(s.Time, step, n); !slices.Equal(a, b) {
				t.Errorf("%s, %v: %v, want %v", name, step, a, b)
			}
		}
	}
	runtime.KeepAlive(small)
}
