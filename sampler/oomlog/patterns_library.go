package oomlog

import "nvpeak/sampler"

// bfcFields belong to the allocator that TensorFlow and XLA share.
var bfcFields = []string{`Allocator \(GPU_<gpu>_bfc\)`, `rounded to <rounded_bytes:bytes>\)`}

// executorFields are the lines under TensorRT-LLM's refusal to start; the amounts are in GiB.
var executorFields = []string{`Total GPU memory \(GiB\): <total:gib>`, `Free GPU memory before component creation attempt \(GiB\): <free:gib>`}

// libraryRows are what the other frameworks and libraries print.
var libraryRows = []row{
	// JAX and XLA
	{name: "xla buffer assignment", framework: "tensorflow", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"while trying to allocate"}, lines: 14, near: `tensorflow/compiler/jit|errors_impl|\[Op:__inference|StatefulPartitionedCall|local_xla`,
		start: `(?:RESOURCE_EXHAUSTED: |Resource exhausted: )?Out of memory while trying to allocate <req>`, fields: xlaFields},
	{name: "xla while trying", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"while trying to allocate"}, lines: 14,
		start: `(?:RESOURCE_EXHAUSTED: |Resource exhausted: )?Out of memory (?:while )?trying to allocate <req>`, fields: xlaFields},
	{name: "xla request exact", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"failed to allocate request for"}, lines: 3,
		start: `Failed to allocate request for \d[\d.]*[KMGT]?i?B \(<req>\) on device ordinal <gpu>`},
	{name: "xla request", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"failed to allocate request for"}, lines: 3,
		start: `Failed to allocate request for <req>`, fields: []string{`on device ordinal <gpu>`}},
	{name: "xla not possible", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"that was not possible"}, lines: 4,
		start: `Attempting to (?:allocate|reserve) <req>(?: at the bottom of memory)?\. That was not possible\.`, fields: []string{`There are <free> free`}},
	{name: "xla hbm", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"ran out of memory in memory space", "memory space hbm"}, lines: 8,
		start: `Ran out of memory in memory space \w+`, fields: []string{`Used <used_bytes:size> of <total> (?:hbm|vmem)`, `capacity by <over_bytes:size>`}},
	{name: "xla bfc", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"ran out of memory trying to allocate"}, lines: 3,
		near:  `external/(?:org_tensorflow|xla|tsl)/|jaxlib|jax/_src|pjrt|[WE]\d{4} \S+ +\d+ bfc_allocator\.cc:\d+\] [^\n]*requested by op *(?:\n|$)`, // TensorFlow has a name there
		start: `Allocator \(\S+\) ran out of memory trying to allocate <req>`, fields: bfcFields},
	{name: "xla cuda driver", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"from device: "}, near: `external/(?:org_tensorflow|xla|tsl)/|jaxlib|jax/_src`, hostNear: `bytes on host`,
		start: `failed to alloc(?:ate)? \d[\d.]*[KMGT]?i?B? \(<req>\) from device: (?:RESOURCE_EXHAUSTED: )?(?::? ?CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory|hipErrorOutOfMemory|out of memory)`},
	// TensorFlow
	{name: "tf tensor on cpu", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryHost, words: []string{"oom when allocating tensor"}, lines: 2,
		start: `OOM when allocating tensor with shape ?\[<shape:list>\](?: and type <dtype:word>)? on \S*device:CPU`},
	{name: "tf tensor shape", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"oom when allocating tensor"}, lines: 2,
		hostNear: `OOM when allocating tensor with shape ?\[[\d,]*\](?: and type \w+)?\s*\[\[(?:[^\[\]]|\[[^\[]|\][^\]])*?/task:\d+/(?:device:)?cpu:\d`, // the operation that failed comes first
		start:    `OOM when allocating tensor(?: of shape| with shape) ?[\[(]<shape:list>[\])](?: and type <dtype:word>)?`, fields: []string{`device: ?GPU: ?<gpu>`, `GPU_<gpu>_bfc`, `task:\d+/gpu:<gpu>"`}},
	{name: "tf tensor without shape", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"oom when allocating tensor"}, lines: 2,
		start: `Resource exhausted: OOM when allocating tensor with shape\s*$`, fields: []string{`task:\d+/gpu:<gpu>"`}},
	{name: "tf not a failure", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, recovered: true, warning: true, words: []string{"ran out of memory trying to allocate"}, lines: 2,
		start: `Allocator \(\S+\) ran out of memory trying to allocate <req>(?: with freed_by_count=\d+)?\. The caller indicates that this is not a failure`, fields: bfcFields},
	{name: "tf bfc cpu", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryHost, words: []string{"ran out of memory trying to allocate"}, lines: 2,
		start: `Allocator \((?:cpu\w*|mklcpu|cuda_host\w*|gpu_host\w*)\) ran out of memory trying to allocate <req>`, fields: bfcFields},
	{name: "tf bfc", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"ran out of memory trying to allocate"}, lines: 2,
		start: `(?:Allocator \(\S+\) )?ran out of memory trying to allocate <req>`, fields: append([]string{`GPU_<gpu>_bfc`}, bfcFields...)},
	{name: "tf cuda driver", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"from device: "},
		start: `failed to alloc(?:ate)? \d[\d.]*[KMGT]?i?B? \(<req>\) from device: (?:RESOURCE_EXHAUSTED: )?(?::? ?CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory|hipErrorOutOfMemory|out of memory)`},
	{name: "tf cuda async", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"cumemallocasync failed to"}, lines: 6,
		start: `(?:gpu_async_<gpu> )?cuMemAllocAsync failed to allocate <req:bytes>`, fields: []string{`Free memory/Total memory: <free:bytes>/<total:bytes>`}},
	{name: "tf cuda driver bare", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"failed to alloc"},
		start: `failed to alloc(?:ate)? <req> (?:from|on) device`},
	{name: "tf pinned host", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryHost, words: []string{"bytes on host"},
		start: `(?:failed to alloc|could not allocate pinned host memory of size:?) <req>(?: on host: ?CUDA_ERROR_OUT_OF_MEMORY)?`},
	{name: "tf pinned host size", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryHost, words: []string{"could not allocate pinned host memory"},
		start: `could not allocate pinned host memory of size:? <req:bytes>`},
	{name: "xla cudnn handle", framework: "jax", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"cudnn_status_alloc_failed"}, near: `external/(?:org_tensorflow|xla)/|jaxlib`, start: `create cudnn handle: CUDNN_STATUS_ALLOC_FAILED`},
	{name: "xla handle without memory", framework: "jax", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"bytes free, "}, near: `create (?:cudnn|cublas) handle|XLA|xla`,
		start: `Memory usage: \d{1,9} bytes free, \d{10,} bytes total`}, // which it prints where a handle cannot be made
	// cuDNN is there and cannot be started: mostly for want of memory, which XLA has taken in advance, or for its version.
	{name: "xla without cudnn", framework: "jax", kind: sampler.KindCuDNNNoAlgorithm, memory: sampler.MemoryGPU, words: []string{"dnn library is not found", "dnn library initialization failed"},
		start: `(?:UNIMPLEMENTED|FAILED_PRECONDITION): DNN library (?:is not found|initialization failed)`, near: `(?i)xla|jax`},
	{name: "tf cudnn handle", framework: "tensorflow", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"cudnn_status_alloc_failed"}, start: `create cudnn handle: CUDNN_STATUS_ALLOC_FAILED`},
	{name: "tf cudnn", framework: "tensorflow", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"cudnn_status_alloc_failed"}, near: `tensorflow/stream_executor|tensorflow/compiler|local_xla`, start: `CUDNN_STATUS_ALLOC_FAILED`},
	{name: "xla cublas handle", framework: "jax", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"cublas_status_alloc_failed"}, near: `external/(?:org_tensorflow|xla)/|jaxlib`, start: `create cublas handle: CUBLAS_STATUS_ALLOC_FAILED`},
	{name: "tf cublas handle", framework: "tensorflow", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"cublas_status_alloc_failed"}, start: `create cublas handle: CUBLAS_STATUS_ALLOC_FAILED`},
	{name: "tf implicit initialization", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"implicit initialization on gpu"}, start: `CUDA runtime implicit initialization on GPU:<gpu> failed\. Status: out of memory`},
	{name: "tf failed to allocate memory", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"failed to allocate memory"}, near: `tensorflow|\[Op:|Keras`,
		start: `(?:device:GPU:<gpu>\}\} )?failed to allocate memory\b`},
	{name: "tf cuinit", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, near: `tensorflow|stream_?executor`,
		start: `(?:failed call to \w+|failed to \w+[^:]{0,60}|InternalError[^:]{0,40}|` +
			`CUDA runtime implicit initialization on GPU:\d+ failed\. Status): ?:? ?(?:CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory|hipErrorOutOfMemory|` +
			`out of memory)`},
	{name: "tf dst tensor", framework: "tensorflow", kind: sampler.KindTensorFlow, memory: sampler.MemoryGPU, words: []string{"dst tensor is not initialized"}, start: `Dst tensor is not initialized`},
	{name: "xla allocating", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"out of memory allocating"},
		start: `RESOURCE_EXHAUSTED: Out of memory allocating <req>`},
	{name: "xla bare", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"resource_exhausted: out of memory"}, loose: true,
		start: `RESOURCE_EXHAUSTED: Out of memory[.!"'\x60)]*\s*$`},
	{name: "xla constant", framework: "jax", kind: sampler.KindXLA, memory: sampler.MemoryGPU, words: []string{"bytes for new constant"}, start: `Failed to allocate <req> for new constant`},
	// CuPy
	{name: "cupy", framework: "cupy", kind: sampler.KindCuPy, memory: sampler.MemoryGPU, limit: "cupy_pool", words: []string{"out of memory allocating", "out of memory to allocate"}, lines: 2,
		start: `out of memory (?:allocating|to allocate) (?:<req:bytes>|` + unsaid + `)`, fields: []string{`allocated so far: <alloc>`, `\(total <with_request_bytes:size>\)`, `limit set to: <limit>`}},
	{name: "cupy cut", framework: "cupy", kind: sampler.KindCuPy, memory: sampler.MemoryGPU, words: []string{"out of memory to allocate", "out of memory allocating"}, follows: true, start: `OutOfMemoryError: out of memory (?:allocating|to allocate)\s*$`},
	{name: "cupy runtime", framework: "cupy", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cudaerrormemoryallocation", "cuda_error_out_of_memory"},
		start: `(?:cupy\S*|CUDARuntimeError): (?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY): out of memory`},
	// RMM, cuDF
	{name: "rmm pool", framework: "rmm", kind: sampler.KindRMMPool, memory: sampler.MemoryGPU, limit: "rmm_pool", words: []string{"maximum pool size exceeded", "exceeded memory limit"}, lines: 2,
		start: `(?:(?:out_of_memory|std::bad_alloc)[^\n]{0,300})?Maximum pool size exceeded|(?:out_of_memory|std::bad_alloc)[^\n]{0,300}Exceeded memory limit`, fields: []string{`failed to allocate <req>`, `Maximum pool size exceeded \(failed to allocate <req>`}},
	{name: "rmm", framework: "rmm", kind: sampler.KindRMM, memory: sampler.MemoryGPU, words: []string{"memory_resource", "out_of_memory: cuda error", "rmm failure", "rmm_error_out_of_memory", "rmm::out_of_memory", "rmm::bad_alloc"}, lines: 2,
		start: `(?:std::bad_alloc: |out_of_memory: ){1,2}(?:CUDA|RMM) (?:error|failure)|RMM_ERROR_OUT_OF_MEMORY|what\(\): std::bad_alloc: [^\n]*rmm|rmm::(?:out_of_memory|bad_alloc)`, near: `rmm|RMM|out_of_memory: CUDA error`, fields: []string{`failed to allocate <req>`, `Attempted to allocate: <req>`}},
	// numba
	{name: "numba", framework: "numba", kind: sampler.KindNumba, memory: sampler.MemoryGPU, words: []string{"results in cuda_error_out_of_memory", "call to cumemalloc"},
		start: `Call to \w+ results in (?:CUresult\.)?CUDA_ERROR_OUT_OF_MEMORY`},
	// Paddle
	{name: "paddle", framework: "paddle", kind: sampler.KindPaddle, memory: sampler.MemoryGPU, words: []string{"out of memory error on"}, lines: 6, near: `(?i)paddle|cannot allocate|ResourceExhaustedError|memory has been allocated`, // people write the same of any program
		start:  `Out of memory error on (?:GPU|XPU|NPU|MLU|Place\(gpu:) ?<gpu>`,
		fields: []string{`Cannot allocate <req>`, `, <alloc> memory has been allocated`, `available memory is (?:only )?<free>`}},
	{name: "paddle in chinese", framework: "paddle", kind: sampler.KindPaddle, memory: sampler.MemoryGPU, words: []string{"内存不足错误", "显存不足错误", "上分配"}, lines: 2, numbers: true,
		start:  `GPU ?<gpu> ?(?:上)?(?:出现)?(?:内存|显存)不足(?:的)?错误|(?:无法|不能)在 ?GPU ?<gpu> ?上分配`,
		fields: []string{`(?:上|法|能)分配 ?<req>`, `已(?:经)?分配(?:了)? ?<alloc>`, `可用(?:的)?(?:内存|显存)(?:仅|只)?(?:为|有|剩)? ?<free>`}},
	{name: "paddle cpu", framework: "paddle", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"fail to alloc memory of", "fail to allocate"}, near: `paddle`, lines: 2,
		start: `Fail to alloc(?:ate)? memory of <req>`},
	{name: "paddle enforce", framework: "paddle", kind: sampler.KindPaddle, memory: sampler.MemoryGPU, words: []string{"enforce allocating <= available"},
		start: `enforce allocating \x3c= available failed, <req:bytes> > <free:bytes>`},
	{name: "paddle cuda error 2", framework: "paddle", kind: sampler.KindPaddle, memory: sampler.MemoryGPU, words: []string{"cuda error(2)"}, near: `paddle`, lines: 2, start: `CUDA error\(2\), out of memory`},
	{name: "paddle shrink a flag", framework: "paddle", kind: sampler.KindPaddle, memory: sampler.MemoryGPU, words: []string{"gpu memory. please shrink"},
		start: `Cannot malloc <req> GPU memory\. Please shrink FLAGS_`},
	// MindSpore
	{name: "mindspore pool", framework: "mindspore", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"is more than total mem size"},
		start: `TotalUsedMemStatistics ?: ?<alloc:bytes> plus .{0,80}plus alloc size ?: ?<req:bytes> is more than total mem size ?: ?<total:bytes>`},
	{name: "mindspore pinned", framework: "mindspore", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"cudahostalloc failed"}, near: `mindspore|minddata`, lines: 2,
		start: `cudaHostAlloc failed, ret\[\d+\], out of memory`},
	// MXNet
	{name: "mxnet", framework: "mxnet", kind: sampler.KindMXNet, memory: sampler.MemoryGPU, words: []string{"storage_manager", "cudamalloc failed", "cudamalloc retry failed", "memory allocation failed"}, near: `mxnet|dmlc|mshadow|storage_manager`,
		start: `(?:cudaMalloc (?:retry )?failed: out of memory|storage_manager\.h:\d+: Memory allocation failed)`},
	{name: "mxnet check", framework: "mxnet", kind: sampler.KindMXNet, memory: sampler.MemoryGPU, words: []string{"cuda: out of memory"}, near: `mxnet|dmlc|mshadow`,
		start: `(?:Check failed: )?e == cudaSuccess.{0,60}CUDA: out of memory`},
	{name: "mxnet cublas handle", framework: "mxnet", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"create cublas handle failed"},
		start: `(?:Check failed: )?err == CUBLAS_STATUS_SUCCESS \([13] vs\. 0\)[ :]*Create cublas handle failed`},
	{name: "mxnet cpu", framework: "mxnet", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"failed to allocate cpu memory"}, start: `Failed to allocate CPU Memory`},
	// ONNX Runtime
	{name: "ort arena available", framework: "onnxruntime", kind: sampler.KindORT, memory: sampler.MemoryUnknown, gpuNear: `CUDA|GPU|Tensorrt|DML`, hostNear: `CPUExecutionProvider\b.{0,40}only|BFCArena for Cpu`, words: []string{"is smaller than requested bytes"}, lines: 2,
		start: `Available memory of <available_bytes:bytes> is smaller than requested bytes of <req:bytes>`},
	{name: "ort arena", framework: "onnxruntime", kind: sampler.KindORT, memory: sampler.MemoryUnknown, gpuNear: `CUDA|GPU|Tensorrt|DML`, hostNear: `_nchwc'`, words: []string{"failed to allocate memory for requested buffer"}, lines: 2,
		start: `Failed to allocate memory for requested buffer of size <req:bytes>`},
	{name: "ort cuda", framework: "onnxruntime", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda failure 2", "cuda failure 700: out"}, lines: 2, near: `onnxruntime|ORT`,
		start: `CUDA failure 2: out of memory`, fields: []string{`; GPU=<gpu>`}},
	{name: "ort library alloc", framework: "onnxruntime", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"cublas failure 3", "cublas_status_alloc_failed"}, near: `onnxruntime`, start: `CUBLAS failure \d+: CUBLAS_STATUS_ALLOC_FAILED`, fields: []string{`; GPU=<gpu>`}},
	{name: "ort cudnn alloc", framework: "onnxruntime", kind: sampler.KindCuDNN, memory: sampler.MemoryGPU, words: []string{"cudnn_status_alloc_failed"}, near: `onnxruntime`, start: `CUDNN failure \d+: CUDNN_STATUS_ALLOC_FAILED`, fields: []string{`; GPU=<gpu>`}},
	// TensorRT
	{name: "trt requested", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"requested amount of"}, lines: 3,
		start: `Requested amount of (?:GPU )?memory \(<req>\) could not be allocated`},
	// A source of its own, which names itself and no call; in the same words others speak of theirs.
	{name: "trt source file", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"cuda error in"}, near: `(?i)tensorrt|nvinfer|trtexec|creating engine|building (?:an? |the )?engine|\.onnx\b`,
		start: `Cuda error in file \S+\.cu at line \d+: out of memory`},
	{name: "trt allocate", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"cuda error in allocate"},
		start: `Cuda Error in allocate: 2\b`},
	{name: "trt scratch", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"bytes of scratch space"},
		start: `requires <req:bytes> bytes of scratch space, but only <free:bytes> is available`},
	{name: "trt requested size", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"error code 2: outofmemory", "requested size was"}, lines: 2,
		start: `(?:Error Code 2: OutOfMemory )?\(Requested size was <req:bytes>\.?\)`},
	{name: "trt error code", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"error code 2: out", "outofmemory error in", "error code 1: cuda runtime", "cuda error in", "outofmemory (no further"}, lines: 2,
		start: `Error Code 2: Out ?Of ?Memory|OutOfMemory Error in \w+|OutOfMemory \(no further information\)|Error Code 1: Cuda Runtime \(out of memory\)|Cuda Error in \S+: 2 \(out of memory\)`},
	// The builder goes on to other ways of computing a layer, and fails where none is left.
	{name: "trt no tactic fits", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"could not find any implementation for node"}, near: `memory allocation error during getBestTactic|due to insufficient memory on requested size`,
		start: `could not find any implementation for node`},
	{name: "trt tactic without memory", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, recovered: true, warning: true, words: []string{"memory allocation error during getbesttactic"}, start: `GPU memory allocation error during getBestTactic`},
	// What stands below this line counts in its unit, without naming it.
	{name: "trt tactic in words", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, recovered: true, words: []string{"tactic device request"},
		start: `Tactic Device request: <req> Available: <free>`},
	{name: "trt tactic in MB", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, recovered: true, words: []string{"memory on requested size"}, follows: true, near: `Tactic Device request: \d+ ?MB`,
		start: `Skipping tactic \S+ due to insuff?icient memory on requested size of <req:mib>`},
	{name: "trt tactic", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, recovered: true, words: []string{"memory on requested size"}, follows: true,
		start: `Skipping tactic \S+ due to insuff?icient memory on requested size of <req:bytes>`},
	{name: "trt-llm executor weights", framework: "tensorrt-llm", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"executor creation failed"}, lines: 5, near: `could not be created: (?:model|draft|guided|sampler)`,
		start: `Executor creation failed due to insufficient GPU memory`, fields: executorFields},
	{name: "trt-llm executor", framework: "tensorrt-llm", kind: sampler.KindWarmup, memory: sampler.MemoryGPU, words: []string{"executor creation failed"}, lines: 5,
		start: `Executor creation failed due to insufficient GPU memory`, fields: executorFields},
	{name: "trt-llm", framework: "tensorrt-llm", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"cuda runtime error in"}, start: `CUDA runtime error in .{0,120}\): out of memory|\[TensorRT-LLM\]\[ERROR\] CUDA runtime error in [^\n]{0,120}?: out of memory`},
	{name: "trt allocating buffer", framework: "tensorrt", kind: sampler.KindTensorRT, memory: sampler.MemoryGPU, words: []string{"error allocating"}, start: `(?:User )?allocator error allocating <req:bytes>-?byte buffer`},
	// nnabla
	{name: "nnabla", framework: "nnabla", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed to allocate again"}, near: `(?i)nnabla|\w+Cuda\b|Freeing memory cache and retrying`, start: `^\W*Failed to allocate again\.\s*$`},
	// bitsandbytes
	{name: "bitsandbytes", framework: "bitsandbytes", kind: sampler.KindBitsAndBytes, memory: sampler.MemoryGPU, words: []string{"error out of memory at line"}, start: `Error out of memory at line \d+ in file \S*`},
	{name: "bitsandbytes invalid", framework: "bitsandbytes", kind: sampler.KindBitsAndBytes, memory: sampler.MemoryGPU, words: []string{"cuda error"}, near: `bitsandbytes`, loose: true, start: `CUDA error: out of memory at line \d+`},
	// Julia
	{name: "cuda.jl", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, words: []string{"out of gpu memory"}, lines: 6,
		start: `(?-i:Out of GPU memory) trying to allocate (?:<req>|` + unsaid + `)`, fields: []string{`Effective GPU memory usage: [\d.]+% \(<used_bytes:size>/<total>\)`, `(?:Memory pool|CUDA allocator|CUDA GPU memory) usage: <alloc>`, `\(<reserved> reserved\)`, `usage: [^(]*\(<reserved> reserved`, `capped at <limit>\)`}, limit: "cuda.jl_memory_limit"},
	{name: "cuda.jl without a size", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, words: []string{"out of gpu memory"}, near: `\bjulia\b|\.jl\b|\bCuArray|\bStacktrace:`, start: `(?-i:Out of GPU memory)[.!]?\s*$`},
	{name: "cuda.jl freeing", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, recovered: true, words: []string{"cuda memory allocation failed"}, lines: 2,
		start: `CUDA memory allocation failed; attempting to free up memory`},
	{name: "cuda.jl error", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, words: []string{"error_out_of_memory"}, start: `(?:CuError|CUDA error: out of memory) ?\(code #?2,? ?(?:CUDA_)?ERROR_OUT_OF_MEMORY\)|CUDAdrv\.CuError\(2`},
	{name: "cuda.jl fft", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, words: []string{"failed to allocate"}, start: `cuFFT failed to allocate GPU or CPU memory`},
	// A handle is the first thing that a library needs room for: https://cuda.juliagpu.org/stable/usage/memory/. Without the list of
	// devices that CUDA.versioninfo() prints, or where that shows room, it says nothing of memory.
	{name: "cuda.jl handle on a full GPU", framework: "cuda.jl", kind: sampler.KindJulia, memory: sampler.MemoryGPU, words: []string{"the library was not initialized"}, near: `: [^\n]*\(sm_\d+, (?:\d{1,3}(?:\.\d+)? [KM]iB|0 bytes) / [\d.]+ GiB available\)`,
		start: `(?-i:CU\w+Error): the library was not initialized \(code 1, \w+_NOT_INITIALIZED\)`},
	// other users of the CUDA driver
	{name: "keops", framework: "keops", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"keops"}, lines: 3, start: `\[(?:py)?KeOps\][^\n]{0,160}(?:CUDA_ERROR_OUT_OF_MEMORY|out of memory)|cudaSafeCall\(\) failed at \S*keops\S* ?: out of memory`},
	{name: "keops driver", framework: "keops", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, near: `keops|KeOps`, start: `CUDA_ERROR_OUT_OF_MEMORY`},
	{name: "spconv", framework: "spconv", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cuda failed with error 2", "cuda execution failed with error 2", "cuda error 2", "failed with error 2"}, near: `spconv|tensorview|cumm`,
		start: `cuda (?:execution )?failed with error 2|\bCUDA error 2\b`},
	{name: "thrust", framework: "thrust", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cudaerrormemoryallocation", "bad_alloc", "thrust"}, near: `thrust|bad_alloc: cuda|radix_sort|parallel_for|after dispatching|failed to synchronize|failed on 1st step|inclusive_scan|merge_sort|reduction step`, lines: 3,
		start: `CUDA error 2 \[\S*thrust\S*, \d+\]: out of memory|` +
			`(?:what\(\): )?(?:std::bad_alloc|thrust::system\S*|[\w :]{2,60}(?:failed[\w ]*|synchronize|kernel|inclusive_scan|step \d+|` +
			`dispatching[\w ]*)): (?:temporary_buffer::allocate: get_temporary_buffer failed|cudaErrorMemoryAllocation(?:: out of memory)?|out of memory)`, fields: []string{`Requested memory: <req:bytes>`, `Free memory: <free:bytes>`}},
	{name: "kokkos", framework: "kokkos", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"the allocation mechanism was", "memory space failed to allocate"},
		start: `Allocation of size <req> failed, likely due to insufficient memory\. {0,3}\(The allocation mechanism was (?:cuda|hip)|Kokkos ERROR: (?:Cuda|HIP)\w* memory space failed to allocate`},
	{name: "kokkos host", framework: "kokkos", kind: sampler.KindHostAlloc, memory: sampler.MemoryHost, words: []string{"kokkos::hostspace::allocate"},
		start: `Kokkos::HostSpace::allocate\[ ?\w+ ?\]\( ?<req:bytes> ?\) FAILED`},
	{name: "memcheck", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"program hit cudaerrormemoryallocation", "program hit cuda_error_out_of_memory"},
		start: `Program hit (?:cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY) \(error 2\)`},
	{name: "cublas failure", framework: "cuda", kind: sampler.KindCuBLAS, memory: sampler.MemoryGPU, words: []string{"cublas failure 3"}, start: `CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED`, fields: []string{`; GPU=<gpu>`}},
}

