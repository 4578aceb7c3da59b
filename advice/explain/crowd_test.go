package explain

import (
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// onCard is a failure in a process of 15000 MiB on a GPU of 16000, of which 200 are free.
func onCard(change func(*Incident, *sampler.OOMEvent)) *failure {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Requested: mibs(300), GPUTotal: mibs(16000), GPUFree: mibs(200)}
	in := Incident{Command: "python train.py"}
	change(&in, &e)
	in.Events = []sampler.OOMEvent{e}
	return newFailure(in, e, lang.English())
}

// Other ranks are told by their size: two contexts or more, of 150 MiB to 2 GiB and about the same, or processes from half to
// twice the own one, seen by another rank than the first.
func TestCrowdedRanks(t *testing.T) {
	for name, row := range map[string]struct {
		rank   int // -1: not known
		own    float64
		others []float64
		want   int
	}{
		"contexts":                {0, 9000, []float64{500, 600}, 2},
		"one":                     {0, 9000, []float64{500}, 0},
		"no ranks":                {-1, 9000, []float64{500, 600}, 0},
		"the least contexts":      {0, 9000, []float64{150, 160}, 2},
		"less":                    {0, 9000, []float64{149, 160}, 0},
		"the largest contexts":    {0, 9000, []float64{2000, 2048}, 2},
		"larger":                  {0, 9000, []float64{2000, 2049}, 0},
		"about the same":          {0, 9000, []float64{500, 800}, 2},
		"not the same":            {0, 9000, []float64{500, 801}, 0},
		"half the own":            {1, 8000, []float64{4000, 4001}, 0},
		"more than half":          {1, 8000, []float64{4001, 4001}, 2},
		"twice the own":           {1, 3000, []float64{5000, 6000}, 0},
		"less than twice":         {1, 3000, []float64{5000, 5999}, 2},
		"of the first rank":       {0, 3000, []float64{5000, 5999}, 0},
		"the own size is unknown": {1, 0, []float64{5000, 5999}, 0},
	} {
		f := onCard(func(_ *Incident, e *sampler.OOMEvent) {
			if row.rank >= 0 {
				e.Rank = sampler.Some(row.rank)
			}
			if row.own > 0 {
				e.ProcessInUse = mibs(row.own)
			}
			e.OtherProcesses = others(row.others...)
		})
		if got := f.crowdedRanks(); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// little: the process is found, though less than its allocator holds is no size of it.
const little = -1

// In a container the failing process is found among those that the driver names by what its allocator holds: from 64 MiB
// below it to 2.5 GiB above, or more than others can have beside it.
func TestOwnProcessIsFoundBySize(t *testing.T) {
	for name, row := range map[string]struct {
		reserved float64
		others   []float64
		free     float64 // -1: not known
		own      float64 // 0: not found
	}{
		"at its allocator":    {8000, []float64{3000, 8000}, 200, 8000},
		"a little below":      {8000, []float64{3000, 7936}, 200, little},
		"below":               {8000, []float64{3000, 7935}, 200, 0},
		"with much beside it": {6000, []float64{8560}, -1, 8560},
		"with more":           {6000, []float64{8561}, -1, 0},
		"the larger of two":   {6000, []float64{7000, 8000}, -1, 8000},
		"of three":            {6000, []float64{7000, 8000, 6500}, -1, 8000},
		"alone by its size":   {6000, []float64{10313}, 200, 10313},
		"not alone":           {6000, []float64{10312}, 200, 0},
	} {
		f := onCard(func(_ *Incident, e *sampler.OOMEvent) {
			e.Allocated, e.ReservedUnallocated, e.OtherProcesses = mibs(row.reserved-100), mibs(100), others(row.others...)
			if e.GPUFree = mibs(row.free); row.free < 0 {
				e.GPUFree = amount{}
			}
		})
		if got := f.process.Or(0).MiB(); got != max(0, row.own) {
			t.Errorf("%s: %v MiB, want %v", name, got, row.own)
		}
		want := len(row.others)
		if row.own != 0 {
			want--
		}
		if len(f.others) != want {
			t.Errorf("%s: %d others, want %d", name, len(f.others), want)
		}
	}
}

// What a recording lists of a GPU holds the failing process where nothing tells them apart but size.
func TestOwnProcessIsTakenFromTheRecording(t *testing.T) {
	for name, row := range map[string]struct {
		reserved float64
		others   []float64
		own      float64
	}{
		"at its allocator":    {8000, []float64{3000, 8000}, 8000},
		"a little below":      {8000, []float64{3000, 7936}, little},
		"below":               {8000, []float64{3000, 7935}, 0},
		"with much beside it": {6000, []float64{8560}, 8560},
		"with more":           {6000, []float64{8561}, 0},
		"the larger of two":   {6000, []float64{7000, 8000, 6500}, 8000},
		"no size is known":    {0, []float64{7000}, 0},
	} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			if row.reserved > 0 {
				e.Allocated, e.ReservedUnallocated = mibs(row.reserved-100), mibs(100)
			}
			h := &History{Mixed: true}
			for i, b := range amounts(row.others...) {
				h.Others = append(h.Others, Neighbor{PID: i + 1, Bytes: b})
			}
			in.History = h
		})
		if got := f.process.Or(0).MiB(); got != max(0, row.own) || f.mixed == (row.own != 0) {
			t.Errorf("%s: %v MiB, want %v; mixed %v", name, got, row.own, f.mixed)
		}
	}
}

