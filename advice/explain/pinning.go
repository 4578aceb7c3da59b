package explain

import (
	"fmt"

	"nvpeak/sampler"
)

// sourceWSL has what WSL lacks: "Pinned system memory […] availability for applications is limited".
const sourceWSL = "https://docs.nvidia.com/cuda/wsl-user-guide/index.html#known-limitations-for-linux-cuda-applications"

// refusesPin are words for memory of the host that was to be pinned and was not. A system pins no more than a part of its RAM, so
// neither that nor the GPU need be full. llama.cpp goes on without it, and has rows of its own.
var refusesPin = sampler.Pattern{Source: `(?i)\bpinned (?:host )?memory\b|\bon host: ?CUDA_ERROR_OUT_OF_MEMORY|\bcuda(?:HostAlloc|MallocHost|HostRegister)\b|\bcuMem(?:HostAlloc|HostRegister|AllocHost)\b`}

// refusedPin: the text itself says so. A CUDA error that was read as one of host memory has the call that pins in its traceback.
func (f *facts) refusedPin() bool {
	if f.event.MemoryKind != sampler.MemoryHost || f.event.Kind == sampler.KindGGML {
		return false
	}
	return f.event.Kind == sampler.KindCUDAError || refusesPin.Get().MatchString(f.event.Text)
}

var causesPinning = []causeRow{
	{id: "pinned", cause: CauseHostMemory, form: "pinned", reason: sourceWSL,
		when:       func(f *failure) bool { return f.refusedPin() },
		confidence: func(f *failure) float64 { return f.pinLikely() },
		evidence:   func(f *failure) string { return f.pinText() }},
}

// pinLikely is more where the system is known that pins little.
func (f *failure) pinLikely() float64 {
	if f.withinWSL() {
		return 0.8
	}
	return 0.7
}

// pinText says what was refused, and why that need not mean full RAM.
func (f *failure) pinText() string {
	if f.withinWSL() {
		return f.words.Say("why.pin_refused_wsl")
	}
	return f.words.Say("why.pin_refused")
}

// pinsByLoader: it is a loader of PyTorch that pins, or may be.
func (f *failure) pinsByLoader() bool {
	return f.torchCode() && (f.isPyTorch() || f.shows(sampler.ShowsLoader) || f.told(sampler.ToldLoader)) && !f.layered()
}

// pinsItself: a program calls CUDA for it, without a framework whose option that is.
func (f *failure) pinsItself() bool {
	return (f.refusedPin() || f.maybePinned() && f.told(sampler.ToldPinned)) && !f.pinsByLoader() && !f.layered() && f.event.Framework != "tensorflow"
}

// callsCUDA: no library is named that would pin for the program.
func (f *failure) callsCUDA() bool { return f.event.Framework == "" || f.event.Framework == "cuda" }

var fixesPinning = []fixRow{
	{id: FixReducePinnedMemory, source: "https://docs.pytorch.org/docs/stable/data.html#memory-pinning",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when: func(f *failure) bool {
			return f.pinned() && !f.refusedPin() || (f.refusedPin() || f.maybePinned() && f.told(sampler.ToldPinned)) && f.pinsByLoader()
		},
		do: func(f *failure) []string {
			if f.inCode("pin_memory=True") && !f.inCode("DataLoader(") {
				return []string{"pin_memory=False  " + f.comment("do.pin_line"), "free -g; ulimit -l", f.comment("do.wslconfig")}
			}
			return []string{fmt.Sprintf("DataLoader(…, pin_memory=False, num_workers=%d)", f.fewWorkers()), "free -g; ulimit -l", f.comment("do.wslconfig")}
		}},
	{id: FixReducePinnedMemory, source: sourceWSL,
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when:  func(f *failure) bool { return f.pinsItself() },
		variant: func(f *failure) string {
			if f.callsCUDA() {
				return "pool"
			}
			return ""
		},
		do: func(f *failure) []string {
			if !f.callsCUDA() {
				return []string{f.comment("do.pin_batch"), "free -g; ulimit -l"}
			}
			return []string{f.comment("do.pin_pool"), f.comment("do.pin_pageable"), "free -g; ulimit -l"}
		}},
	{id: FixReducePinnedMemory, source: "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/common_runtime/gpu/gpu_process_state.cc",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when:  func(f *failure) bool { return f.event.Framework == "tensorflow" && f.refusedPin() },
		do: func(f *failure) []string {
			if f.withinWSL() {
				return []string{"export TF_GPU_HOST_MEM_LIMIT_IN_MB=512  " + f.comment("do.pin_until"), f.comment("do.pin_batch")}
			}
			return []string{"free -g", "export TF_GPU_HOST_MEM_LIMIT_IN_MB=4096"}
		}},
}
