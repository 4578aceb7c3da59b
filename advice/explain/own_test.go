package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// The failing process is never the one to stop, not even where the driver's list does not tell which it is.
func TestStopsOnlyOthers(t *testing.T) {
	own := Neighbor{PID: 1, Bytes: gibs(40).Or(0), Name: "train", User: "ann", Command: "python train.py"}
	small := Neighbor{PID: 2, Bytes: gibs(6).Or(0), Name: "eval", User: "bob", Command: "python eval.py"}
	same := own
	same.PID, same.Bytes, same.Same = 3, gibs(20).Or(0), true
	for _, row := range []struct {
		name      string
		others    []Neighbor
		mixed     bool
		allocated float64
		process   float64
		stops     int  // a pid; 0: none is named
		none      bool // nobody is to be stopped at all
	}{
		{name: "told apart", others: []Neighbor{small}, allocated: 38, process: 40, stops: 2},
		{name: "found by its size", others: []Neighbor{own, small}, mixed: true, allocated: 38, stops: 2},
		{name: "not to be found", others: []Neighbor{own, small}, mixed: true},
		{name: "another rank of the job", others: []Neighbor{same, small}, allocated: 18, process: 20, stops: 2},
		{name: "only ranks of the job", others: []Neighbor{same}, allocated: 18, process: 26, none: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU,
				Requested: gibs(3), GPUTotal: gibs(48), GPUFree: gibs(1)}
			if row.allocated > 0 {
				e.Allocated, e.ReservedUnallocated = gibs(row.allocated), gibs(0.1)
			}
			h := &History{Others: row.others, Mixed: row.mixed}
			if row.process > 0 {
				h.Process = gibs(row.process)
			}
			list := Advise(Incident{Events: []sampler.OOMEvent{e}, History: h, Command: "python train.py"},
				[]sampler.Cause{{ID: CauseOtherProcess, Confidence: 1}}, lang.English())
			stops, some := 0, false
			for _, ad := range list {
				if ad.ID == FixStopOtherProcess {
					stops, some = ad.PID.Or(0), true
					if strings.HasPrefix(ad.Why, "0 B") || row.stops == 0 && strings.Contains(strings.Join(ad.Do, "\n"), "kill ") {
						t.Errorf("%s: %v", ad.Why, ad.Do)
					}
				}
			}
			if stops != row.stops || some == row.none {
				t.Errorf("stops %d (%v), want %d", stops, some, row.stops)
			}
		})
	}
}

// Of a refusal whose free memory is not known the detail tells what others held, where anybody did.
func TestRefusedWithoutFree(t *testing.T) {
	stranger := Neighbor{PID: 2, Bytes: gibs(15.7).Or(0), Name: "eval", User: "bob", Command: "python eval.py"}
	rank := stranger
	rank.Same = true
	for want, others := range map[string][]Neighbor{
		"It asked for 12.00 GiB; how much was free at that moment is not known. 15.70 GiB of the GPU was not this job's: look there first.": {stranger},
		"It asked for 12.00 GiB; how much was free at that moment is not known.":                                                            {rank},
	} {
		e := sampler.OOMEvent{Kind: sampler.KindRefused, MemoryKind: sampler.MemoryGPU, Requested: gibs(12), GPUTotal: gibs(16)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, History: &History{Others: others}, Command: "python train.py"})
		if got.Events[0].Detail != want {
			t.Errorf("%s, want %s", got.Events[0].Detail, want)
		}
	}
}

// Who holds more than was missing is looked for first or second, however large the picture.
func TestOthersSecond(t *testing.T) {
	for _, row := range []struct {
		allocated float64 // GiB of 24, nothing free; 0.9 were asked for
		second    bool
	}{{21.4, true}, {23.4, false}} {
		e := sampler.OOMEvent{Kind: sampler.KindCUDAAsync, Framework: "pytorch", MemoryKind: sampler.MemoryGPU, Requested: gibs(0.9), GPUTotal: gibs(24), GPUFree: gibs(0), Allocated: gibs(row.allocated),
			Context: &sampler.LogContext{Server: "comfyui"}}
		at := slices.IndexFunc(Explain(Incident{Events: []sampler.OOMEvent{e}}).Advice, func(a sampler.Advice) bool { return a.ID == FixStopOtherProcess })
		if (at == 1) != row.second {
			t.Errorf("%.1f GiB allocated: others are at place %d", row.allocated, at)
		}
	}
}
