package oomlog

import (
	"strings"
	"testing"
)

const refused = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 25.00 MiB is free."

// What the log announces just before a failure is read; what it says of anything else is not.
func TestAnnouncedChanges(t *testing.T) {
	for line, want := range map[string]bool{
		"Unfreezing language model: 1300M trainable parameters":       true,
		"INFO: unfroze the last 4 blocks":                             true,
		"starting EMA of the weights (decay 0.9999)":                  true,
		"epoch 3: gradient_checkpointing_disable()":                   true,
		"Gradient checkpointing is now disabled":                      true,
		"BatchSizeScheduler: batch size 128 -> 256":                   true,
		"=> stage 2: img_size 256 -> 384, lr 1e-4 -> 2e-5":            true,
		"[progressive] epoch 3: image size 128 -> 160":                true,
		"curriculum: sequence length 928":                             true,
		"Increasing the number of frames: clip length 16":             true,
		"Entering phase 2":                                            true,
		"resolution 256x256 → 512x512":                                true,
		"Start adversarial + perceptual (VGG19) loss from this epoch": true,
		"Enabling knowledge distillation with a frozen teacher":       true,
		"Starting epoch 3: gan loss 0.4":                              false,
		"image size 512 -> 256":                                       false, // takes less
		"lr 1e-4 -> 2e-5":                                             false,
		"epoch 3/10 batch 20/500 loss 0.31":                           false,
		"Validation loss improved from 0.41 to 0.39, saving weights":  false,
		"stage 1: image size 224":                                     true, // the first failed: it does not fit
		"frozen layers: 12":                                           false,
		"I increased the shm size from 64M to 16G":                    false, // it may use more
		"swap size 8 -> 28":                                           false,
		"Sanity check: batch size 8, sequence length 512":             false,
	} {
		for what, log := range map[string]string{
			"traceback": line + "\nTraceback (most recent call last):\n  File \"train.py\", line 3, in train\n    loss.backward()\n" + refused + "\n",
			"message":   line + "\n" + refused + "\n",
		} {
			events := scanOne(t, "epoch 2 step 10 loss 0.5\n"+log)
			if len(events) != 1 {
				t.Fatalf("%s: %d events", line, len(events))
			}
			if got := events[0].Context.Changed; (got != "") != want || !strings.HasSuffix(line, got) {
				t.Errorf("%s: %q is read as %q", what, line, got)
			}
		}
	}
	far := "Unfreezing the encoder\n" + strings.Repeat("step 11 loss 0.4\n", changeWithin) + refused + "\n"
	if got := scanOne(t, far)[0].Context.Changed; got != "" {
		t.Errorf("%q was long before", got)
	}
}
