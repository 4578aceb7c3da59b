package post

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// What was changed in vain is told, though the sentence that says so names no setting, and nothing else is.
func TestTriedInVain(t *testing.T) {
	const gpu, chunks, batch, size = sampler.ToldTried + "gpu", sampler.ToldTried + "chunks", sampler.ToldTried + "batch", sampler.ToldTried + "size"
	const inputs = sampler.ToldTried + "inputs"
	for _, one := range []struct {
		text, what string
		told       bool
	}{
		{"I changed different gpus, e.g. a 2080ti. The same problem still existed.", gpu, true},
		{"I moved to a V100 with 16G but get the same error.", gpu, true},
		{"I run it on two different computers and there is the same error.", gpu, true},
		{"I also tried it with a 24 GB GPU but still the same.", gpu, true},
		{"I switched to an A100. It works there.", gpu, false},
		{"I use the settings from a guide, which are for GPUs below 7 GB, but it still runs out.", gpu, false},
		{"I tried two GPUs and it still uses one.", gpu, false},
		{"The GPU is still full after the error.", gpu, false},
		{"No matter how far I lower chunk and netchunk, the error stays.", chunks, true},
		{"I lowered the chunk size. Now it works.", chunks, false},
		{"I reduced the resolution to 256. Still the same error.", size, true},
		{"The image size is 512. The same error is in another thread.", size, false},
		{"It gives the same error both on my RTX 2080 Ti and a V100.", gpu, true},
		{"I lowered max_seq_length to 128. Still the same error.", sampler.ToldTried + "length", true},
		{"A smaller model has the same problem.", sampler.ToldTried + "model", true},
		{"I took a smaller model and it works.", sampler.ToldTried + "model", false},
		{"I changed the parameters max_mel_frames and encoder_batch_size but still cannot solve it.", batch, true},
		{"I changed the parameters max_mel_frames and encoder_batch_size but still cannot solve it.", size, true},
		{"I lowered crop_width and it still can't run.", size, true},
		{"I lowered num_frames. Now it works.", size, false},
		{"I set hidden_size to 256 and get the same error.", size, false},
		{"I set the batch_size to 2 and get the same error.", size, false},
		{"Resizing to 100x100 didn't help.", size, true},
		{"Tried with three different photos, always the same.", inputs, true},
		{"I tried 5 other videos and it still fails.", inputs, true},
		{"I tried other photos and they work.", inputs, false},
		{"I have set it to batch size of 1.", batch, true},
		{"Even I have lowered the batch size to 3, it shows the message.", batch, true},
		{"I change the batch size to 2, it stills gives the message.", batch, true},
		{"I set the batch size to 4 and it keep saying that.", batch, true},
		{"I decreased the batch size to 2, always out of memory.", batch, true},
		{"I lowered the batch size to 4 but still same.", batch, true},
		{"I lowered the batch size to 4 and the accuracy is still the same.", batch, false},
		{"I changed the batch size to 4 and it keeps running.", batch, false},
		{"I reduced the batch size to 4, and always use that now.", batch, false},
		{"Can training with batch size 2 be out of memory?", batch, false},
		{"I have set it to batch size of 1.\n\npython train.py --batch_size 2 --lr 0.1\n", batch, false},
		{"I reduced the batch size to 1 and still get the same error.\n\npython train.py --batch_size 8 --lr 0.1\n", batch, true},
	} {
		events := read(t, "I am training a model with torch and get CUDA out of memory. "+one.text)
		if len(events) != 1 || slices.Contains(events[0].Context.Told, one.what) != one.told {
			t.Errorf("%q: %s is not %v (%d events)", one.text, one.what, one.told, len(events))
		}
	}
}

