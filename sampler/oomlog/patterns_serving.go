package oomlog

import "nvpeak/sampler"

// metalRefused is what Metal says of a command buffer, in one of its two forms, or with the begin that MLX gives it and cut behind that.
// https://github.com/ml-explore/mlx/blob/main/mlx/backend/metal/eval.cpp
const metalRefused = `Insufficient Memory \((?:0+8:kIOGPUCommandBufferCallbackErrorOutOfMemory|IOAF code 8)\)|\[METAL\] Command buffer execution failed: Insufficient Memory`

// servingRows are what inference servers print.
var servingRows = []row{
	{name: "vllm no cache blocks", framework: "vllm", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, words: []string{"no available memory for the cache blocks"},
		start: `No available memory for the cache blocks`},
	// All that this function raises is of a cache that is too small; a text may end before it says so.
	// https://github.com/vllm-project/vllm/blob/v0.4.1/vllm/worker/worker.py
	{name: "vllm cache known by its frame", framework: "vllm", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, follows: true, words: []string{"raise_if_cache_size_invalid"}, near: `, in (?:initialize_cache|raise)`,
		start: `(?:, in |^\s*)raise_if_cache_size_invalid\b`},
	{name: "vllm kv cache needed", framework: "vllm", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, words: []string{"to serve at least one request"}, lines: 6,
		start: `To serve at least one request with the models?'?s? max(?:imum)? seq(?:uence)? len`,
		fields: []string{`max(?:imum)? seq(?:uence)? len(?:gth)? \(<max_seq_len:int>\)`, `\(?<req> (?:GiB )?(?:of )?KV cache(?: memory)? is needed`,
			`available KV cache memory \(<available_kv_cache_bytes:size>\)`, `estimated maximum model length is <estimated_max_model_len:int>`}},
	{name: "vllm nothing left for the cache", framework: "vllm", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, words: []string{"reserved for kv cache is -"},
		start: `the rest of the memory reserved for KV Cache is -\d`},
	{name: "vllm max seq len", framework: "vllm", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, words: []string{"tokens that can be stored in kv cache", "stored in kv cache"}, lines: 4,
		start: `(?:The )?model's max seq len \(<max_seq_len:int>\) is larger than the maximum number of tokens that can be stored in KV cache \(<kv_cache_tokens:int>\)`},
	{name: "vllm free memory at start", framework: "vllm", kind: sampler.KindStartupFree, memory: sampler.MemoryGPU, limit: "gpu_memory_utilization", words: []string{"free memory on device"}, lines: 5,
		start:  `Free memory on device (?:(?:cuda|hip|rocm|xpu|npu|musa):<gpu> )?\((?:[\d.]+ ?[-–] ?)?<free:gib> ?/ ?<total>\) on startup is less than desired`,
		fields: []string{`desired GPU memory utilization \(<frac>, <limit>\)`}},
	{name: "vllm free memory retyped", framework: "vllm", kind: sampler.KindStartupFree, memory: sampler.MemoryGPU, limit: "gpu_memory_utilization", words: []string{"desired gpu memory utilization"},
		start: `Free memory(?: on device(?: \S+)?)? ?\(<free>(?: ?/ ?<total>)?\)(?: on startup)? ?(?:\x3c|is (?:less|lower) than) ?(?:the )?desired GPU memory utilization`, fields: []string{`utilization \((?:<frac>, )?<limit>\)`}},
	{name: "sglang not enough memory", framework: "sglang", kind: sampler.KindStaticPool, memory: sampler.MemoryGPU, words: []string{"not enough memory. please try"},
		start: `Not enough memory\. Please try (?:to increase|increasing) --mem-fraction-static`, fields: []string{`mem_fraction_static(?:=| = )<mem_fraction_static:num>`}},
	{name: "sglang weights leave nothing", framework: "sglang", kind: sampler.KindStaticPool, memory: sampler.MemoryGPU, words: []string{"leave no gpu memory for the kv cache"},
		start: `Loaded weights leave no GPU memory for the KV cache(?: under --mem-fraction-static=<mem_fraction_static:num>)?`},
	{name: "sglang batch", framework: "sglang", kind: sampler.KindKVCache, memory: sampler.MemoryGPU, words: []string{"prefill out of memory. ", "decode out of memory. ", "extend out of memory. "}, lines: 3,
		start: `\b(?:Prefill|Decode|Extend) out of memory\. (?:(?:Please )?try to lower|This should n\w+ happen)`, fields: []string{`Try to allocate <tokens:int> tokens`}},
	{name: "sglang unbalanced", framework: "sglang", kind: sampler.KindStartupFree, memory: sampler.MemoryGPU, words: []string{"memory capacity is unbalanced"},
		start: `The memory capacity is unbalanced\. Some GPUs may be occupied`},
	// The workspace that its caller made, not the GPU, is too small.
	{name: "flashinfer workspace", framework: "flashinfer", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"in aligned"}, lines: 1,
		start: `(?:Failed to allocate memory|` +
			`Buffer overflow when allocating memory) for \S+ with size <req:bytes> and alignment \d+,?(?: but only <available_bytes:bytes>(?: bytes)? available)? in Aligned|` +
			`Out of workspace memory in Aligned`},
	{name: "triton pool", framework: "triton", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, words: []string{"cnmem_status_out_of_memory"},
		start: `Failed to allocate CUDA memory with byte size <req:bytes> on GPU <gpu>: CNMEM_STATUS_OUT_OF_MEMORY`},
	{name: "ggml buffer", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"cudamalloc failed", "hipmalloc failed"}, lines: 3,
		start: `(?:ggml\w*: )?allocating <req> on device <gpu>: (?:cuda|hip|musa)Malloc failed: out of memory`},
	{name: "ggml malloc only", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"cudamalloc failed", "hipmalloc failed"}, follows: true, near: `ggml|llama|whisper`,
		start: `(?:cuda|hip)Malloc failed: out of memory`},
	{name: "ggml allocate buffer", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"failed to allocate"}, lines: 2,
		start: `(?:<caller:word>: )?failed to allocate (?:CUDA|ROCm|Vulkan|Metal|SYCL|MTL)<gpu> buffer(?: of size <req:bytes>)?`},
	{name: "ggml unable buffer", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"unable to allocate"}, follows: true,
		start: `unable to allocate (?:CUDA|ROCm|Vulkan|Metal|SYCL|MTL)<gpu>(?:_Host)? buffer`},
	{name: "ggml metal", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"ggml_metal"}, lines: 3,
		start: `ggml_metal\w*: error: failed to allocate buffer,? size = <req:bytes>`},
	{name: "ggml metal command buffer", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"kiogpucommandbuffercallbackerroroutofmemory", "insufficient memory"},
		near:  `ggml|llama|whisper`,
		start: metalRefused},
	// What Metal cannot page in ends a command buffer with no more than its status; the lines before say that there was more than it recommends.
	{name: "ggml metal over its working set", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"failed with status 5"}, near: `greater than the recommended max working set size`,
		start: `ggml_metal\w*: command buffer \d+ failed with status 5\b`},
	{name: "metal command buffer", framework: "pytorch", kind: sampler.KindMPS, memory: sampler.MemoryGPU, words: []string{"kiogpucommandbuffercallbackerroroutofmemory", "insufficient memory (ioaf", "execution failed: insufficient memory"},
		start: metalRefused},
	{name: "ggml vulkan", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"ggml_vulkan", "erroroutofdevicememory"}, lines: 3, near: `ggml|llama|whisper`,
		start: `ggml_vulkan: Device memory allocation of size <req:bytes> failed|ErrorOutOfDeviceMemory`, fields: []string{`allocation of size <req:bytes> failed`}},
	{name: "ggml pinned", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryHost, recovered: true, words: []string{"of pinned memory"},
		start: `failed to allocate <req> of pinned memory`},
	{name: "ggml compute buffers", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryGPU, follows: true, words: []string{"failed to allocate compute", "unable to allocate backend buffer"},
		start: `failed to allocate compute (?:pp )?buffers|unable to allocate backend buffer`},
	// The cache can be on either side; the line before it says where.
	{name: "ggml kv cache", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryUnknown, follows: true, words: []string{"failed to allocate buffer for kv cache"}, gpuNear: `CUDA|ROCm|Vulkan|Metal`,
		start: `failed to allocate buffer for kv cache`},
	{name: "ggml context pool", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryHost, words: []string{"not enough space in the context"},
		start: `not enough space in the context's memory pool \(needed <req:bytes>, available <available_bytes:bytes>\)`},
	{name: "ggml host malloc", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryHost, words: []string{"insufficient memory (attempted"},
		start: `insufficient memory \(attempted to allocate <req>\)`},
	{name: "ggml graph on the host", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryHost, words: []string{"failed to allocate cpu buffer"},
		start: `failed to allocate CPU buffer of size <req:bytes>`},
	{name: "ggml host buffer", framework: "llama.cpp", kind: sampler.KindGGML, memory: sampler.MemoryHost, words: []string{"failed to allocate buffer of size"},
		start: `failed to allocate buffer of size <req:bytes>`, near: `ggml_backend_cpu|CPU`},
	{name: "ollama runner exited", framework: "ollama", kind: sampler.KindGGML, memory: sampler.MemoryGPU, words: []string{"llama runner exited, you may not have", "llama runner process no longer running"},
		start: `llama runner exited, you may not have enough (?:available )?memory to run this model|llama runner process no longer running: -?\d+ (?:error: )?out of memory`},
	{name: "ollama needs more system memory", framework: "ollama", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"requires more system memory"},
		start: `model requires more system memory \(<req>\) than is available \(<available_bytes:size>\)`},
}
