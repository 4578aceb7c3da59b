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
	for _, tier := range a.h.gpus[sampler.GPUKey{ID: "a"}].UsedMin.all.rings {
		if len(tier.values) != 3 || len(tier.list) != 3 {
			t.Errorf("%d values in %d runs", len(tier.values), len(tier.list))
		}
	}
	if v := a.At(time.Unix(1<<32, 0)).GPU(sampler.GPUKey{ID: "a"}).Plot("memory.used").Columns(time.Unix(1<<32, 0), time.Second, 2); v[1] != 1024 || v[0] == v[0] {
		t.Errorf("columns %v", v)
	}
}

// A reading that stands for hours takes no more room than one that stands for a second, and
// what comes at the same second as it raises that second alone.
func TestArchiveOfSlowReadings(t *testing.T) {
	a := NewArchive(time.Hour)
	used := func(sec int64, n sampler.Bytes) {
		a.Add(&sampler.Snapshot{Time: time.Unix(sec, 0), GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Used: sampler.Some(n * sampler.GiB)}}}})
	}
	const hours = 1000
	for h := range int64(hours) {
		used(h*3600, 1)
	}
	used((hours-1)*3600, 2)
	gpu := sampler.GPUKey{ID: "a"}
	if n := len(a.h.gpus[gpu].plots["memory.used"].all.rings[0].values); n > hours+1 {
		t.Errorf("%d values", n)
	}
	end := time.Unix((hours-1)*3600, 0)
	if v := a.At(end).GPU(gpu).Plot("memory.used").Columns(end, time.Second, 3); v[0] != 1024 || v[1] != 1024 || v[2] != 2048 {
		t.Errorf("columns %v", v)
	}
}

// Nanoseconds end in the year 2262; recordings need not.
func TestArchiveOfYear9999(t *testing.T) {
	a := NewArchive(time.Second)
	at := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for _, t := range []time.Time{time.Unix(1e9, 0), at} {
		a.Add(&sampler.Snapshot{Time: t, GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Used: sampler.Some(sampler.GiB)}}}})
	}
	v := a.At(at).GPU(sampler.GPUKey{ID: "a"}).Plot("memory.used").Columns(at, time.Second, 2)
	if v[1] != 1024 || v[0] == v[0] {
		t.Errorf("columns %v", v)
	}
}

// A recording that is too long for every second is kept by ten seconds: a plot has its shape still.
func TestArchiveCoarsens(t *testing.T) {
	a := NewArchive(time.Second)
	gpu := sampler.GPUKey{ID: "a"}
	end := time.Unix(999, 0)
	for sec := range int64(1000) {
		a.Add(&sampler.Snapshot{Time: time.Unix(sec, 0), GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Used: sampler.Some(sampler.Bytes(sec/10) * sampler.MiB)}}}})
	}
	a.h.finest = 1
	a.h.each(func(u *unbounded) { u.coarsen(1) })
	v := a.At(end).GPU(gpu).Plot("memory.used").Columns(end, 10*time.Second, 5)
	for i, want := range []float64{95, 96, 97, 98, 99} {
		if v[i] != want {
			t.Errorf("columns %v", v)
			break
		}
	}
}

// The room of an archive is that of its values and of its runs.
func TestRoom(t *testing.T) {
	var u unbounded
	if u.room() != 0 {
		t.Errorf("nothing takes %d bytes", u.room())
	}
	for i := range 3 {
		u.rings[i].values, u.rings[i].list = make([]float32, 0, 10), make([]run, 0, 2)
	}
	if u.room() != 3*(40+48) {
		t.Errorf("30 values in 6 runs take %d bytes", u.room())
	}
}

// A figure that is another one each second is one run of values.
func TestRunOfValues(t *testing.T) {
	var r runs
	for n := range int64(100) {
		r.put(n, n, float32(n%7), false)
	}
	if len(r.list) != 1 || len(r.values) != 100 {
		t.Errorf("%d runs of %d values", len(r.list), len(r.values))
	}
	r.put(100, 200, 5, false) // one that stands is a run of its own
	r.put(201, 201, 6, false)
	if len(r.list) != 3 || len(r.values) != 102 {
		t.Errorf("%d runs of %d values", len(r.list), len(r.values))
	}
}
