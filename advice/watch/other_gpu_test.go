package watch

import (
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// firstFix is what comes first of what is advised for a need on GPU 0 after some seconds of a machine, and all of it.
func firstFix(w *Watch, from int, change func(*sampler.Snapshot), used ...float64) (fix sampler.Advice, all []sampler.Advice) {
	for i := range 70 {
		s := boxOf(float64(from+i), used...)
		change(&s)
		w.Add(s)
	}
	for _, a := range w.Open() {
		if a.Kind == sampler.AlertNeed && a.GPU.Or(-1) == 0 && len(a.Advice) > 0 {
			return a.Advice[0], a.Advice
		}
	}
	return fix, nil
}

// Where a need does not fit on a GPU and fits on another one, to run there comes first: on one that nobody uses, else on the one
// with most room. It is said only as long as it is so.
func TestNeedFitsElsewhere(t *testing.T) {
	none := func(*sampler.Snapshot) {}
	need := Options{Need: sampler.Some(30 * sampler.GiB)}
	w := New(need)
	fix, all := firstFix(w, 0, none, 70, 40, 20, 45)
	if fix.ID != explain.FixOtherGPU || fix.Title != "Run it on GPU 2" || len(fix.Do) != 1 || !strings.Contains(fix.Do[0], " CUDA_VISIBLE_DEVICES=2 ") || len(all) > maxFixes+laterFixes || all[1].Rank != 2 {
		t.Errorf("%+v", all)
	}
	fix, _ = firstFix(w, 70, none, 70, 40, 20, 45)
	if fix.Title != "Run it on GPU 2" {
		t.Errorf("a minute later: %+v", fix)
	}
	fix, _ = firstFix(w, 140, none, 70, 40, 75, 45)
	if fix.Title != "Run it on GPU 1" {
		t.Errorf("that one is used: %+v", fix)
	}
	if fix, all = firstFix(w, 210, none, 70, 60, 75, 60); len(all) == 0 || fix.ID == explain.FixOtherGPU || all[0].Rank != 1 {
		t.Errorf("nowhere: %+v", all)
	}
	if fix, _ = firstFix(New(need), 0, none, 70, 40, 3, 1); fix.Title != "Run it on GPU 2" {
		t.Errorf("nobody uses these: %+v", fix)
	}
	spiking := func(s *sampler.Snapshot) {
		for i := range s.GPUs {
			s.GPUs[i].Memory.WorstFree = sampler.Some(10 * sampler.GiB)
		}
	}
	if fix, _ = firstFix(New(need), 0, spiking, 70, 20); fix.ID == explain.FixOtherGPU {
		t.Errorf("its peaks leave no room: %+v", fix)
	}
	if fix, _ = firstFix(New(need), 0, spiking, 70, 20, 1); fix.Title != "Run it on GPU 2" {
		t.Errorf("what peaked there has ended: %+v", fix)
	}
	away := func(s *sampler.Snapshot) { s.GPUs[2].Host = "other" }
	if fix, _ = firstFix(New(need), 0, away, 70, 60, 20); fix.ID == explain.FixOtherGPU {
		t.Errorf("on another machine: %+v", fix)
	}
}

// migBox is a GPU that is split into two MIG instances, and one beside it.
func migBox(seconds float64, whole, first, second, beside float64) sampler.Snapshot {
	s := boxOf(seconds, whole, first, second, beside)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		g.Index, g.UUID = i/3, []string{"GPU-a", "MIG-a", "MIG-b", "GPU-b"}[i]
		if i == 1 || i == 2 {
			g.MIG = &sampler.MIG{Index: i - 1, ParentUUID: "GPU-a", GPUInstance: i}
			g.Memory.Total = sampler.Some(40 * sampler.GiB)
			g.Memory.Free = sampler.Some((40 * sampler.GiB).Less(g.Memory.Used.Or(0)))
		}
	}
	return s
}

// A GPU that is split into MIG instances has no room for anybody, however much of it is free, and no need is short on it.
func TestSplitGPUHasNoRoom(t *testing.T) {
	for _, need := range []sampler.Bytes{50, 90} {
		w := New(Options{Need: sampler.Some(need * sampler.GiB)})
		var open []sampler.Alert
		for i := range 70 {
			open = w.Add(migBox(float64(i), 14, 12, 2, 33))
		}
		if len(open) != 3 {
			t.Errorf("%v GiB: %d alerts", need, len(open))
		}
		for _, a := range open {
			if a.Key.ID == "GPU-a" {
				t.Errorf("%v GiB: of all of the GPU: %s", need, a.Text)
			}
			if text := strings.Join(a.Evidence, "; "); strings.Contains(text, "has room") {
				t.Errorf("%v GiB: %s; %s", need, a.Text, text)
			}
		}
		if f, ok := w.Fit(sampler.GPUKey{ID: "GPU-a"}); !ok || f.Need.Known() {
			t.Errorf("%v GiB: it is compared with all of the GPU", need)
		}
	}
}

// Who asks for a need that was typed is most likely the job of the GPU: it needs room for what it holds at its peaks, too, a rank of several is not
// told to go alone, and of what has only begun nobody knows how much it will hold.
func TestElsewhereIsForTheJob(t *testing.T) {
	for name, row := range map[string]struct {
		ranks   int     // on GPUs 0, 1 …
		free    float64 // GiB of GPU 2
		minutes int
		want    bool
	}{
		"room for all of it":    {1, 72, 3, true},
		"room for the need":     {1, 60, 3, false},
		"one of two ranks":      {2, 72, 3, false},
		"what has only begun":   {1, 72, 0, false},
		"and goes on from then": {1, 72, 2, true},
	} {
		w := New(Options{Need: sampler.Some(30 * sampler.GiB)})
		var last sampler.Alert
		for i := range 60*row.minutes + 8 {
			s := boxOf(float64(i), 55, 55, 80-row.free)
			held := 30 + 10*min(float64(i)/20, 1) // it comes up to 40 GiB
			for rank := range row.ranks {
				s.GPUs[rank].Processes = []sampler.Process{processOf(7+rank, "python train.py", held*inMiB)}
			}
			for _, a := range w.Add(s) {
				if a.Kind == sampler.AlertNeed && a.GPU.Or(-1) == 0 {
					last = a
				}
			}
		}
		if len(last.Advice) == 0 || (last.Advice[0].ID == explain.FixOtherGPU) != row.want {
			t.Errorf("%s: %+v", name, last.Advice)
		}
		if text := strings.Join(last.Evidence, "; "); !strings.Contains(text, "GPU 2 has room for 30.0 GiB: ") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// As a job ends the need fits where it was: nobody has to go elsewhere for what was short a moment ago.
func TestNobodyGoesWhereItFitsHere(t *testing.T) {
	w := New(Options{Need: sampler.Some(30 * sampler.GiB)})
	for i := range 150 {
		s := boxOf(float64(i), 70, 1)
		s.GPUs[0].Processes = []sampler.Process{processOf(7, "python train.py", 70*inMiB)}
		if i >= 120 {
			s = boxOf(float64(i), 1, 1)
		}
		for _, a := range w.Add(s) {
			if i > 120 && len(a.Advice) > 0 && a.Advice[0].ID == explain.FixOtherGPU {
				t.Fatalf("%d s: %s: %s", i, a.Text, a.Advice[0].Title)
			}
		}
	}
}
