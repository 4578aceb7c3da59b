package advice

import "nvpeak/sampler"

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
	{kind: "cuda_oom", class: classAllocator},
	{kind: "cuda_async_oom", class: classAllocator},
	{kind: "hip_oom", class: classAllocator},
	{kind: "xpu_oom", class: classAllocator},
	{kind: "mps_oom", class: classAllocator},
	{kind: "npu_oom", class: classAllocator},
	{kind: "xla_oom", class: classAllocator},
	{kind: "tf_oom", class: classAllocator},
	{kind: "ggml_alloc_failed", class: classAllocator, cause: "too_big", confidence: 0.7, first: "smaller_model"},
	{kind: "ort_arena_oom", class: classAllocator},
	{kind: "trt_oom", class: classAllocator, cause: "too_big", confidence: 0.5},
	{kind: "cupy_oom", class: classAllocator},
	{kind: "rmm_oom", class: classAllocator},
	{kind: "rmm_pool_limit", class: classAllocator, cause: "memory_limit", confidence: 0.85, first: "raise_limit"},
	{kind: "paddle_oom", class: classAllocator},
	{kind: "mxnet_oom", class: classAllocator},
	{kind: "bnb_oom", class: classNoNumbers},
	{kind: "julia_oom", class: classAllocator},
	{kind: "numba_oom", class: classNoNumbers},
	{kind: "other_gpu_oom", class: classNoNumbers},
	{kind: "cuda_error_oom", class: classNoNumbers},
	{kind: "cuda_driver_oom", class: classNoNumbers},
	{kind: "cublas_alloc_failed", class: classNoNumbers},
	{kind: "cudnn_alloc_failed", class: classNoNumbers},
	{kind: "cudnn_no_algorithm", class: classNoNumbers},
	{kind: "nccl_oom", class: classNoNumbers},
	{kind: "kv_cache_no_memory", class: classServing, cause: "memory_limit", confidence: 0.7, first: "raise_limit"},
	{kind: "startup_free_below_limit", class: classServing, cause: "other_process", confidence: 0.85, first: "stop_other_process"},
	{kind: "warmup_oom", class: classServing, cause: "preallocation", confidence: 0.8, first: "cap_preallocation"},
	{kind: "static_pool_too_small", class: classServing, cause: "memory_limit", confidence: 0.8, first: "raise_limit"},
	{kind: "kernel_oom_kill", class: classHost, cause: "host_memory", confidence: 0.97},
	{kind: "cgroup_oom_kill", class: classHost, cause: "host_memory", confidence: 0.97},
	{kind: "killed_no_reason", class: classHost, cause: "host_memory", confidence: 0.6},
	{kind: "worker_killed", class: classHost, cause: "host_memory", confidence: 0.8},
	{kind: "host_alloc_failed", class: classHost, cause: "host_memory", confidence: 0.9},
	{kind: "ray_memory_monitor", class: classHost, cause: "host_memory", confidence: 0.95},
	{kind: "k8s_oomkilled", class: classHost, cause: "host_memory", confidence: 0.95},
	{kind: "shm_bus_error", class: classShm, cause: "shared_memory", confidence: 0.9},
	{kind: "mmap_enomem", class: classMaps, cause: "host_memory", confidence: 0.6},
}

// classOf finds the row of an event. An unknown kind is judged by where the memory was.
func classOf(e sampler.OOMEvent) kindRow {
	for _, row := range kindRows {
		if row.kind == e.Kind {
			return row
		}
	}
	if e.MemoryKind == "host" {
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
	return f.event.MemoryKind == "host" || f.pinned()
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
	return f.command.style() == styleUltralytics || f.inCode("ultralytics") || f.inFunction("ultralytics")
}
