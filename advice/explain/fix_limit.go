package explain

import (
	"cmp"
	"strconv"

	"nvpeak/sampler"
)

// fixesLimit let a program use more of the GPU than it was allowed.
var fixesLimit = []fixRow{
	{id: FixRaiseLimit, source: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseMemoryLimit: 0.9, CauseHostMemory: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && !f.maybePinned() && (f.program.name != "alphafold" || f.smallShare() > 0) && // whose own scripts set several times the GPU, of RAM
				!f.hasLargestShare() && !f.oneBuffer()
		},
		variant: func(f *failure) string { return f.limitVariant() },
		reach: func(f *failure) float64 {
			if f.event.Kind == sampler.KindMPS && f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "" {
				return 0.3 // the limit protects the whole machine there
			}
			if f.told(sampler.ToldInForce+"export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0") ||
				f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "0.0" && !f.told(sampler.ToldInForce+`os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"]="0.0"`) {
				return 0.2 // it was set, and not by the program itself, for which it may be too late
			}
			if f.refusedThoughFree() && f.littleRAM() {
				return 0.9 // the limit is that of the machine
			}
			if f.refusedThoughFree() && !f.limited() {
				return 0.4 // that there is one is only supposed
			}
			return 0.95
		},
		do: doRaiseLimit},
	{id: FixRaiseLimit, source: "https://github.com/nanopool/nanominer/issues/276",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseMemoryLimit: 0.98},
		when:    func(f *failure) bool { return f.oneBuffer() },
		reach:   always(1.2), // its own message names it
		variant: func(f *failure) string { return "buffer" },
		do: func(f *failure) []string {
			if f.onLinux() {
				return []string{"export GPU_SINGLE_ALLOC_PERCENT=100", f.comment("do.one_buffer_where")}
			}
			return []string{"setx GPU_SINGLE_ALLOC_PERCENT 100  " + f.comment("do.one_buffer"), f.comment("do.one_buffer_where")}
		}},
	{id: FixRaiseLimit, source: sourceJAX,
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseMemoryLimit: 0.98, CauseDataSpike: 0.95, CauseTooBig: 0.9, CauseValidationSpike: 0.9, CauseFragmentation: 0.9},
		when:    func(f *failure) bool { return f.fitsLargerShare() },
		variant: func(f *failure) string { return "jax" },
		reach:   always(1), // whatever asked for it, it finds room
		do:      doRaiseLimit},
	{id: FixRaiseLimit, source: "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseDataSpike: 0.8, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.slice() > 0 && f.impossible() },
		variant: func(f *failure) string { return "mig" },
		reach:   always(1), // nothing that is freed makes room for it there
		do: func(f *failure) []string {
			lines := []string{"nvidia-smi mig -lgip  " + f.comment("do.mig_profiles")}
			if f.event.Kind == sampler.KindTensorRT {
				lines = append(lines, f.comment("do.engine_profile"))
			}
			return lines
		}},
	{id: FixRaiseLimit, source: "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.9, CauseMemoryLimit: 0.95},
		when:    func(f *failure) bool { return f.littleOverMetal() && !f.beyondMachine() && !f.program.is(training) }, // that has a batch, and would swap in each step
		variant: func(f *failure) string { return "mps" },
		reach:   always(1),
		do:      doRaiseLimit},
}

func doRaiseLimit(f *failure) []string {
	switch f.limitVariant() {
	case "slice": // https://github.com/Project-HAMi/HAMi
		larger := f.event.MemoryLimit.Allowed.Or(16*sampler.GiB) / sampler.MiB * 3 / 2
		return []string{"nvidia.com/gpumem: " + strconv.FormatUint(uint64(larger), 10) + "  " + f.comment("do.slice")}
	case "mps":
		lines := []string{"export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0  " + f.comment("do.mps")}
		if f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "0.0" {
			lines = append(lines, f.comment("do.mps_unset"))
		}
		return lines
	case "vllm":
		share := f.withShare("vllm", func(v float64) float64 {
			if f.told(sampler.ToldServers) {
				return largestShare // many versions count what the other holds against it: https://github.com/vllm-project/vllm/pull/18974
			}
			return min(largestShare, float64(int(v*100+0.5)+5)/100)
		})
		if f.told(sampler.ToldServers) {
			share[0] += "  " + f.comment("do.share_of_both")
		}
		if n := f.tokensThatFit(); n > 0 {
			if text, ok := f.command.WithOption("--max-model-len", strconv.FormatUint(n, 10)); ok && f.runsServer() {
				return []string{text, share[0]}
			}
			shorter := cmp.Or(f.inCall("vllm", "--max-model-len", strconv.FormatUint(n, 10)), "vllm serve MODEL --max-model-len "+strconv.FormatUint(n, 10))
			return []string{shorter, share[0] + "  " + f.comment("do.or")}
		}
		if f.command.Known && f.isServing() {
			return share
		}
		return []string{share[0], "vllm serve MODEL --max-model-len 4096 --enforce-eager  " + f.comment("do.or")}
	case "sglang":
		return f.withShare("sglang", func(v float64) float64 { return min(largestShare, float64(int(v*100+0.5)+5)/100) })
	case "cupy":
		return []string{"cupy.get_default_memory_pool().free_all_blocks()  " + f.comment("do.cupy_blocks"), "cupy.get_default_memory_pool().set_limit(fraction=0.95)"}
	case "jax":
		return []string{"export XLA_PYTHON_CLIENT_MEM_FRACTION=.95"}
	case "rmm":
		pool := "40"
		if total := f.saidTotal(); total > 4*sampler.GiB {
			pool = strconv.FormatUint(uint64(total/sampler.GiB)-2, 10) // CUDA and what does not use RMM take some
		}
		return []string{"rmm.reinitialize(pool_allocator=True, maximum_pool_size=" + pool + " * 2**30)  " + f.comment("do.rmm_pool"), "rmm.reinitialize(managed_memory=True)  " + f.comment("do.rmm_managed")}
	case "system":
		return []string{"free -g; ulimit -v; cat /proc/sys/vm/max_map_count  " + f.comment("do.system_limits"),
			"nvidia-smi  " + f.comment("do.race")}
	}
	if text, _, typed := f.command.WithNumber(wholeGPU, fractionOptions...); typed {
		return []string{text}
	}
	return []string{"torch.cuda.set_per_process_memory_fraction(1.0)", "grep -rn per_process_memory_fraction .  " + f.comment("do.find_limit")}
}

// fractionOptions are names that programs give to the share of the GPU they take, as plain ones.
var fractionOptions = []string{"per_process_memory_fraction", "per_process_gpu_memory_fraction", "cuda_memory_fraction", "gpu_memory_fraction", "gpu_mem_fraction",
	"memory_fraction", "mem_fraction", "gpu_fraction", "vram_fraction", "gpu_memory_frac", "gpu_mem_frac", "memory_frac", "mem_frac", "gpu_frac"}

// wholeGPU is all of a GPU where somebody has typed a share of it, or a percentage.
func wholeGPU(typed float64) float64 {
	if typed > 1 {
		return 100
	}
	return 1
}
