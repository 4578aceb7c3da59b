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
		"[640] world_loss 31.2 / fps 25\n":        true,
		"[640] wrote 12 files\n":                  false,
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

// A title that begins with the error of PyTorch says behind it when it came; advice on it does not. What people say of a number of GPUs is no
// message of Paddle.
func TestTitlesOfErrors(t *testing.T) {
	for line, framework := range map[string]string{
		"RuntimeError: CUDA out of memory when running eval.py\n":                        "pytorch",
		"RuntimeError: CUDA error: out of memory under WSL2\n":                           "pytorch",
		"RuntimeError: CUDA error : out of memory\n":                                     "pytorch",
		"RuntimeError: CUDA out of memory when your batch is too large\n":                "",
		"RuntimeError: CUDA out of memory when training?\n":                              "",
		"Out of memory error on 2 x RTX 3090\n":                                          "",
		"Out of memory error on GPU 1 of my rig\n":                                       "",
		"Out of memory error on GPU 1. Cannot allocate 1.5GB memory on GPU 1.\n":         "paddle",
		"Error: llama runner exited, you may not have enough memory to run this model\n": "ollama",
		"Error: llama runner process no longer running: 1 error: out of memory\n":        "ollama",
		"MEMORY ALLOC FAILED: VirtualAlloc failed\n":                                     "windows",
	} {
		events, err := Scan(strings.NewReader(line))
		if err != nil || len(events) > 1 || (len(events) == 1) != (framework != "") || len(events) == 1 && events[0].Framework != framework {
			t.Errorf("%q: %v, %+v", line, err, events)
		}
	}
}
