package post

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What was measured with two values, or said to be the most that runs, beside wordings that are none of that.
func TestRanWithLess(t *testing.T) {
	for text, want := range map[string]string{
		"CUDA out of memory with a batch size of 96, it works with 48.":                                       "batch size 48",
		"It trains with batch size 12. With batch size 24 I get CUDA out of memory.":                          "batch size 12",
		"CUDA out of memory\n\nBatch size 16, 24 and 32 fail, only batch size 4 and lower works.":             "batch size 4",
		"CUDA out of memory comes with batch size 40, with 20 it does not.":                                   "batch size 20",
		"torch 用 batch size 设成16就报错 CUDA out of memory，设成8就可以。":                                               "batch size 8",
		"CUDA out of memory: batch size를 64로 하면 에러가 발생하고, 32로 하면 에러가 발생하지 않습니다.":                              "batch size 32",
		"バッチサイズ16だとCUDA out of memoryで落ちます、8だと動きます。":                                                          "batch size 8",
		"I get CUDA out of memory at 1600x1200; 800x600 completes fine.":                                      "800x600",
		"My job goes CUDA out of memory with 9 classes. With 5 classes it finishes.":                          "5 classes",
		"CUDA out of memory with n_rays 9000. With n_rays 5000 it trains.":                                    "n_rays 5000",
		"CUDA out of memory with a context of 16384. With 4096 it works.":                                     "context 4096",
		"We get CUDA out of memory with more than 20 images, up to 20 images is fine.":                        "20 images",
		"CUDA out of memory at every start, until I reduced n_rays from 9000 to 5000, which ran successfully": "n_rays 5000",
		"torch gives CUDA out of memory with two workers, with one worker it runs.":                           "one worker",
		"Every request was CUDA out of memory. Workaround: MAX_BATCH_SIZE=24 completed cleanly.":              "batch size 24",
		"CUDA out of memory with batch size 32. Batch size 16 works on the A100.":                             "",
		"I train with batch size 8 for 3 epochs, then with batch size 16 I get CUDA out of memory.":           "",
		"CUDA out of memory with batch size 16. Should batch size 8 work?":                                    "",
		"CUDA out of memory with batch size 8, although batch size 16 works.":                                 "",
		"CUDA out of memory with 4 GPUs, with 2 GPUs it works.":                                               "",
		"CUDA out of memory with batch size 16 in training, with batch size 8 inference works.":               "",
		"CUDA out of memory with batch size 16 and also with batch size 8.":                                   "",
	} {
		got := ""
		for _, e := range read(t, text) {
			for _, what := range e.Context.Told {
				if set, is := strings.CutPrefix(what, sampler.ToldRaised); is {
					got = set
				}
			}
		}
		if got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// A GPU with more memory on which it runs is no RAM, and no smaller one.
func TestLargerGPURuns(t *testing.T) {
	for text, want := range map[string]bool{
		"CUDA out of memory on the RTX 3060 (12 GB). The same command runs on the RTX 4090 (24 GB).": true,
		"On my 8 GB card I get CUDA out of memory, on a 16 GB card it works.":                        true,
		"CUDA out of memory on the RTX 4090 (24 GB). The same command runs on a GPU with 12 GB.":     false,
		"CUDA out of memory with 16 GB of RAM. With 32 GB of RAM it runs.":                           false,
		"CUDA out of memory on a GPU with 8 GB. It should run with 16 GB.":                           false,
	} {
		for _, e := range read(t, text) {
			got := false
			for _, what := range e.Context.Told {
				got = got || what == sampler.ToldLargerGPU
			}
			if got != want {
				t.Errorf("%q: %v", text, got)
			}
		}
	}
}
