package oomlog

import "nvpeak/sampler"

// The pattern tables. The first row whose start matches, whose near holds and which the guard lets pass
// makes the event, so special wordings stand before general ones: specificRows here, then libraryRows,
// servingRows, pytorchRows, graphicsRows, nativeRows, genericRows and hostRows in their files.

// torchFields are the clauses of PyTorch's allocator message of every era, each optional and in any order:
// https://github.com/pytorch/pytorch/blob/001074d25084fdb87a799823e395a50f5ec044d3/c10/cuda/CUDACachingAllocator.cpp
// (now), https://github.com/pytorch/pytorch/pull/13751 ("cached", 1.0 to 1.3), and as people retype it in lists.
var torchFields = []string{
	`Tried to allocate <req>`,
	`\((?:GPU|NPU|XPU|HIP|CUDA|MLU|device) <gpu>;`,
	`(?:GPU|NPU|XPU) <gpu> has a total capac`,
	`; <total> total capacity`,
	`total capac(?:i)?ty (?:of )?[:=]? <total>`,
	`total capac(?:i)?ty of <total>,? of which <free>`, // cut behind the figure, it is still the free memory
	`; <free> free(?:;|\))`,
	`- (?:GPU )?Free(?: memory)? [:=] <free>`,
	`[;.] <limit> allowed;`,
	`Process <other_pid> has <other> memory in use`,
	`(?:this )?process has <proc> memory in use`,
	`in use by (?:this )?process [:=] <proc>`,
	`[;,] <alloc> already allocated`,
	`allocated memory <alloc> is allocated`,
	`(?:\.\.\.|…|[a-z]) <alloc> is allocated by PyTorch`, // retyped or cut, with a part left out
	`allocated by PyTorch [:=] <alloc>`,
	`with <pools> allocated in private pools`,
	`and <unalloc> is r`, // "reserved by PyTorch but unallocated", where the end is not cut off
	`reserved (?:by PyTorch )?but unallocated [:=] <unalloc>`,
	`[;,] <unalloc> cached?(?: by PyTorch)?(?:\)|\b)`,
	`[;,] <reserved> reserved in total\b`,
	`[;,] <active_bytes:size> current active`,
}

// asyncFields are the lines of PyTorch's cudaMallocAsync backend.
var asyncFields = []string{`Currently allocated [:=] <alloc>`, `Requested [:=] <req>`, `Device limit [:=] <total>`, `Free \(according to CUDA\) [:=] <free>`, `memory fraction\) [:=] <limit>`}

var torchWords = []string{"out of memory", "outofmemory", "tried to allocate", "out of mem", "cuda out of", "total capac", "already allocated"}

