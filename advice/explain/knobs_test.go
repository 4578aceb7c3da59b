package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// No server is told of an option of another.
func TestServersHaveTheirOwnOptions(t *testing.T) {
	const log = "%: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB (GPU 0; 22.20 GiB total capacity; 21.80 GiB already allocated; 20.12 MiB free; 21.80 GiB reserved in total by PyTorch)\n"
	texts := map[string]string{"vllm": "vllm serve m", "sglang": "python -m sglang.launch_server --model-path m", "tgi": "text-generation-launcher --model-id m", "lmdeploy": "lmdeploy serve api_server m", "triton": "tritonserver --model-repository m"}
	options := map[string][]string{"vllm": {"--tensor-parallel-size", "--max-model-len"}, "sglang": {"--chunked-prefill-size", "--mem-fraction-static"}, "lmdeploy": {"--session-len"}, "tgi": {"--num-shard", "--max-batch-prefill-tokens"}}
	for name, start := range texts {
		text := start + "\nLoading checkpoint shards: 20%\n" + strings.Replace(log, "%", name, 1) + "I have 4 A10 GPUs.\n"
		events, err := oomlog.Scan(strings.NewReader(text))
		if events = post.Read(text, events, oomlog.Scan); err != nil || len(events) != 1 {
			t.Fatal(name, events, err)
		}
		f := newFailure(Incident{Events: events}, events[0], lang.English())
		if f.program.name != name {
			t.Errorf("%s is taken for %q", name, f.program.name)
		}
		for _, a := range Explain(Incident{Events: events}).Advice {
			typed := strings.Join(a.Do, "\n")
			for other, list := range options {
				for _, option := range list {
					if other != name && strings.Contains(typed, option) {
						t.Errorf("%s is told of %s: %q", name, option, typed)
					}
				}
			}
			if name == "tgi" && strings.Contains(a.Source, "vllm") {
				t.Errorf("%s of tgi has the source %s", a.ID, a.Source)
			}
		}
	}
}

// A limit that was typed as a share is raised where it was typed.
func TestTypedFraction(t *testing.T) {
	limited := sampler.OOMEvent{Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Framework: "pytorch", Requested: sampler.Some(3 * sampler.GiB), GPUTotal: sampler.Some(79 * sampler.GiB), GPUFree: sampler.Some(49 * sampler.GiB),
		ProcessInUse: sampler.Some(30 * sampler.GiB), Allocated: sampler.Some(29 * sampler.GiB), ReservedUnallocated: sampler.Some(sampler.MiB), MemoryLimit: &sampler.MemoryLimit{Kind: "fraction", Allowed: sampler.Some(31 * sampler.GiB)}}
	for command, want := range map[string]string{
		"python train.py --mem-fraction 0.4":         "python train.py --mem-fraction 1",
		"python train.py --gpu_memory_fraction=0.25": "python train.py --gpu_memory_fraction=1",
		"python train.py --gpu-fraction 40 --lr 0.1": "python train.py --gpu-fraction 100 --lr 0.1",
		"python train.py --mem-fraction 1":           "torch.cuda.set_per_process_memory_fraction(1.0)",
		"python train.py --warmup-fraction 0.4":      "torch.cuda.set_per_process_memory_fraction(1.0)",
		"":                                           "torch.cuda.set_per_process_memory_fraction(1.0)",
	} {
		e := Explain(Incident{Command: command, Events: []sampler.OOMEvent{limited}})
		if len(e.Advice) == 0 || e.Advice[0].ID != FixRaiseLimit || e.Advice[0].Do[0] != want {
			t.Errorf("%q: %+v, want %q", command, e.Advice, want)
		}
	}
}
