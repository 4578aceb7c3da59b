package watch

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// box makes the snapshots of a machine with many GPUs and processes: flat ones,
// saw-teeth and a few leaks.
func box(gpus, procs int, second int) sampler.Snapshot {
	t := float64(second)
	snap := sampler.Snapshot{Type: "snapshot", Time: advicetest.Epoch.Add(time.Duration(second) * time.Second)}
	for g := range gpus {
		gpu := sampler.GPU{Index: g, UUID: fmt.Sprintf("GPU-%08d-0000-0000-0000-000000000000", g)}
		gpu.Processes = make([]sampler.Process, procs)
		sum := 0.0
		for p := range procs {
			m := 1500.0
			switch p % 4 {
			case 1:
				m += 300 * math.Sin(t/3+float64(p))
			case 2:
				m += float64((second+p*7)%60) * 5
			case 3:
				m += min(900, 0.01*t*float64(p%5))
			}
			sum += m
			gpu.Processes[p] = sampler.Process{PID: 1000 + 64*p + g, Name: "python", User: "ann", Command: "python train.py",
				StartTime: sampler.Some(advicetest.Epoch.Add(-time.Hour)), Memory: sampler.Some(series.Bytes(m)), Visible: true}
		}
		used := series.Bytes(sum + 300)
		gpu.Memory = sampler.Memory{Total: sampler.Some(81920 * sampler.MiB), Used: sampler.Some(used), Reserved: sampler.Some(500 * sampler.MiB),
			Free: sampler.Some(81420*sampler.MiB - used), Unattributed: sampler.Some(300 * sampler.MiB),
			Window: &sampler.Window{Min: used - 20*sampler.MiB, Max: used + 20*sampler.MiB, Readings: 50}}
		snap.GPUs = append(snap.GPUs, gpu)
	}
	return snap
}

// BenchmarkAdd64x32 is the largest box there is: at most 0.5 ms for each snapshot.
func BenchmarkAdd64x32(b *testing.B) {
	var snaps []sampler.Snapshot
	for i := range 120 {
		snaps = append(snaps, box(64, 32, i))
	}
	w := New(Options{})
	n := 0
	for b.Loop() {
		s := snaps[n%len(snaps)]
		s.Time = advicetest.Epoch.Add(time.Duration(n) * time.Second)
		w.Add(s)
		n++
	}
}

// BenchmarkAdd1 is one GPU with one process.
func BenchmarkAdd1(b *testing.B) {
	w := New(Options{})
	s := box(1, 1, 0)
	n := 0
	for b.Loop() {
		s.Time = advicetest.Epoch.Add(time.Duration(n) * time.Second)
		w.Add(s)
		n++
	}
}

// TestDaySoak adds a day at one snapshot a second: it takes seconds, and the memory in
// use at the end is what it was after the first hour.
func TestDaySoak(t *testing.T) {
	if testing.Short() {
		t.Skip("a day takes seconds")
	}
	w := New(Options{Need: sampler.Some(70 * sampler.GiB)})
	began := time.Now()
	var early uint64
	for i := range 24 * 3600 {
		w.Add(box(2, 4, i))
		if i == 3600 {
			early = heap()
		}
	}
	if late := heap(); late > early+early/4+1<<20 {
		t.Errorf("%d KiB after an hour, %d KiB after a day", early>>10, late>>10)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a day took %v", took)
	}
	runtime.KeepAlive(w)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkAddInTrouble is the largest box with a leak on each GPU and a need that fits
// on none.
func BenchmarkAddInTrouble(b *testing.B) {
	w := New(Options{Need: sampler.Some(60 * sampler.GiB)})
	at := func(n int) sampler.Snapshot {
		s := box(64, 32, n)
		for g := range s.GPUs {
			grown := sampler.Bytes(n) * 4 * sampler.MiB
			s.GPUs[g].Processes[0].Memory = sampler.Some(1500*sampler.MiB + grown)
			m := &s.GPUs[g].Memory
			m.Used, m.Free, m.Window = sampler.Some(m.Used.Or(0)+grown), sampler.Some(m.Free.Or(0)-grown), nil
		}
		return s
	}
	for n := range 7000 {
		w.Add(at(n))
	}
	if n := len(w.lastAlert); n < 128 {
		b.Fatalf("%d alerts", n)
	}
	var snaps []sampler.Snapshot
	for n := range 100 {
		snaps = append(snaps, at(7000+n))
	}
	n := 0
	for b.Loop() {
		s := snaps[n%len(snaps)]
		s.Time = advicetest.Epoch.Add(time.Duration(7000+n) * time.Second)
		w.Add(s)
		n++
	}
}
