package oomlog

import "nvpeak/sampler"

// refusedCall is a call of a CUDA library with its arguments, and behind it what the driver answered.
const refusedCall = `(?-i)\b[Cc]u(?:da|blas|dnn|solver|sparse|fft|rand)?[A-Z]\w+ ?\([^\n;{}]{1,300}?\)[^\n;{}"]{0,160}?(?:: |- |\(|, |error |returned )"?(?:cudaErrorMemoryAllocation: )?[Oo]ut of memory\b`

// nativeRows are what programs in C++ print that call CUDA themselves. Each has its own macro around the
// calls, so the rows say what all have in common: a call, a place or a code beside the driver's words
// "out of memory", in any order. They stand after the frameworks, which say more.
var nativeRows = []row{
	{name: "thrust algorithm", framework: "thrust", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory", "failed to get memory buffer"}, loose: true,
		start: `(?:after (?:cuda\w+|dispatching|reduction)[\w :()]{0,80}|(?:CUB error in )?\bcub::Device\w+(?:::\w+)?(?:\(\w*\))?[\w ]{0,30}|` +
			`\b(?:parallel_for|for_each|transform\w*|reduce\w*|radix_sort|merge_sort|stable_sort|copy_if|unique\w*|partition\w*|(?:in|ex)clusive_scan\w*|` +
			`scan_by_key|set_\w+|adjacent_difference|uninitialized_\w+|trivial_\w+|extrema):? [\w ]{0,40}): ?(?:cudaErrorMemoryAllocation: ?)?out of memory|` +
			`\b(?:radix|merge)_sort: failed to get memory buffer`},
	{name: "cntk", framework: "cntk", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda failure 2"}, near: `hostname=|cntk`,
		start: `CUDA failure 2: out of mem(?:ory)?\b`, fields: []string{`; GPU=<gpu>`}},
	{name: "dlib pinned", framework: "dlib", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"error while calling cudamallochost"},
		start: `Error while calling cudaMallocHost\([^\n]{1,300}? reason: out of memory`},
	{name: "dali", framework: "dali", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"can't allocate"}, start: `Can't allocate <req:bytes> on device <gpu>\.`}, // NVIDIA's data loader
	{name: "dali on the host", framework: "dali", kind: sampler.KindOtherGPU, memory: sampler.MemoryHost, words: []string{"can't allocate"}, near: `(?i)dali|CUDA allocation failed`, start: `Can't allocate <req:bytes> on host\.`},
	{name: "dlib", framework: "dlib", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"error while calling cu"},
		start: `(?-i)Error while calling cu(?:da|dnn|blas|rand|solver)[A-Z]\w*\([^\n]{0,400}?, reason: (?:out of memory|\w+_ALLOC_FAILED|CURAND_STATUS_ALLOCATION_FAILED)`},
	{name: "xla call", framework: "jax", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: refusedCall, near: `jaxlib|XlaRuntimeError|external/(?:xla|org_tensorflow)|/jax/`},
	{name: "xla driver", framework: "jax", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, near: `jaxlib|XlaRuntimeError|external/(?:xla|org_tensorflow)|/jax/|\b(?:jax|brax|flax)\b`,
		start: `Failed to (?:instantiate|launch|load|create|initialize)\b[^\n]{0,160}: CUDA_ERROR_OUT_OF_MEMORY`},
	{name: "darknet layer", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda error: out of memory"}, start: `^\s*\d+ CUDA Error: out of memory`},
	{name: "matconvnet", framework: "matconvnet", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"[out of memory error]"}, start: `vl::impl::\w+: .{0,60}\[out of memory error\]`},
	{name: "wgpu", framework: "wgpu", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"not enough memory left"}, near: `wgpu`, start: `Not enough memory left`},
	{name: "optix", framework: "optix", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, near: `optix::Exception|RTresult|rtBufferCreate`, start: `Encountered a CUDA error: [^\n]{1,160}? returned \(2\): Out of memory`},
	{name: "cycles", framework: "blender", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory in cu"}, start: `Out of memory in cu\w+\([^\n]{0,200}?cycles[\\/]device|CUDA error: Out of memory in cuMemAlloc\(&device_pointer\b`},
	{name: "phoenix", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory (2)"}, lines: 1, start: `CUDA error in \w+\.cu:\d+ ?: out of memory \(2\)`, fields: []string{`CUDA memory: <total> total, <free> free`, `GPU<gpu_number:int>: CUDA memory`}},
	{name: "gpumd", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda error:"}, lines: 5, near: `Error text: *out of memory`, start: `^\s*CUDA Error:\s*$`},
	{name: "faiss scratch", framework: "faiss", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"stackdevicememory"}, start: `Faiss assertion 'err == cudaSuccess' failed in [^\n]{0,80}StackDeviceMemory::Stack::Stack`},
	// A call with its number: https://github.com/facebookresearch/faiss/blob/v1.5.0/gpu/utils/StackDeviceMemory.cpp
	{name: "faiss call", framework: "faiss", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cudamalloc error 2"}, start: `\bcudaMalloc\w* error 2\b[^\n]{0,24}? size <req:bytes>`},
	{name: "cuda call", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: refusedCall},
	{name: "cuda call last", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, loose: true,
		start: `(?-i)(?:Error |CUDA error: )?"?\b[Oo]ut of memory\b"?[^\n.{}]{0,60}?\bcu(?:da)?[A-Z]\w+ ?(?:[()]|in \S+\.\w+:\d+)[^\n]*`},
	{name: "cuda error at a place", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, loose: true,
		start:  `\bCUDA (?:(?:runtime|driver|status|API) )?(?:error|failure|exception):? ?(?:(?:at|in|file|code)\b[^\n]{0,160}?|cuda[a-z]\w+ [^\n]{0,80}?|#?\d+\b[^\n]{0,40}?)[:,=(-] ?["']?out of memory`,
		fields: []string{`; GPU=<gpu>`}},
	{name: "cuda error below its place", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"error: out of memory"}, near: `cuda|gpu|\.cuh?\b`,
		start: `\.(?:cuh?|hpp|h|cpp|cc|cxx) ?[(:]\d+\)?:? error: out of memory`},
	{name: "cuda source file", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"},
		start: `\bout of memory (?:in|at) \S+\.cuh?\b|\[CUDA\] (?:failed,? )?out of memory(?: at)? \S+\.\w+|\bCudaError: out of memory|` +
			`\(-217:Gpu API call\) out of memory|\bGpu API call \(out of memory\)|` +
			`[\w./-]{1,120}\.cuh? ?[:(]\d+\)?:? (?:\w+\(\)?:? )?(?:CUDA )?(?:runtime )?error:? ?[^\n]{0,40}?\bout of memory\b`},
	{name: "turbomind", framework: "lmdeploy", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"[tm]["}, start: `\[TM\]\[\w+\] CUDA runtime error: out of memory`},
	{name: "cuda runtime error before its place", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda runtime error"},
		start: `CUDA runtime error: out of memory \S+\.(?:h|hpp|cc|cpp|cuh?):\d+`},
	{name: "cuda error in brackets", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"<out of memory>"}, start: `CUDA error !* ?<out of memory>`}, // ABACUS, PWmat
	{name: "warp", framework: "warp", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"warp cuda error 2"}, start: `Warp CUDA error 2: out of memory`},
	{name: "physx", framework: "physx", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"memoryallocator fail to allocate", "cumemalloc failed with error code 2"},
		start: `Pxg\w*Allocator fail to allocate memory <req:bytes>|out of memory: cuMemAlloc failed with error code 2`},
	{name: "rust driver error", framework: "cudarc", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"drivererror(cuda_error_out"}, start: `DriverError\(CUDA_ERROR_OUT_OF_MEMORY`},
	{name: "cuda error number", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"},
		start: `(?-i)\bcudaError(?:_t)?(?: error)?[:= (]{1,3}2 ?[(:,] ?"?out of memory`},
	{name: "matlab on the device", framework: "matlab", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory on device"},
		start: `Out of memory on device\. You requested: <req>, device has <free> free`},
	{name: "matlab on the device without sizes", framework: "matlab", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory on device"}, start: `Out of memory on device\. To view more detail`},
	{name: "device out of memory", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"device out of memory"},
		start: `ArrayFire (?:error|Exception)[^\n]{0,40}\bDevice out of memory`},
	{name: "enoki", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cuda_malloc(): out of memory"}, start: `cuda_malloc\(\): out of memory`},
	{name: "blender", framework: "blender", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"system is out of gpu"}, start: `System is out of GPU (?:and shared host )?memory`},
	{name: "ethminer", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: `CUDA error .out of memory. in func\b|CUDA error in func \S+ at line \d+ ?:? ?out of memory\b`},
	{name: "alpaka", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cudaerrormemoryallocation"}, start: `'cuda\w+\([^\n]{0,200}?\)' returned error *: *'cudaErrorMemoryAllocation'`},
	{name: "darknet malloc", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda malloc failed"}, start: `^\s*(?:\d+ )?Cuda malloc failed\s*$`},
	// Miners keep one table of gigabytes, the DAG, on the GPU, and each has its own words for a GPU on which it does not fit.
	{name: "miner", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed to alloc memory", "cannot allocate big buffer"}, lines: 1,
		start: `\bCUDA: failed to alloc memory\b|CUDA error (?:\d+ )?- cannot allocate big buffer for DAG`, fields: []string{`GPU <gpu> failed`}},
	{name: "miner without room", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"insufficient memory for dag", "generate dag"}, loose: true, follows: true,
		start: `(?:GPU #?<gpu>[:,] )?(?:insufficient memory for DAG(?: epoch \d+)?\b|Can't generate DAG\b[^\n]{0,40}\bout of memory\b)`},
	{name: "miner with a card too small", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"but device has"},
		start: `(?:\[ID=\d+, GPU #<gpu>\], )?\bEpoch \d+ requires <req>(?: of memory)?,? but device has <total>`},
	{name: "miner with a limit for one buffer", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"allowed to allocate in single buffer"}, limit: "single_buffer",
		start: `(?:could not allocate memory on GPU <gpu> to create DAG\. )?Current epoch requires <req> memory for DAG but there is only <limit> allowed to allocate in single buffer`}, // nanominer
	{name: "device by number", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: `^(?:ERROR - )?Device <gpu>: out of memory\s*$`},
	{name: "miner in OpenCL", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cannot allocate big buffer", "allocation of dag failed", "the dag in a single chunk", "ethash dag buffer"},
		start: `(?:GPU <gpu>[:,] )?(?:OpenCL error -?\d+ - cannot allocate big buffer for DAG|Allocation of DAG failed with error|` +
			`(?:Allocating/mapping (?:single |DAG )?buffer failed with: [^\n]{0,60} )?GPU can't allocate the DAG in a single chunk|` +
			`Failed to allocate ethash DAG buffer)`},
	{name: "lolminer", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"when allocating memory or building", "when allocating memory for"},
		start: `(?:GPU <gpu>: )?error when allocating memory (?:or building|for) (?:\w+ )?DAG\b`},
	{name: "miner with sizes", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"memory to hold the dag", "memory to hold the full dag", "memory to place dag"}, loose: true,
		start: `(?:GPU #<gpu>\]?[,:] )?(?:Device does not have enough free memory|not enough (?:GPU )?memory) to (?:hold|place) (?:the )?(?:full )?DAG(?: for epoch \d+\. Required: <req>, free: <free>)?`},
	{name: "gpuarray", framework: "theano", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"bytes of device memory"}, lines: 2,
		start: `Error allocating <req:bytes> of device memory \(out of memory\)(?:\. Driver report <free:bytes> free and <total:bytes> total)?`},
	{name: "cnmem", framework: "theano", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cnmem_status_out_of_memory"}, loose: true, start: `CNMEM_STATUS_OUT_OF_MEMORY`},
	{name: "tiny-cuda-nn", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"failed with error out of memory"}, start: `Could not allocate memory: [^\n]{0,80}failed with error out of memory`},
	// Who copies from a terminal may lose the end of a line, and with it of the last word.
	{name: "cut in its last word", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of mem"},
		start: `(?:\bCUDA error:? |\bcuda\w+\([^\n]{1,300}?\)[^\n;{}"]{0,80}? |\bfailed with error |\bCUDA failed with )out of mem(?:or?)?(?:…|\.{3})?\s*$`},
	{name: "cut after its call", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"could not allocate memory"},
		start: `Could not allocate memory: [^\n]{0,300}\bcudaMalloc\w*\([^\n]{0,200}\) failed(?: with(?: error)?(?: out(?: of)?)?)?(?:…|\.{3})?\s*$`},
	{name: "opencl renderer", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"not enough gpu mem"}, start: `Not enough GPU mem!`},
	{name: "cuda samples", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cudaerrormemoryallocation"},
		start: `CUDA error at \S+:\d+ code ?= ?2 ?\(cudaErrorMemoryAllocation\)`},
	{name: "kaldi", framework: "kaldi", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed to allocate a memory region"},
		start: `Failed to allocate a memory region of <req:bytes>`, fields: []string{`Memory info: free:<free>`, `, used:<used_bytes:size>`, `, total:<total>`}},
	{name: "lammps", framework: "lammps", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"insufficient memory on accelerator"}, start: `(?-i)(?:^|\bERROR: )(?:(?:ERROR )?on proc \d+: )?Insufficient memory on accelerator(?: \(\S+:\d+\)|$)`},
	{name: "cuda error 2 in file", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: `(?:\bamrex::Abort::<rank>::)?\bCUDA error 2 in (?:file )?\S+,? (?:at )?line \d+ ?: ?out of memory`}, // AMReX
	{name: "amrex", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of gpu memory. free"}, start: `Out of gpu memory\. Free: <free:bytes> Asked: <req:bytes>`},
	{name: "cuquantum", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"[custatevec]"}, start: `\[custatevec\] %?out of memory in \w+ \(line \d+\)`}, // CUDA-Q
	// What it adds to its device before it asks the driver: the wrapper of OpenCL that FluidX3D has.
	{name: "opencl wrapper", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"does not have enough memory."}, lines: 1,
		start: `Device "[^"\n]{1,80}" does not have enough memory\.`, fields: []string{`Allocating another <req:mib> MB would use a total of <with_request_bytes:mib> MB / <total:mib> MB`}},
	// Aer compares before it begins, with the memory of the machine and, where it is to use GPUs, of these with it.
	{name: "aer on GPUs", framework: "qiskit", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"insufficient memory to run circuit"}, lines: 1,
		start: `Insufficient memory to run circuit [^\n]{0,120} simulator\. Required memory: <req:mib>M, max memory: \d+M \(Host\) \+ \d+M \(GPU\)`},
	{name: "hashcat", framework: "hashcat", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"allocatable device"}, start: `Device #<gpu>: (?:Not|Device does not provide) enough allocatable device[- ]memory`},
	{name: "cuda call without arguments", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"},
		start: `(?-i)\bcu(?:da)?[A-Z]\w+(?:\(\)(?: (?:failed|error|returned))?| error): [Oo]ut of memory\b|\bError in cu[A-Z]\w+(?:\[[\w|]+\])?: [Oo]ut of memory\b`},
	{name: "amber", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"gpubuffer::allocate failed"}, start: `GpuBuffer::Allocate failed (?:\(\w+\) )?out of memory`},
	{name: "colmap", framework: "colmap", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"gpu memory to match"}, start: `Not enough GPU memory to match \d+ features`},
	{name: "nvidia fortran", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"requested; not enough memory"}, start: `ALLOCATE: <req:bytes> requested; not enough memory: 2 ?\(out of memory\)`},
	{name: "opencl number", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"clcreate", "opencl error"}, // -4 is the refusal, -61 a buffer that is too large for the device
		start: `\bclCreate(?:Buffer|Image)\w* ?(?:\([^()\n]{0,80}\) ?)?(?:failed|returned|error)?(?: with)?(?: (?:error|code|status))*[ :=]*\(?-(?:4|61)\b|\bOpenCL error:? ?\(?(?:code )?-4\b`},
	{name: "checked call", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, // RAJA's camp
		start: `(?-i)\b\w*(?:[Cc]uda|[Hh]ip)\w*(?:[Cc]hk|[Cc]heck)\w*\((?:cuda|hip)[A-Z][^\n;{}]{1,200}\) [Oo]ut of memory \S+:\d+`},
	{name: "cuda error in quotes", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: `\bCUDA error:? ["']out of memory["']`},
	// Slices of a GPU for the pods of Kubernetes: what is above the slice is refused, whatever is free. The numbers are bytes with the request, and of the slice.
	{name: "hami", framework: "cuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"hami-core error"}, limit: "slice",
		start: `\[HAMI-core ERROR[^\]\n]{0,100}\]: Device <gpu> OOM \d+ / <limit:bytes>`},
	{name: "relion in a call", framework: "relion", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of memory"}, start: `\bout of memory in \S+ at line \d+ \(error-code 2\)`},
	{name: "relion in words", framework: "relion", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"you ran out of memory on the gpu(s)"}, start: `You ran out of memory on the GPU\(s\)\.`},
	{name: "relion", framework: "relion", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"customallocator out of memory"}, lines: 4,
		start: `Cuda\w*CustomAllocator out of memory`, fields: []string{`requestedSpace: +<req:bytes>`, `totalFreeSpace: +<free:bytes>`}},
	{name: "mlx", framework: "mlx", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"alloc_or_wait] unable", "alloc] unable to allocate", "alloc] attempting to"}, // "[m" is taken for the rest of a color
		start: `alloc(?:_or_wait)?\] (?:Unable|Attempting) to allocate <req:bytes>`},
	{name: "tt-metal", framework: "tt-metal", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"not enough space to allocate"},
		start: `Out of Memory: Not enough space to allocate <req> (?:DRAM|L1)`},
}
