package oomlog

import (
	"strings"
	"testing"
)

// What a model was trained with is said as it is loaded, by new and by old versions.
func TestTrainedContextSaid(t *testing.T) {
	failed := "\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.00 MiB on device 0: cudaMalloc failed: out of memory\n"
	for text, want := range map[string]int{
		"print_info: n_ctx_train      = 32768":                                                            32768,
		"llm_load_print_meta: n_ctx_train      = 8192":                                                    8192,
		"llama_context: n_ctx_per_seq (65536) > n_ctx_train (4096) -- possible training context overflow": 4096,
		"llama_context: n_ctx         = 65536":                                                            0,
	} {
		events, err := Scan(strings.NewReader(text + failed))
		if err != nil || len(events) == 0 {
			t.Fatal(err, len(events))
		}
		if got := events[0].Context.TrainedContext.Or(0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// The fold of a cross-validation counts that began last.
func TestFoldsSaid(t *testing.T) {
	failed := "\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 MiB is free.\n"
	for text, want := range map[string]int{
		"fold 8 epoch 12/12  val_auc 0.92\n========== fold 9 / 10 ==========": 9,
		"Fold: 3, epoch 2":                    3,
		"training on fold 4 of 5":             4,
		"a 3-fold cover of fold 2e4 residues": 0,
		"unfold 5, hold 7/9, manifold 3 / 4":  0,
		"rank_001_model fold of 200 residues": 0,
	} {
		events, err := Scan(strings.NewReader(text + failed))
		if err != nil || len(events) == 0 {
			t.Fatal(err, len(events))
		}
		if got := events[0].Context.Fold.Or(0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// The batches of an epoch are its steps, as PyTorch's examples print them.
func TestBatchesAreSteps(t *testing.T) {
	for _, line := range []string{"| epoch   1 |   450/36819 batches | lr 20.00 | ms/batch 613.90 | loss  7.76", "[train] epoch 0  batch   450/2400  mae 0.1177  12.9 graphs/s", "Epoch: [1] Step [450/2400] acc 0.7"} {
		events, err := Scan(strings.NewReader(line + "\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 MiB is free.\n"))
		if err != nil || len(events) != 1 || events[0].Context.Step.Or(0) != 450 || events[0].Context.FirstStep {
			t.Errorf("%s: %v: %+v", line, err, events)
		}
	}
}

// The last trial that is said to be over counts.
func TestTrialsSaid(t *testing.T) {
	failed := "\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 MiB is free.\n"
	for text, want := range map[string]int{
		"[I 2025-02-28 18:05:33,642] Trial 8 finished with value: 145.2 and parameters: {'filters': 16}.\n[I 2025-02-28 18:06:22,839] Trial 9 finished with value: 139.7 and parameters: {'filters': 32}.": 9,
		"[I 2025-02-28 18:05:33,642] Trial 4 pruned.":   4,
		"Trial 3 Complete [00h 01m 12s]\nval_loss: 0.4": 3,
		"trial 12 of the sweep begins":                  0,
	} {
		events, err := Scan(strings.NewReader(text + failed))
		if err != nil || len(events) == 0 {
			t.Fatal(err, len(events))
		}
		if got := events[0].Context.Trials.Or(0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
