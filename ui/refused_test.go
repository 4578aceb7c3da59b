package ui

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A GPU whose memory was refused from the start says why, and plots its utilization below, which is known all the same.
func TestRefusedMemoryPlotsUtilization(t *testing.T) {
	snap := gpus(2, 0, false)
	snap.GPUs[0].Memory = sampler.Memory{}
	snap.GPUs[0].Error = sampler.Some("no permission: memory (NO_PERMISSION)")
	snap.GPUs[0].Utilization.GPU = sampler.Some(63)
	shown := text(model(past(snap, 20), 100, 40, Options{}))
	if !strings.Contains(shown, "NO_PERMISSION") || !strings.Contains(shown, "utilization") || !strings.Contains(shown, "100%") {
		t.Errorf("neither the reason nor the utilization:\n%s", shown)
	}
	snap.GPUs[0].Utilization.GPU = sampler.Opt[int]{}
	if shown := text(model(past(snap, 20), 100, 40, Options{})); strings.Contains(shown, "utilization") {
		t.Errorf("a plot of what is not known:\n%s", shown)
	}
}

// What does not fit into a line ends in an ellipsis: half a reason must not look like a whole one.
func TestRefusedMemoryInOneLine(t *testing.T) {
	snap := gpus(4, 0, false)
	snap.GPUs[0].Memory = sampler.Memory{}
	snap.GPUs[0].Error = sampler.Some("no permission: memory (NO_PERMISSION)")
	for _, w := range []int{30, 44} {
		if shown := text(model(past(snap, 20), w, 6, Options{})); !strings.Contains(shown, "no permission") || w == 30 && !strings.Contains(shown, "…") {
			t.Errorf("%d columns:\n%s", w, shown)
		}
	}
}
