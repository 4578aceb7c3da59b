package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A server that finds its share taken: who holds the rest comes first, then the share that would fit.
// https://github.com/vllm-project/vllm/issues/20305
func TestServerWithoutItsShare(t *testing.T) {
	e := sampler.OOMEvent{Framework: "vllm", Kind: "startup_free_below_limit", MemoryKind: "gpu", GPUTotal: gibs(47.38), GPUFree: gibs(31.44),
		MemoryLimit: &sampler.MemoryLimit{Kind: "gpu_memory_utilization", Allowed: gibs(45.01), Fraction: sampler.Some(0.95)}}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "vllm serve m --gpu-memory-utilization 0.95"})
	if got.Causes[0].ID != "other_process" || got.Advice[0].ID != "stop_other_process" {
		t.Errorf("cause %s, advice %s", got.Causes[0].ID, got.Advice[0].ID)
	}
	if d := got.Verdict.Detail; !strings.Contains(d, "13.57 GiB short") || !strings.Contains(d, "15.94 GiB") {
		t.Error(d)
	}
	for _, a := range got.Advice {
		text := strings.Join(a.Do, "\n")
		if a.ID == "cap_preallocation" && !strings.Contains(text, "--gpu-memory-utilization 0.65") {
			t.Error(text)
		}
		if strings.Contains(text, "set_per_process_memory_fraction") {
			t.Error("a limit that is none:", text)
		}
	}
}

// A script that uses a server as a library has none of its options: https://docs.vllm.ai/en/latest/api/vllm/entrypoints/llm.html
func TestServerAsLibrary(t *testing.T) {
	for _, c := range []struct{ server, command, want, not string }{
		{"vllm", "python infer.py --model m", "vllm.LLM(…, gpu_memory_utilization=0.8)", "infer.py"},
		{"vllm", "docker run --gpus all vllm/vllm-openai:latest --model m", "vllm-openai:latest --model m --gpu-memory-utilization 0.8", "LLM("},
		{"vllm", "python -m vllm.entrypoints.openai.api_server --model m", "api_server --model m --gpu-memory-utilization 0.8", "LLM("},
		{"sglang", "python bench.py --model m", "sglang.Engine(…, mem_fraction_static=0.75)", "bench.py"},
		{"tensorrt-llm", "python build.py --max_batch_size 192", "trtllm-serve MODEL --kv_cache_free_gpu_memory_fraction 0.8", "build.py"},
	} {
		e := pytorch(gibs(1.74), gibs(23.57), mibs(605.88))
		e.Allocated, e.ReservedUnallocated = gibs(20.21), mibs(185.98)
		e.Context = &sampler.LogContext{Server: c.server}
		text := ""
		for _, a := range Explain(Incident{Events: []sampler.OOMEvent{e}, Command: c.command}).Advice {
			text += strings.Join(a.Do, "\n") + "\n"
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s: %s", c.command, text)
		}
	}
}

// The cache of a server does not hold one request. https://github.com/vllm-project/vllm/issues/34076
func TestServerCacheNumbers(t *testing.T) {
	e := sampler.OOMEvent{Framework: "vllm", Kind: "kv_cache_no_memory", MemoryKind: "gpu", Requested: gibs(24),
		Extra: map[string]any{"max_seq_len": int64(262144), "available_kv_cache_bytes": uint64(3414499000), "estimated_max_model_len": int64(34736)}}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}})
	if !strings.Contains(got.Verdict.Detail, "20.82 GiB short") || !strings.Contains(got.Advice[0].Do[0], "--max-model-len 34736") {
		t.Error(got.Verdict.Detail, got.Advice[0].Do)
	}
	delete(e.Extra, "estimated_max_model_len")
	got = Explain(Incident{Events: []sampler.OOMEvent{e}})
	if !strings.Contains(got.Advice[0].Do[0], "--max-model-len 34720") { // 262144 x 3.18 / 24, in blocks of 16
		t.Error(got.Advice[0].Do)
	}
}

// Inside a server PyTorch's allocator fails; training has no part in it.
// https://github.com/vllm-project/vllm/issues/15105
func TestAllocatorInsideServer(t *testing.T) {
	e := pytorch(gibs(1.74), gibs(23.57), mibs(605.88))
	e.Allocated, e.ReservedUnallocated, e.PrivatePools = gibs(20.21), mibs(185.98), mibs(128)
	e.OtherProcesses = []sampler.OtherProcess{{PID: 133288, Bytes: gibs(22.97).Or(0)}}
	e.Context = &sampler.LogContext{Server: "vllm"}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}})
	if do := strings.Join(got.Advice[0].Do, "\n"); got.Advice[0].ID != "limit_requests" || !strings.Contains(do, "--gpu-memory-utilization") || !strings.Contains(do, "--max-model-len") {
		t.Error(got.Advice[0].ID, do)
	}
	for _, c := range got.Causes {
		if c.ID == "other_process" {
			t.Error("the process is its own neighbour:", c.Evidence)
		}
	}
	for _, a := range got.Advice {
		switch a.ID {
		case "gradient_checkpointing", "amp_bf16", "halve_batch_accumulate", "smaller_optimizer", "shard_or_offload":
			t.Error(a.ID, "for a server")
		}
	}
}

// The tools are those of the card's maker.
func TestToolsOfTheVendor(t *testing.T) {
	e := pytorch(gibs(2), gibs(64), gibs(0.5))
	e.Kind, e.Allocated = "hip_oom", gibs(20)
	for _, a := range Explain(Incident{Events: []sampler.OOMEvent{e}}).Advice {
		if text := strings.Join(a.Do, "\n"); strings.Contains(text, "nvidia") {
			t.Error(text)
		}
	}
}
