package explain

import (
	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// Classes of errors: how much a text of that kind can tell.
const (
	classAllocator = "allocator" // a request was refused, numbers may follow
	classNoNumbers = "no_numbers"
	classServing   = "serving" // a server that plans its memory at start
	classHost      = "host"
	classShm       = "shm"
	classMaps      = "maps"
)

// kindRow is what one error_kind means. cause and confidence are given where the kind alone
// decides; advice then names the fix to put first.
type kindRow struct {
	kind       string
	class      string
	cause      string
	confidence float64
	first      string
}

var kindRows = []kindRow{
	{kind: sampler.KindCUDA, class: classAllocator},
	{kind: sampler.KindCUDAAsync, class: classAllocator},
	{kind: sampler.KindHIP, class: classAllocator},
	{kind: sampler.KindXPU, class: classAllocator},
	{kind: sampler.KindMPS, class: classAllocator},
	{kind: sampler.KindNPU, class: classAllocator},
	{kind: sampler.KindXLA, class: classAllocator},
	{kind: sampler.KindTensorFlow, class: classAllocator},
	{kind: sampler.KindGGML, class: classAllocator, cause: "too_big", confidence: 0.7, first: "smaller_model"},
	{kind: sampler.KindORT, class: classAllocator},
	{kind: sampler.KindTensorRT, class: classAllocator, cause: "too_big", confidence: 0.5},
	{kind: sampler.KindCuPy, class: classAllocator},
	{kind: sampler.KindRMM, class: classAllocator},
	{kind: sampler.KindRMMPool, class: classAllocator, cause: "memory_limit", confidence: 0.85, first: "raise_limit"},
	{kind: sampler.KindPaddle, class: classAllocator},
	{kind: sampler.KindMXNet, class: classAllocator},
	{kind: sampler.KindBitsAndBytes, class: classNoNumbers},
	{kind: sampler.KindJulia, class: classAllocator},
	{kind: sampler.KindNumba, class: classNoNumbers},
	{kind: sampler.KindOtherGPU, class: classNoNumbers},
	{kind: sampler.KindCUDAError, class: classNoNumbers},
	{kind: sampler.KindCUDADriver, class: classNoNumbers},
	{kind: sampler.KindCuBLAS, class: classNoNumbers},
	{kind: sampler.KindCuDNN, class: classNoNumbers},
	{kind: sampler.KindCuDNNNoAlgorithm, class: classNoNumbers},
	{kind: sampler.KindNCCL, class: classNoNumbers},
	{kind: sampler.KindKVCache, class: classServing, cause: "memory_limit", confidence: 0.7, first: "raise_limit"},
	{kind: sampler.KindStartupFree, class: classServing, cause: "other_process", confidence: 0.85, first: "stop_other_process"},
	{kind: sampler.KindWarmup, class: classServing, cause: "preallocation", confidence: 0.8, first: "cap_preallocation"},
	{kind: sampler.KindStaticPool, class: classServing, cause: "memory_limit", confidence: 0.8, first: "raise_limit"},
	{kind: sampler.KindKernelKill, class: classHost, cause: "host_memory", confidence: 0.97},
	{kind: sampler.KindCgroupKill, class: classHost, cause: "host_memory", confidence: 0.97},
	{kind: sampler.KindKilled, class: classHost, cause: "host_memory", confidence: 0.6},
	{kind: sampler.KindWorkerKilled, class: classHost, cause: "host_memory", confidence: 0.8},
	{kind: sampler.KindHostAlloc, class: classHost, cause: "host_memory", confidence: 0.9},
	{kind: sampler.KindRayMonitor, class: classHost, cause: "host_memory", confidence: 0.95},
	{kind: sampler.KindKubernetes, class: classHost, cause: "host_memory", confidence: 0.95},
	{kind: sampler.KindShm, class: classShm, cause: "shared_memory", confidence: 0.9},
	{kind: sampler.KindMmap, class: classMaps, cause: "host_memory", confidence: 0.6},
}

// classOf finds the row of an event. An unknown kind is judged by where the memory was.
func classOf(e sampler.OOMEvent) kindRow {
	for _, row := range kindRows {
		if row.kind == e.Kind {
			return row
		}
	}
	if e.MemoryKind == sampler.MemoryHost {
		return kindRow{kind: e.Kind, class: classHost, cause: "host_memory", confidence: 0.6}
	}
	if e.Requested.Known() || e.Allocated.Known() {
		return kindRow{kind: e.Kind, class: classAllocator}
	}
	return kindRow{kind: e.Kind, class: classNoNumbers}
}

// onHost: nothing about the GPU can help.
func (f *failure) onHost() bool {
	switch f.class.class {
	case classHost, classShm, classMaps:
		return true
	}
	return f.event.MemoryKind == sampler.MemoryHost || f.pinned()
}

// pinned: a CUDA error at a line that pins or copies to host memory is about RAM. WSL2 allows
// little of it. https://github.com/OpenMOSS/MOSS/issues/328
func (f *failure) pinned() bool {
	return f.class.class == classNoNumbers && (f.inFunction("pin_memory", "cudahostalloc") || f.inCode("pin_memory()", `.to("cpu"`, ".to('cpu'", ".cpu()"))
}

// numbers: the arithmetic of request and free memory can be done.
func (f *failure) numbers() bool { _, ok := f.missing(); return ok && f.total.Known() }

// isPyTorch: the allocator options and torch code of the fixes apply.
func (f *failure) isPyTorch() bool {
	switch f.event.Framework {
	case "pytorch", "deepspeed", "comfyui":
		return true
	}
	return false
}

// isServing: a language-model server, whose memory is set by its own options.
func (f *failure) isServing() bool {
	return f.class.class == classServing || f.server() != ""
}

// server is the language-model server that failed: vllm, sglang, or "".
func (f *failure) server() string {
	for _, name := range []string{f.event.Framework, f.context.Server} {
		if name == "vllm" || name == "sglang" {
			return name
		}
	}
	return ""
}

// isUltralytics: the run uses the Ultralytics trainer.
func (f *failure) isUltralytics() bool {
	return f.command.Style() == command.StyleUltralytics || f.inCode("ultralytics") || f.inFunction("ultralytics")
}
