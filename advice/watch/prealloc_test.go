package watch

import (
	"testing"

	"nvpeak/sampler"
)

// TestPreallocatedNeighbor: who needs memory beside a preallocator is told what it is.
func TestPreallocatedNeighbor(t *testing.T) {
	w := New(Options{Need: sampler.Some(20 * sampler.GiB)})
	var open []sampler.Alert
	for i := range 60 {
		open = w.Add(snapshotOf(float64(i), 81920, 0.92*81920, processOf(7, "python -m vllm.entrypoints.openai.api_server", 0.92*81920-300)))
	}
	if len(open) != 1 || open[0].Kind != "need_does_not_fit" {
		t.Fatalf("%+v", open)
	}
	for _, line := range open[0].Evidence {
		if line == "it is vLLM, which takes 90 to 92 % of the GPU for weights and cache (--gpu-memory-utilization)" {
			return
		}
	}
	t.Errorf("%q", open[0].Evidence)
}
