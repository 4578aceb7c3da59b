package history

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"nvpeak/sampler"
)

// An archive gives for any time the history that a monitor would have had then.
func TestArchiveAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 20 {
		archive, at := NewArchive(time.Second), time.Unix(1_700_000_000+rng.Int64N(1e6), 0)
		began := at
		var snaps []*sampler.Snapshot
		for range 3000 {
			at = at.Add(time.Duration(200+rng.IntN(1600)) * time.Millisecond)
			if rng.IntN(700) == 0 {
				at = at.Add(time.Duration(rng.IntN(20000)) * time.Second) // suspended
			}
			used := sampler.Bytes(rng.IntN(1<<20)) * sampler.KiB
			g := sampler.GPU{UUID: "a", Memory: sampler.Memory{Used: sampler.Some(used)}, Processes: []sampler.Process{{PID: 1 + len(snaps)/900, Memory: sampler.Some(used)}}}
			g.Temperature = sampler.Some(rng.IntN(90))
			snaps = append(snaps, &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{g}})
		}
		for _, s := range snaps {
			archive.Add(s)
		}
		cut := rng.IntN(len(snaps))
		want := New(time.Second)
		for _, s := range snaps[:cut+1] {
			want.Add(s)
		}
		got := archive.At(snaps[cut].Time)
		for _, s := range snaps[cut+1 : min(cut+50, len(snaps))] { // and it goes on alike
			want.Add(s)
			got.Add(s)
		}
		end := snaps[min(cut+49, len(snaps)-1)].Time
		for _, span := range []time.Duration{time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
			for _, name := range []string{"memory.used", "temperature.gpu"} {
				same(t, name, got.GPU(sampler.GPUKey{ID: "a"}).Plot(name), want.GPU(sampler.GPUKey{ID: "a"}).Plot(name), end, span)
			}
			same(t, "least", got.GPU(sampler.GPUKey{ID: "a"}).UsedMin, want.GPU(sampler.GPUKey{ID: "a"}).UsedMin, end, span)
			for key, p := range want.procs {
				if q := got.Process(key); q != nil {
					same(t, "process", q.Used, p.Used, end, span)
				} else if end.Sub(p.seen) < 20*time.Hour {
					t.Fatalf("process %d of %v is missing at %v", key.PID, p.seen.Sub(began), end.Sub(began))
				}
			}
		}
	}
}

func same(t *testing.T, what string, got, want *Track, end time.Time, span time.Duration) {
	t.Helper()
	const n = 60
	step := ColumnStep(span, n)
	a, b := got.Columns(end, step, n), want.Columns(end, step, n)
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Fatalf("%s over %v, column %d: %v, want %v", what, span, i, a[i], b[i])
		}
	}
}

// What lies far apart in a file takes no memory in between.
func TestArchiveOfHugeGap(t *testing.T) {
	a := NewArchive(time.Second)
	for _, sec := range []int64{0, 1 << 32, 1 << 33} {
		a.Add(&sampler.Snapshot{Time: time.Unix(sec, 0), GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Used: sampler.Some(sampler.GiB)}}}})
	}
	if n := len(a.h.gpus[sampler.GPUKey{ID: "a"}].UsedMin.all.rings[0].m); n != 3 {
		t.Errorf("%d blocks", n)
	}
	if v := a.At(time.Unix(1<<32, 0)).GPU(sampler.GPUKey{ID: "a"}).Plot("memory.used").Columns(time.Unix(1<<32, 0), time.Second, 2); v[1] != 1024 || v[0] == v[0] {
		t.Errorf("columns %v", v)
	}
}