// specificRows are wordings that contain a more general one.
var specificRows = []row{
	{name: "unreal engine", framework: "python", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"ran out of memory allocating"}, start: `Ran out of memory allocating <req:bytes>(?: \([^)]{1,20}\))? bytes with alignment \d`},
	{name: "gcc", framework: "shell", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"out of memory allocating"}, start: `out of memory allocating <req:bytes> after a total of`},
	{name: "gdal", framework: "shell", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"out of memory allocating"}, start: `(?:CPL|VSI)\w+(?:\(\))?: Out of memory allocating <req:bytes>`},
	{name: "xgboost", framework: "xgboost", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"memory allocation error on worker"}, lines: 6,
		start: `Memory allocation error on worker \d+`, fields: []string{`Requested memory: <req:bytes>`, `Free memory: <free:bytes>`}},
	{name: "vllm warm-up", framework: "vllm", kind: sampler.KindWarmup, memory: sampler.MemoryGPU, words: []string{"warming up sampler", "out of memory occurred when warming"},
		start: `CUDA out of memory occurred when warming up sampler with(?: <dummy_requests:int>|$)`, lines: 2},
	{name: "ultralytics retry", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, words: []string{"out of memory with batch"},
		start: `CUDA out of memory with batch=<batch:int>\.? Reducing to batch=<next_batch:int>`},
	{name: "ultralytics assigner", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, words: []string{"in taskalignedassigner"},
		start: `CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU`},
	{name: "detectron copy to cpu", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, words: []string{"due to cuda oom"},
		start: `Attempting to (?:copy|convert) inputs? .{0,200}due to CUDA OOM`},
	{name: "opennmt batch removed", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, words: []string{"cuda oom - batch removed"},
		start: `cuda OOM - batch removed`},
	{name: "fairseq old retry", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, follows: true, words: []string{"ran out of memory, "},
		start: `WARNING: ran out of memory(?: in validation step| on GPU \d+)?, (?:skipping|retrying)`},
	{name: "fairseq old retry without level", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, follows: true, words: []string{"ran out of memory, "},
		start: `^\W*ran out of memory(?: in validation step| on GPU \d+)?, (?:skipping|retrying)`},
	{name: "expandable segment mapping", framework: "pytorch", kind: sampler.KindCUDADriver, memory: sampler.MemoryGPU, recovered: true, words: []string{"memory mapping failed with oom"},
		start: `expandable_segments?: memory mapping failed with OOM(?: for <req:bytes>)?`},
	{name: "caught and went on", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, recovered: true, follows: true, words: []string{"cuda oom", "gpu oom", "out of memory"},
		start: `\b(?:CUDA|GPU) (?:OOM|` +
			`out[ -]of[ -]memory)\b(?: error)?[^.\n"'()]{0,40}?[!,.:;–—-] ?(?:[^.\n"'()]{0,30}\b)?(?:(?:skipping|skipped|retrying|falling back|using CPU|` +
			`continuing|clearing cache and)\b|reducing (?:to\b|(?:the |micro[- ])*batch(?:[ _-]size)?(?: ?(?:$|\.\.\.|[,;!…])| (?:to|from|by|and)\b)))`},
	{name: "catboost", framework: "catboost", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory. requested"},
		start: `(?:(?:\S+\.h:\d+: )?Error: )?Out of memory\. Requested <req:mib>(?: ?MB)?; Free <free:mib>(?: ?MB)?`},
	{name: "directml", framework: "pytorch", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"could not allocate tensor with"},
		start: `Could not allocate tensor with <req>\.? There is not enough GPU video memory`},
	{name: "tgi prefill", framework: "pytorch", kind: sampler.KindWarmup, memory: sampler.MemoryGPU, words: []string{"not enough memory to handle"}, follows: true,
		start: `Not enough memory to handle (?:<prefill_tokens:int> prefill tokens|\d+ total tokens)`},
	{name: "comfyui tiled", framework: "comfyui", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, recovered: true, words: []string{"ran out of memory when regular"},
		start: `Ran out of memory when regular (?:VAE )?(?:de|en)coding, retrying with tiled`},
	{name: "comfyui unloading", framework: "comfyui", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, follows: true, words: []string{"got an oom, unloading"},
		start: `Got an OOM, unloading all loaded models`},
	{name: "torch more than 1EB", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, words: []string{"more than 1eb"},
		start: `(?:CUDA|HIP) out of memory\. Tried to allocate <sentinel:phrase>`, fields: []string{`\(GPU <gpu>`, `GPU <gpu> has`}},
	{name: "fsdp clone of a state dict", framework: "pytorch", kind: sampler.KindCUDA, memory: sampler.MemoryGPU, limit: "memory_fraction", words: []string{"failed to clone() tensor"}, lines: 18,
		start: `Failed to clone\(\) tensor with name .{0,800}?CUDA out of memory`, fields: torchFields},
	{name: "torch cudnn error", framework: "pytorch", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"cudnn_status_alloc_failed"}, loose: true, start: `cuDNN error: CUDNN_STATUS_ALLOC_FAILED`},
	{name: "torch cublas error", framework: "pytorch", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"cublas_status_alloc_failed"}, loose: true, start: `CUDA error: CUBLAS_STATUS_ALLOC_FAILED`},
	{name: "torch mps", framework: "pytorch", kind: sampler.KindMPS, memory: sampler.MemoryGPU, limit: "mps_high_watermark", words: []string{"mps backend out of memory", "mps allocated", "out of memory (mps", "mps backend out"},
		start: `MPS backend out of memory`, lines: 6,
		fields: []string{`Tried to allocate <req> on (?:private|shared|unified)`, `Tried to allocate <req>`, `MPS allocated: <alloc>`, `other allocations: <other_allocations_bytes:size>`, `max allowed: <limit>`}},
	{name: "torch cudaMallocAsync", framework: "pytorch", kind: sampler.KindCUDAAsync, memory: sampler.MemoryGPU, limit: "memory_fraction", words: []string{"allocation on device"}, numbers: true,
		start: `Allocation on device(?: <gpu>)?`, lines: 12, fields: asyncFields},
	{name: "torch cudaMallocAsync cut", framework: "pytorch", kind: sampler.KindCUDAAsync, memory: sampler.MemoryGPU, words: []string{"allocation on device", "exceed allowed memory"},
		start: `Allocation on device (?:<gpu> )?would exceed allowed memory`},
	{name: "comfyui allocation on device", framework: "comfyui", kind: sampler.KindCUDAAsync, memory: sampler.MemoryGPU, words: []string{"allocation on device"},
		start: `(?:Allocation on device|torch\.OutOfMemoryError: Allocation on device)(?: \d+)?(?: This error means you ran out of memory)?`, lines: 4, near: `comfy|Got an OOM|Exception during processing|Prompt executed|execution\.py|VAE ?(?:De|En)code|KSampler|CLIP ?TextEncode|\bUNET ?Loader`},
	{name: "torch allocation on device", framework: "pytorch", kind: sampler.KindCUDAAsync, memory: sampler.MemoryGPU, words: []string{"allocation on device"},
		start: `(?:OutOfMemoryError: |^)Allocation on device(?: <gpu>)?`, lines: 2},
}