// xlaFields are the lines of a buffer assignment that follow the message.
var xlaFields = []string{`\bwith ~?<free> (?:\w+ )?free\b`, `device ordinal <gpu>`, `parameter allocation: <parameter_bytes:size>`, `constant allocation: <constant_bytes:size>`,
	`maybe_live_out allocation: <maybe_live_out_bytes:size>`, `preallocated temp allocation: <temp_bytes:size>`,
	`total allocation: <total_allocation_bytes:size>`, `total fragmentation: <fragmentation_bytes:size>`}

// genericRows are what anybody prints who uses CUDA; they stand after everything that says more.
var genericRows = []row{
	{name: "faiss assertion", framework: "faiss", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda error 2 out of memory"}, start: `CUDA error 2 out of memory`},
	{name: "faiss", framework: "faiss", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed to cudamalloc", "fail type "}, lines: 1,
		start: `Failed to cudaMalloc <req:bytes>(?: on device <gpu>)?|(?:alloc )?fail type \w+ dev <gpu>[^\n]{0,60} size <req:bytes>`},
	{name: "ctranslate2", framework: "ctranslate2", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cuda failed with error out of memory"}, start: `CUDA failed with error out of memory`},
	{name: "gpuassert", framework: "pytorch", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"gpuassert"}, start: `GPUassert: out of memory`},
	{name: "caffe", framework: "caffe", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"== cudasuccess (2 vs. 0)"}, start: `== cudaSuccess \(2 vs\. 0\) out of memory`},
	{name: "pycuda", framework: "pycuda", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed: out of memory"}, near: `(?i)pycuda|(?:Memory|Logic)Error: cu[A-Z]`, start: `(?-i)\bcu[A-Z]\w+ failed: out of memory`},
	{name: "call of CUDA", framework: "python", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed: out of memory"}, start: `\bcu[A-Z]\w+ failed: out of memory`},
	{name: "caffe2", framework: "pytorch", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"== cudasuccess. 2 vs 0"}, start: `== cudaSuccess\. 2 vs 0\.[^\n]{0,160}out of memory`},
	{name: "directx", framework: "onnxruntime", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"not enough memory resources are available"}, hostNear: `\[WinError`, start: `(?:8007000E )?Not enough memory resources are available to complete this operation`},
	{name: "opencl", framework: "opencl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"mem_object_allocation_failure", "memory object allocation failure"},
		start: `(?:CL_)?MEM_OBJECT_ALLOCATION_FAILURE|what\(\): Memory Object Allocation Failure`},
	{name: "openacc", framework: "openacc", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"call to cumemalloc returned error 2"}, start: `call to cuMemAlloc\w* returned error 2`},
	{name: "openmm", framework: "openmm", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, near: `OpenMM`, start: `CUDA_ERROR_OUT_OF_MEMORY`},
	// The constants are the driver's: without a word of PyTorch about them nobody knows who printed them.
	{name: "driver constant in PyTorch", framework: "pytorch", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, loose: true, near: ofTorch, start: `CUDA_ERROR_OUT_OF_MEMORY`},
	{name: "driver constant", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cuda_error_out_of_memory"}, loose: true, start: `CUDA_ERROR_OUT_OF_MEMORY`},
	{name: "cuda runtime constant", framework: "cuda", kind: sampler.KindCUDAError, memory: sampler.MemoryGPU, words: []string{"cudaerrormemoryallocation"}, loose: true, start: `cudaErrorMemoryAllocation`},
	{name: "cudamalloc bare", framework: "pytorch", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cudamalloc"}, loose: true, follows: true, start: `cudaMalloc\w* (?:failed|error|returned)\b.{0,30}out of memory`},
}