// What grew is unallocated when the request would fit into it and what is free, and the peaks rose by no more.
func TestGrewUnallocated(t *testing.T) {
	for name, row := range map[string]struct {
		unallocated, need, free float64
		peaks                   []float64
		want                    bool
	}{
		"all of it":         {2000, 2200, 200, []float64{12000, 14000}, true},
		"asks for more":     {2000, 2201, 200, []float64{12000, 14000}, false},
		"rose by more":      {2000, 2200, 200, []float64{11999, 14000}, false},
		"fell":              {2000, 2200, 200, []float64{14000, 13000}, true},
		"one peak":          {2000, 2200, 200, []float64{14000}, false},
		"none":              {2000, 2200, 200, nil, false},
		"asks for nothing":  {2000, 0, 200, []float64{12000, 14000}, false},
		"nothing is there":  {0, 200, 200, []float64{14000, 14000}, false},
		"a small share":     {700, 800, 200, []float64{14000, 14000}, false},
		"a twentieth of it": {800, 900, 200, []float64{14000, 14000}, true},
	} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			e.Requested, e.GPUFree = mibs(row.need), mibs(row.free)
			e.Allocated, e.ReservedUnallocated = mibs(15000-row.unallocated), mibs(row.unallocated)
			in.History = &History{Peaks: amounts(row.peaks...)}
		})
		if got := f.grewUnallocated(); got != row.want {
			t.Errorf("%s: %v (share %v)", name, got, f.unallocatedShare())
		}
	}
}

// Other processes with the same command are copies that have loaded a model each, unless they hold no more than a context: then they are
// ranks that work on GPUs of their own.
func TestCopiesHoldMoreThanContexts(t *testing.T) {
	for most, want := range map[float64]string{482: CauseImbalance, 700: CauseImbalance, 701: CauseOtherProcess, 3000: CauseOtherProcess} {
		e := pytorch(gibs(0.15), gibs(31.4), gibs(0.1))
		e.Text, e.Context = "CUDA out of memory.", &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(593), Functions: []string{"main", "step"}, Command: "python train.py", Environment: map[string]string{}}
		h := &History{Total: gibs(31.4), Free: gibs(0.1), Peaks: amounts(28000, 28000, 28000, 28000)}
		for i := range 7 {
			b := 482.0
			if i == 3 {
				b = most
			}
			h.Others = append(h.Others, Neighbor{PID: 10 + i, Bytes: mibs(b).Or(0), Name: "python", Command: "python train.py", Same: true})
		}
		own := 31.3*1024 - 6*482 - most
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = mibs(own-900), mibs(400), mibs(own)
		if got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "python train.py"}); got.Causes[0].ID != want {
			t.Errorf("one holds %v MiB: %s, want %s: %v", most, got.Causes[0].ID, want, got.Causes[0].Evidence)
		}
	}
}
