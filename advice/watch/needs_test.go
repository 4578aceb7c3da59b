package watch

import (
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// rank is a process that sees the GPUs through CUDA_VISIBLE_DEVICES.
func rank(pid int, visible string) sampler.Process {
	p := processOf(pid, "python train.py", 30000)
	if visible != "" {
		p.Environment = map[string]string{"CUDA_VISIBLE_DEVICES": visible}
	}
	return p
}

// TestEventOwner: the GPU of a failure is found by pid, else by the CUDA ordinal as the
// process counts it, and left open when it is a guess.
func TestEventOwner(t *testing.T) {
	ordinal := func(n int) sampler.OOMEvent {
		return sampler.OOMEvent{MemoryKind: "gpu", GPUIndex: sampler.Some(n), Requested: sampler.Some(20 * sampler.GiB)}
	}
	byPID := ordinal(0)
	byPID.PID = sampler.Some(12)
	otherSize := ordinal(1)
	otherSize.GPUTotal = sampler.Some(24 * sampler.GiB)
	host := ordinal(0)
	host.MemoryKind = "host"
	for _, row := range []struct {
		name  string
		procs [3][]sampler.Process
		event sampler.OOMEvent
		gpu   int // -1: not known
	}{
		{"pid", [3][]sampler.Process{{rank(11, "")}, {rank(12, "")}, {}}, byPID, 1},
		{"index", [3][]sampler.Process{{rank(11, "")}, {rank(12, "")}, {}}, ordinal(1), 1},
		{"remapped", [3][]sampler.Process{{}, {}, {rank(11, "2")}}, ordinal(0), 2},
		{"remapped list", [3][]sampler.Process{{}, {rank(11, "2,1")}, {rank(12, "2,1")}}, ordinal(1), 1},
		{"two could be meant", [3][]sampler.Process{{}, {rank(11, "1")}, {rank(12, "2")}}, ordinal(0), -1},
		{"another size", [3][]sampler.Process{{rank(11, "")}, {rank(12, "")}, {}}, otherSize, -1},
		{"host memory", [3][]sampler.Process{{rank(11, "")}, {}, {}}, host, -1},
		{"no such GPU", [3][]sampler.Process{{rank(11, "")}, {}, {}}, ordinal(7), -1},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := New(Options{})
			s := sampler.Snapshot{Time: advicetest.Epoch}
			for i, procs := range row.procs {
				s.GPUs = append(s.GPUs, gpuOf(i, 48640, 31000, procs...))
			}
			w.Add(s)
			w.Event(row.event, advicetest.Epoch.Add(time.Second))
			past := w.Past()
			if len(past) != 1 || past[0].Kind != "oom" || past[0].GPU.Or(-1) != row.gpu || past[0].T != 1 {
				t.Fatalf("%+v", past)
			}
			for i := range row.procs {
				fit, ok := w.Fit(s.GPUs[i].Key())
				need, known := fit.Need.Value()
				if !ok || known != (i == row.gpu) || known && (need.Source != NeedRefused || need.Bytes != 20*sampler.GiB) {
					t.Errorf("GPU %d: %+v", i, fit)
				}
			}
		})
	}
}

// TestNeedOrder: what was typed counts before what was refused, and taking it back
// brings the other to light.
func TestNeedOrder(t *testing.T) {
	w := New(Options{Need: sampler.Some(5 * sampler.GiB)})
	w.Add(snapshotOf(0, 48640, 30000, rank(11, "")))
	w.Event(sampler.OOMEvent{MemoryKind: "gpu", Requested: sampler.Some(30 * sampler.GiB)}, advicetest.Epoch)
	source := func() NeedSource {
		f, _ := w.Fit(sampler.GPUKey{ID: "index 0"})
		n, _ := f.Need.Value()
		return n.Source
	}
	if s := source(); s != NeedTyped {
		t.Error(s)
	}
	w.SetNeed(sampler.Opt[sampler.Bytes]{})
	if s := source(); s != NeedRefused {
		t.Error(s)
	}
	// Another command holds the GPU now: what was refused to the first says nothing of it.
	other := rank(12, "")
	other.Command = "python other.py"
	w.Add(snapshotOf(60, 48640, 30000, other))
	w.Add(snapshotOf(120, 48640, 30000, other))
	if s := source(); s != "" {
		t.Error(s)
	}
}

// TestLargestJump: what a process takes and gives back is its need, once it has shown
// it, and is compared with what is free between the jumps.
func TestLargestJump(t *testing.T) {
	w := New(Options{})
	for i := range 400 {
		u := 30000.0
		if i > 100 && i%100 < 10 {
			u = 40000
		}
		w.Add(snapshotOf(float64(i), 48640, u+300, processOf(11, "python train.py", u)))
	}
	f := w.needs.arithmetic(w.find(sampler.GPUKey{ID: "index 0"}), w.clock.Now)
	n, _ := f.Need.Value()
	if n.Source != NeedJump || n.Bytes != 10000*sampler.MiB || n.PID.Or(0) != 11 || f.Short != 0 || f.Near() || f.WorstFree.Or(0) != 18340*sampler.MiB {
		t.Errorf("%+v", f)
	}
}

// Every alert has an ID of its own, which it keeps for as long as it is open; the instances of
// one GPU are told apart.
func TestAlertIDs(t *testing.T) {
	w := New(Options{Need: sampler.Some(5 * sampler.GiB)})
	s := sampler.Snapshot{GPUs: []sampler.GPU{gpuOf(0, 48640, 47000), gpuOf(0, 48640, 47000)}}
	for i := range s.GPUs {
		s.GPUs[i].MIG = &sampler.MIG{Index: i, GPUInstance: 7 + i}
	}
	var first []sampler.Alert
	for i := range 30 {
		s.Time = advicetest.Epoch.Add(time.Duration(i) * time.Second)
		open := w.Add(s)
		if len(first) == 0 {
			first = open
		}
		for k, a := range open {
			if a.ID == "" || a.ID != first[k].ID || s.Find(a.Key) == nil || k > 0 && a.ID == open[k-1].ID {
				t.Fatalf("alert %d: %q, at first %q, key %v", k, a.ID, first[k].ID, a.Key)
			}
		}
	}
	if len(first) != 2 {
		t.Errorf("%d alerts", len(first))
	}
}

// On a GPU that gives nothing any more it is not known what fits, whatever was free a moment ago.
func TestNoFitOnALostGPU(t *testing.T) {
	w := New(Options{Need: sampler.Some(5 * sampler.GiB)})
	for i := range 3 {
		w.Add(snapshotOf(float64(i), 48640, 30000, rank(11, "")))
	}
	fits := func() (bool, bool) {
		f, _ := w.Fit(sampler.GPUKey{ID: "index 0"})
		return f.Fits()
	}
	if yes, known := fits(); !yes || !known {
		t.Error(yes, known)
	}
	s := snapshotOf(3, 48640, 30000)
	s.GPUs[0].Error, s.GPUs[0].Memory = sampler.Some(sampler.ErrLost.Error()), sampler.Memory{}
	w.Add(s)
	if _, known := fits(); known {
		t.Error("it is said to be known")
	}
}
