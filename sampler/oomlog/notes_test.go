package oomlog

import (
	"strings"
	"testing"
)

// What a batch system calls a step is none of a training, nor is an epoch what there is in each of them.
func TestUncounted(t *testing.T) {
	const refused = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	for line, counts := range map[string]bool{
		"srun: Terminating job step 3495064.0\n":  false,
		"  Num batches each epoch = 60\n":         false,
		"epoch = 60, loss 0.2\n":                  true,
		"step 3495 | loss 1.47 | grad_norm 0.8\n": true,
	} {
		events, err := Scan(strings.NewReader(line + refused))
		if err != nil || len(events) != 1 {
			t.Fatalf("%q: %v, %v", line, events, err)
		}
		if c := events[0].Context; (c.Step.Known() || c.Epoch.Known()) != counts {
			t.Errorf("%q: step %v, epoch %v", line, c.Step, c.Epoch)
		}
	}
}
