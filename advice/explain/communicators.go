package explain

import "nvpeak/sampler"

// sourceNCCL says of NCCL_BUFFSIZE that it is for want of memory, and that NCCL_MAX_CTAS took the place of NCCL_MAX_NCHANNELS in 2.17.
const sourceNCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"

// fixesCommunicators are for buffers of NCCL, which are of no batch: each communicator has some for each channel and each GPU that it talks to.
var fixesCommunicators = []fixRow{
	{id: FixCommunicators, source: sourceNCCL,
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.7, CausePreallocation: 0.6, CauseOtherProcess: 0.4, CauseImbalance: 0.3},
		when:  func(f *failure) bool { return f.event.Kind == sampler.KindNCCL && !f.onHost() && !f.batchIsAuto() }, // which took what NCCL lacks
		reach: always(1),
		do: func(f *failure) []string {
			buffers := "export NCCL_BUFFSIZE=1048576 NCCL_MAX_CTAS=4  " + f.comment("do.nccl_buffers")
			if f.inFile("torch/") || f.command.Known || f.server() != "" || f.shows(sampler.ShowsTorch, sampler.ShowsRanks, sampler.ShowsDeepSpeed, sampler.ShowsTransformers) {
				return []string{f.comment("do.nccl_room"), buffers}
			}
			return []string{f.comment("do.fewer_communicators"), buffers}
		}},
}
