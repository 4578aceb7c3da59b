package explain

import "nvpeak/sampler"

var kindRows = []kindRow{
	{kind: sampler.KindCUDA, class: classAllocator},
	{kind: sampler.KindCUDAAsync, class: classAllocator},
	{kind: sampler.KindRefused, class: classAllocator},
	{kind: sampler.KindHIP, class: classAllocator},
	{kind: sampler.KindXPU, class: classAllocator},
	{kind: sampler.KindMPS, class: classAllocator},
	{kind: sampler.KindNPU, class: classAllocator},
	{kind: sampler.KindXLA, class: classAllocator},
	{kind: sampler.KindTensorFlow, class: classAllocator},
	{kind: sampler.KindGGML, class: classAllocator, cause: CauseTooBig, confidence: 0.7, first: FixSmallerModel},
	{kind: sampler.KindORT, class: classAllocator},
	{kind: sampler.KindTensorRT, class: classAllocator, cause: CauseTooBig, confidence: 0.5},
	{kind: sampler.KindCuPy, class: classAllocator},
	{kind: sampler.KindRMM, class: classAllocator},
	{kind: sampler.KindRMMPool, class: classAllocator, cause: CauseMemoryLimit, confidence: 0.85, first: FixRaiseLimit},
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
	{kind: sampler.KindKVCache, class: classServing, cause: CauseMemoryLimit, confidence: 0.7, first: FixRaiseLimit},
	{kind: sampler.KindStartupFree, class: classServing, cause: CauseOtherProcess, confidence: 0.85, first: FixStopOtherProcess},
	{kind: sampler.KindWarmup, class: classServing, cause: CausePreallocation, confidence: 0.8, first: FixCapPreallocation},
	{kind: sampler.KindStaticPool, class: classServing, cause: CauseMemoryLimit, confidence: 0.8, first: FixRaiseLimit},
	{kind: sampler.KindKernelKill, class: classHost, cause: CauseHostMemory, confidence: 0.97},
	{kind: sampler.KindCgroupKill, class: classHost, cause: CauseHostMemory, confidence: 0.97},
	{kind: sampler.KindKilled, class: classHost, cause: CauseHostMemory, confidence: 0.6},
	{kind: sampler.KindWorkerKilled, class: classHost, cause: CauseHostMemory, confidence: 0.8},
	{kind: sampler.KindHostAlloc, class: classHost, cause: CauseHostMemory, confidence: 0.9},
	{kind: sampler.KindRayMonitor, class: classHost, cause: CauseHostMemory, confidence: 0.95},
	{kind: sampler.KindKubernetes, class: classHost, cause: CauseHostMemory, confidence: 0.95},
	{kind: sampler.KindShm, class: classShm, cause: CauseSharedMemory, confidence: 0.9},
	{kind: sampler.KindMmap, class: classMaps, cause: CauseHostMemory, confidence: 0.6},
}

// classOf finds the row of an event. An unknown kind is judged by where the memory was.
func classOf(e sampler.OOMEvent) kindRow {
	for _, row := range kindRows {
		if row.kind == e.Kind {
			if e.Kind == sampler.KindRefused && !e.Requested.Known() {
				row.class = classNoNumbers // a piece of it
			}
			return row
		}
	}
	if e.MemoryKind == sampler.MemoryHost {
		return kindRow{kind: e.Kind, class: classHost, cause: CauseHostMemory, confidence: 0.6}
	}
	if e.Requested.Known() || e.Allocated.Known() {
		return kindRow{kind: e.Kind, class: classAllocator}
	}
	return kindRow{kind: e.Kind, class: classNoNumbers}
}
