package tape

import (
	"fmt"
	"math/rand/v2"
	"time"

	"nvpeak/sampler"
)

var start = time.Date(2026, 11, 20, 14, 3, 22, 123_000_000, time.UTC)

// trace makes the readings and snapshots of a training job on some GPUs: memory moves in
// steps as a caching allocator makes it move, with short spikes; everything else is noisy.
type trace struct {
	rng  *rand.Rand
	gpus int
	used []sampler.Bytes
	back []int // readings until a spike is over
	peak []sampler.Peak
	step int
}

func newTrace(gpus int, seed uint64) *trace {
	t := &trace{rng: rand.New(rand.NewPCG(seed, 1)), gpus: gpus, used: make([]sampler.Bytes, gpus),
		back: make([]int, gpus), peak: make([]sampler.Peak, gpus)}
	for i := range t.used {
		t.used[i] = 9*sampler.GiB + sampler.Bytes(t.rng.IntN(64))*2*sampler.MiB
	}
	return t
}

const total = 80 * sampler.GiB

// second makes one second: 50 sweeps, then the snapshot.
func (t *trace) second(w *Writer) (*sampler.Snapshot, error) {
	windows := make([]sampler.Window, t.gpus)
	var at time.Time
	for n := range 50 {
		at = start.Add(time.Duration(t.step)*time.Second + time.Duration(n)*20*time.Millisecond + time.Duration(t.rng.IntN(900))*time.Microsecond)
		for g := range t.gpus {
			t.move(g)
			if w != nil {
				w.Readings(g, at, t.used[g])
			}
			win := &windows[g]
			if win.Readings == 0 || t.used[g] < win.Min {
				win.Min = t.used[g]
			}
			if t.used[g] > win.Max {
				win.Max, win.MaxTime = t.used[g], at
			}
			win.Readings++
			if t.used[g] > t.peak[g].Bytes {
				t.peak[g] = sampler.Peak{Bytes: t.used[g], Time: at, Source: sampler.PeakSampled}
			}
		}
	}
	t.step++
	s := t.snapshot(start.Add(time.Duration(t.step)*time.Second+time.Duration(t.rng.IntN(3000))*time.Microsecond), windows)
	if w == nil {
		return s, nil
	}
	return s, w.Snapshot(s)
}

// move changes the memory of one GPU every two or three seconds, and lets it spike every ten minutes.
func (t *trace) move(g int) {
	switch {
	case t.back[g] > 0:
		if t.back[g]--; t.back[g] == 0 {
			t.used[g] -= 6 * sampler.GiB
		}
	case t.rng.IntN(30000) == 0:
		t.used[g] += 6 * sampler.GiB
		t.back[g] = 10
	case t.rng.IntN(120) == 0:
		t.used[g] = 9*sampler.GiB + sampler.Bytes(t.rng.IntN(40))*20*sampler.MiB
	}
}

func (t *trace) snapshot(at time.Time, windows []sampler.Window) *sampler.Snapshot {
	s := &sampler.Snapshot{Type: "snapshot", Schema: 1, Time: at, Host: "box7", Driver: "580.159.03", CUDA: "13.0", Alerts: []sampler.Alert{},
		HostMemory: sampler.Some(sampler.HostMemory{Total: 512 * sampler.GiB, Available: 300*sampler.GiB + sampler.Bytes(t.rng.IntN(1<<18))*4096}),
		Sampling:   sampler.Some(sampler.Sampling{PeriodSeconds: 0.02, AskedSeconds: 0.02, DutyPercent: 0.4 + t.rng.Float64()/20})}
	for g := range t.gpus {
		s.GPUs = append(s.GPUs, t.gpu(g, at, &windows[g]))
	}
	return s
}

func (t *trace) gpu(g int, at time.Time, win *sampler.Window) sampler.GPU {
	r := t.rng
	peak := t.peak[g]
	gpu := sampler.GPU{Index: g, UUID: fmt.Sprintf("GPU-%08x-0000-0000-0000-000000000000", g+1), PCI: fmt.Sprintf("00000000:%02X:00.0", g+1),
		Name: "NVIDIA H100 80GB HBM3", ComputeCapability: sampler.Some("9.0"),
		Memory: sampler.Memory{Total: sampler.Some(total), Reserved: sampler.Some(536 * sampler.MiB), Used: sampler.Some(t.used[g]),
			Free: sampler.Some(total - 536*sampler.MiB - t.used[g]), Unattributed: sampler.Some(sampler.Bytes(0)), Window: win, Peak: &peak,
			WorstFree: sampler.Some(total - 536*sampler.MiB - peak.Bytes)},
		Metrics: sampler.Metrics{Temperature: sampler.Some(60 + r.IntN(3)), Power: sampler.Some(600 + float64(r.IntN(60000))/1000),
			PowerLimit: sampler.Some(700.0), PerformanceState: sampler.Some("P0"), Throttle: []string{}, ECCUncorrected: sampler.Some(uint64(0)),
			Utilization: sampler.Utilization{GPU: sampler.Some(95 + r.IntN(6)), Memory: sampler.Some(38 + r.IntN(8)), Encoder: sampler.Some(0), Decoder: sampler.Some(0)},
			Clocks:      sampler.Clocks{SM: sampler.Some(1980 - 15*r.IntN(4)), Memory: sampler.Some(2619)},
			PCIe:        sampler.PCIe{Generation: sampler.Some(5), Width: sampler.Some(16), RX: sampler.Some(uint64(r.IntN(4_000_000)) * 1000), TX: sampler.Some(uint64(r.IntN(400_000)) * 1000)}}}
	proc := peak
	gpu.Processes = []sampler.Process{{PID: 4242 + g, StartTime: sampler.Some(start.Add(-time.Hour)), User: "ann", Name: "python",
		Command: "python train.py --batch-size 64", Type: "compute", Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1"},
		Memory: sampler.Some(t.used[g]), Peak: &proc, SM: sampler.Some(90 + r.IntN(10)), HostMemory: sampler.Some(8 * sampler.GiB),
		CPU: sampler.Some(95 + r.Float64()*10), Framework: sampler.Some("pytorch"), Visible: true}}
	return gpu
}
