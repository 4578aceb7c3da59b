package explain

import (
	"strconv"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesModel = []fixRow{
	{id: "raise_limit", source: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",
		fits:    map[string]float64{"memory_limit": 1},
		when:    func(f *failure) bool { return true },
		variant: func(f *failure) string { return f.limitVariant() },
		reach: func(f *failure) float64 {
			if f.event.Kind == sampler.KindMPS {
				return 0.3 // the limit protects the whole machine there
			}
			return 0.95
		},
		do: doRaiseLimit},
	{id: "smaller_optimizer", source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		fits: map[string]float64{"too_big": 0.75, "oversubscribed": 0.4},
		when: func(f *failure) bool {
			return f.inTraining() && f.isPyTorch() && (f.optimizer() == "adam" || f.optimizer() == "") && !f.usesLoRA() && !f.refusedThoughFree() &&
				(!f.footprint.known || f.footprint.states.mid() > partOf(f.allocated.Or(0), 0.15))
		},
		saves: func(f *failure) (span, bool) {
			p := float64(f.footprint.parameters)
			return span{sampler.Bytes(4 * p), sampler.Bytes(6 * p)}, f.footprint.known
		},
		reach: func(f *failure) float64 {
			p := float64(f.footprint.parameters)
			if !f.footprint.known || !f.numbers() {
				return 0.25
			}
			return span{sampler.Bytes(4 * p), sampler.Bytes(6 * p)}.covers(f.needed())
		},
		do: func(f *failure) []string {
			if s, ok := f.command.WithSwitch(map[string]string{command.StyleTrainer: "--optim adamw_8bit"}); ok {
				return []string{s.Text}
			}
			return []string{"import bitsandbytes as bnb", "optimizer = bnb.optim.AdamW8bit(model.parameters(), lr=lr)"}
		}},
	{id: "shard_or_offload", source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		fits: map[string]float64{"too_big": 0.6},
		when: func(f *failure) bool {
			return f.isPyTorch() && (f.inTraining() || f.phase() == phaseLoading) && !f.sharded() && !f.refusedThoughFree() && (f.stateDominated() || !f.footprint.known)
		},
		variant: func(f *failure) string {
			if f.phase() == phaseLoading {
				return "loading"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.footprint.states.times(0.4, 0.85), f.footprint.known
		},
		reach: func(f *failure) float64 {
			if f.phase() == phaseLoading {
				return 1.2
			}
			if f.stateDominated() {
				return 1.6 // nothing about the batch helps then
			}
			return 0.35
		},
		do: func(f *failure) []string {
			if f.phase() == phaseLoading {
				return []string{`AutoModelForCausalLM.from_pretrained(name, device_map="auto", torch_dtype="auto")  ` + f.comment("do.device_map")}
			}
			return []string{"from torch.distributed.fsdp import fully_shard", "fully_shard(model)  " + f.comment("do.fsdp"),
				`{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}  ` + f.comment("do.zero")}
		}},
	{id: "smaller_model", source: "https://huggingface.co/docs/transformers/quantization/overview",
		fits: map[string]float64{"too_big": 0.55, "memory_limit": 0.2, "oversubscribed": 0.5},
		when: func(f *failure) bool { return !f.refusedThoughFree() && f.phase() != PhaseValidation },
		variant: func(f *failure) string {
			switch f.event.Framework {
			case "llama.cpp", "ollama":
				return "llama"
			}
			if f.inTraining() {
				return "training"
			}
			return ""
		},
		reach: func(f *failure) float64 {
			if f.phase() == phaseLoading || f.class.first == "smaller_model" || f.phase() == phaseInference {
				return 1.5 // nothing else changes what loading needs
			}
			return 0.6
		},
		do: func(f *failure) []string {
			if f.isServing() {
				return []string{f.comment("do.quantized_server")}
			}
			switch f.event.Framework {
			case "ollama":
				return []string{"/set parameter num_gpu 20  " + f.comment("do.num_gpu"), "/set parameter num_ctx 4096"}
			case "llama.cpp":
				return []string{"llama-server -m MODEL --n-gpu-layers 20 --ctx-size 4096  " + f.comment("do.num_gpu")}
			}
			if f.inTraining() {
				return []string{f.comment("do.smaller_model")}
			}
			return []string{"from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"}
		}},
}

// sharded: the states are already divided over ranks.
func (f *failure) sharded() bool {
	return f.command.HasPlain("fsdp", "deepspeed", "deepspeed_config", "zero_stage", "use_fsdp", "strategy") || f.command.Runs("deepspeed") ||
		f.inFunction("fsdp", "fully_shard", "zero_optim", "deepspeedengine") || f.event.Framework == "deepspeed"
}

func (f *failure) limitVariant() string {
	switch {
	case f.event.Kind == sampler.KindMPS:
		return "mps"
	case f.event.Kind == sampler.KindKVCache, f.event.Kind == sampler.KindStaticPool:
		return f.event.Framework
	case f.event.Kind == sampler.KindRMMPool:
		return "rmm"
	case f.event.Kind == sampler.KindXLA:
		return "jax"
	case f.refusedThoughFree() && !f.limited():
		return "system"
	}
	return ""
}

// tokensThatFit is the longest request that the cache of a server holds, as it says itself or by its
// numbers; 0: not known.
func (f *failure) tokensThatFit() uint64 {
	if n := f.count("estimated_max_model_len"); n > 0 {
		return n
	}
	if n := f.count("kv_cache_tokens"); n > 0 {
		return n
	}
	need, left, tokens := f.requested.Or(0), f.extra("available_kv_cache_bytes").Or(0), f.count("max_seq_len")
	if need == 0 || left >= need {
		return 0
	}
	return uint64(float64(tokens)*float64(left)/float64(need)) / 16 * 16
}

func doRaiseLimit(f *failure) []string {
	switch f.limitVariant() {
	case "mps":
		return []string{"export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0  " + f.comment("do.mps")}
	case "vllm":
		if n := f.tokensThatFit(); n > 0 {
			return []string{"vllm serve MODEL --max-model-len " + strconv.FormatUint(n, 10), "vllm serve MODEL --gpu-memory-utilization 0.95  " + f.comment("do.or")}
		}
		raise := func(v float64) float64 { return min(0.95, float64(int(v*100+0.5)+5)/100) }
		if text, _, ok := f.command.WithNumber(raise, "gpu_memory_utilization"); ok {
			return []string{text}
		}
		return []string{"vllm serve MODEL --gpu-memory-utilization 0.95", "vllm serve MODEL --max-model-len 4096  " + f.comment("do.or")}
	case "sglang":
		return []string{"python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.9"}
	case "jax":
		return []string{"export XLA_PYTHON_CLIENT_MEM_FRACTION=.95"}
	case "rmm":
		return []string{"rmm.reinitialize(pool_allocator=True, maximum_pool_size=None)"}
	case "system":
		return []string{"free -g; ulimit -v; cat /proc/sys/vm/max_map_count  " + f.comment("do.system_limits"),
			"nvidia-smi  " + f.comment("do.race")}
	}
	return []string{"torch.cuda.set_per_process_memory_fraction(1.0)", "grep -rn per_process_memory_fraction .  " + f.comment("do.find_limit")}
}
