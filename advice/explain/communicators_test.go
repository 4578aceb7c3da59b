package explain

import (
	"testing"

	"nvpeak/sampler"
)

// Groups that are made anew in each evaluation add up, and outputs that might be moved to the CPU are none of that. Where nothing had grown, it is the
// evaluation that found no room.
func TestGroupsPile(t *testing.T) {
	for what, row := range map[string]struct {
		function, cause string
		grew, pile      bool
	}{
		"groups":            {"new_group", CauseLeak, true, true},
		"another call":      {"all_gather", CauseValidationSpike, true, false},
		"nothing had grown": {"new_group", CauseValidationSpike, false, false},
	} {
		e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindNCCL, MemoryKind: sampler.MemoryGPU, Requested: mibs(4), Text: "Failed to CUDA calloc async 4194304 bytes: Cuda failure 2 'out of memory'", Rank: sampler.Some(0)}
		e.Context = &sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(960), Functions: []string{"main", "zeroshot_eval", row.function}}
		h := &History{Age: sampler.Some(970.0), Total: gibs(47.99), Free: mibs(1), Process: gibs(47.49), Peaks: amounts(46000, 46100, 46200, 46300, 46400, 46500, 46600, 46700, 46800, 46900, 47000, 47100, 47200, 47300)}
		in := Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "torchrun --nproc_per_node 4 pretrain_clip.py"}
		if row.grew {
			in.Alerts = []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "it grows", T: 736, Numbers: map[string]float64{"since_s": 70}}}
		}
		got := Explain(in)
		if once := got.Advice[0].Title == "Make the process group once, or destroy it after use"; got.Causes[0].ID != row.cause || once != row.pile {
			t.Errorf("%s: %+v, %s", what, got.Causes, got.Advice[0].Title)
		}
	}
}