// A small GPU, an input after another, a share and channels are told by what people say of them.
func TestSaid(t *testing.T) {
	for _, one := range []struct {
		text, what string
		told       bool
	}{
		{"My graphics card is too old for this.", sampler.ToldSmallGPU, true},
		{"I only have a 2GB GPU.", sampler.ToldSmallGPU, true},
		{"I have only 2 GB free GPU memory left.", sampler.ToldSmallGPU, false},
		{"My GPU is a 3090.", sampler.ToldSmallGPU, false},
		{"The first image works fine, but the second image fails with OOM.", sampler.ToldNext, true},
		{"I get OOM on the second frame.", sampler.ToldNext, true},
		{"The first thing I did was to read the next chapter on memory.", sampler.ToldNext, false},
		{"It fails with gpu_memory_utilization=1.0 there.", sampler.ToldWideShare, true},
		{"It fails with gpu_memory_utilization=0.9 there.", sampler.ToldWideShare, false},
		{"Other VRAM consumers are not detected in the available memory.", sampler.ToldShared, true},
		{"It does not work when I close the browser either.", sampler.ToldShared, false},
		{"I trained a Faster-RCNN.", sampler.ToldObjects, true},
		{"My Faster-RCNN takes more with each iteration.", sampler.ToldObjects, false},
		{"Where is the 32 coming from?", sampler.ToldChannels, true},
		{"The images have 3 channels.", sampler.ToldChannels, false},
		{"The distance matrix of 60000 x 60000 does not fit.", sampler.ToldPairs + "60000", true},
		{"I need the full similarity matrix.", sampler.ToldPairs + "0", true},
		{"It is the k-reciprocal re-ranking of my gallery.", sampler.ToldPairs + "0", true},
		{"The slide has 60000 x 60000 pixels.", sampler.ToldPairs + "60000", false},
		{"A matrix of 60000 x 512 is read.", sampler.ToldPairs + "60000", false},
		{"The loss takes a distance matrix of the batch.", sampler.ToldPairs + "0", false},
		{"The reranker scores the passages of my RAG.", sampler.ToldPairs + "0", false},
		{"I ran release 41 without trouble and have now moved to release 52.", sampler.ToldUpdate, true},
		{"With r131 all films worked, with r140 I get this error.", sampler.ToldUpdate, true},
		{"b4821 runs, b4907 does not.", sampler.ToldUpdate, true},
		{"Diffusers 0.27 was fine, with 0.31 it fails.", sampler.ToldUpdate, true},
		{"With r64 it works, with r128 it fails.", sampler.ToldUpdate, false}, // ranks
		{"b1024 works, b2048 fails.", sampler.ToldUpdate, false},              // batches
		{"A scale of 0.5 was fine, with 0.6 it fails.", sampler.ToldUpdate, false},
		{"Should I switch to version 3, which worked for others?", sampler.ToldUpdate, false},
		{"I moved to version 3 and it is the same error.", sampler.ToldUpdate, false},
		{"The free memory is much larger than what it asks for.", sampler.ToldFree, true},
		{"There is more memory free than it tries to allocate.", sampler.ToldFree, true},
		{"It wants less than there is free.", sampler.ToldFree, true},
		{"The free memory is not larger than what it asks for.", sampler.ToldFree, false},
		{"How do I check whether free memory is larger than what it needs?", sampler.ToldFree, false},
		{"The free version is larger than I thought.", sampler.ToldFree, false},
		{"The GPU memory is nearly empty then.", sampler.ToldEmpty, false}, // between two runs, or the moment before
		{"My GPU is nearly empty.", sampler.ToldEmpty, true},
		{"The GPU is nearly empty before I start.", sampler.ToldEmpty, false},
		{"The second GPU is completely unused.", sampler.ToldEmpty, false},
		{"It goes away with num_workers=0.", sampler.ToldNoWorkers, true},
		{"If I set workers to 0 it works.", sampler.ToldNoWorkers, true},
		{"Without workers the error does not occur.", sampler.ToldNoWorkers, true},
		{"It only happens with more than 2 workers.", sampler.ToldNoWorkers, true},
		{"It still fails with num_workers=0.", sampler.ToldNoWorkers, false},
		{"Setting num_workers to 0 did not solve the problem.", sampler.ToldNoWorkers, false},
		{"Does it help to set num_workers to 0?", sampler.ToldNoWorkers, false},
		{"It runs with num_workers=4.", sampler.ToldNoWorkers, false},
		{"No workers of our company had this error.", sampler.ToldNoWorkers, false},
		{"This comes in Windows, too.", sampler.ToldWindows, true},
		{"This is my PC (Windows 11).", sampler.ToldWindows, true},
		{"That happens in Windows.", sampler.ToldWindows, true},
		{"The picture is processed in windows.", sampler.ToldWindows, false},
		{"The paging file is too small for this operation to complete.", sampler.ToldWindows, true},
		{"I have increased the page file.", sampler.ToldWindows, true},
		{"It reads 10-page files.", sampler.ToldWindows, false},
		{"I do not use docker.", sampler.ToldNoContainer, true},
		{"I am not running it in a container.", sampler.ToldNoContainer, true},
		{"It does not work in docker.", sampler.ToldNoContainer, false},
		{"Docker has no more memory.", sampler.ToldNoContainer, false},
	} {
		events := read(t, "I get CUDA out of memory with torch. "+one.text)
		if len(events) != 1 || slices.Contains(events[0].Context.Told, one.what) != one.told {
			t.Errorf("%q: %s is not %v (%d events)", one.text, one.what, one.told, len(events))
		}
	}
}

