package explain

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// vLLM beside a training holds its share from the start: where that is a usual one, nothing of another library is to be looked for, and what grew since is the reason.
func TestShareOfRollout(t *testing.T) {
	for what, row := range map[string]struct {
		command string
		cause   string
		share   bool // advice about what a library reserves
	}{
		"the usual share":   {"accelerate launch grpo.py --vllm_mode colocate --vllm_gpu_memory_utilization 0.3 --max_completion_length 8192", CauseDataSpike, false},
		"a large one":       {"accelerate launch grpo.py --vllm_mode colocate --vllm_gpu_memory_utilization 0.6 --max_completion_length 8192", CauseDataSpike, true},
		"another library's": {"accelerate launch grpo.py --max_completion_length 8192", CausePreallocation, true},
	} {
		e := pytorch(mibs(964), gibs(79.11), mibs(829))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(53.78), mibs(195), gibs(78.3)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(480), Larger: &sampler.SizeGrowth{Name: "mean_length", From: 346, To: 1759}, Functions: []string{"<module>", "training_step", "backward"}, Code: []string{"self.accelerator.backward(loss)"}}
		h := &History{Age: sampler.Some(3970.0), Process: e.ProcessInUse, Peaks: amounts(48600, 51400, 54400, 56500, 58200, 65000, 67500, 69500, 71900, 74300, 78100, 80000, 80500, 80500)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command})
		if share := slices.Contains(adviceIDs(got.Advice), FixCapPreallocation); got.Causes[0].ID != row.cause || share != row.share {
			t.Errorf("%s: %+v, %v", what, got.Causes, adviceIDs(got.Advice))
		}
	}
}