// Who asks whether a setting can be left out has not lowered it.
func TestLeftOut(t *testing.T) {
	for text, want := range map[string]bool{
		"Does this mean that we still cannot remove the parameter gpu_memory_utilization?": false,
		"I lowered gpu_memory_utilization to 0.7, and it still is CUDA out of memory.":     true,
		"I removed the parameter gpu_memory_utilization and still get CUDA out of memory.": true,
	} {
		if got := slices.Contains(tried(text, sentences(text)), sampler.ToldTried+"share"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The number of GPUs counts where all that is said of it agrees.
func TestCountOfGPUs(t *testing.T) {
	for text, want := range map[string]string{
		"with 8*A800 80G": "8", "on 4 x RTX 3090": "4", "16 GPUs are there": "16", "4张V100": "4", "2 GPUs, or 4 GPUs": "", "a 3090": "", "1 GPU": "",
	} {
		if got := countOfGPUs(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// More of what a job may use is no setting that made it fail, and memory that somebody gave it no growth.
func TestResourcesAreNoSettings(t *testing.T) {
	for _, one := range []struct {
		text, what string
		told       bool
	}{
		{"I increased the RAM from 32 to 96 GB and still get CUDA out of memory.", sampler.ToldRaised + "RAM 32", false},
		{"We raised the page file from 12 to 40 GB, and it is CUDA out of memory again.", sampler.ToldRaised + "page file 12", false},
		{"I increased the number of GPUs from 3 to 6 and get CUDA out of memory.", sampler.ToldRaised + "number of GPUs 3", false},
		{"I increased the batch size from 3 to 6 and get CUDA out of memory.", sampler.ToldRaised + "batch size 3", true},
		{"I raised max memory tokens from 100 to 900 and get CUDA out of memory.", sampler.ToldRaised + "max memory tokens 100", true},
		{"I get CUDA out of memory and have increased the virtual memory already.", sampler.ToldGrowth, false},
		{"It says out of memory, increase the virtual memory, and I increased the memory of my server.", sampler.ToldGrowth, false},
		{"CUDA out of memory, although I have raised the shared memory of the container.", sampler.ToldGrowth, false},
		{"I get CUDA out of memory, each epoch increases the RAM usage.", sampler.ToldGrowth, true},
		{"CUDA out of memory: I increased the swap, but memory keeps growing.", sampler.ToldGrowth, true},
	} {
		events := read(t, "My torch program fails. "+one.text)
		if len(events) != 1 || slices.Contains(events[0].Context.Told, one.what) != one.told {
			t.Errorf("%q: %s is not %v: %+v", one.text, one.what, one.told, events)
		}
	}
}
