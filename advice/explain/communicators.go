package explain

import "nvpeak/sampler"

// sourceNCCL says of NCCL_BUFFSIZE that it is for want of memory, and that NCCL_MAX_CTAS took the place of NCCL_MAX_NCHANNELS in 2.17.
const sourceNCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"

// sourceGroups says that a group is of all ranks, and how it is destroyed.
const sourceGroups = "https://docs.pytorch.org/docs/stable/distributed.html#groups"

// groupsPile: it died while one more process group was made, after memory had grown: a new one for each evaluation, say, which nobody destroys. Each has a
// communicator with buffers of its own on all ranks, beside what PyTorch allocates.
func (f *facts) groupsPile() bool {
	return f.event.Kind == sampler.KindNCCL && !f.onHost() && f.toldOfGrowth() && (f.inFunction("new_group", "new_subgroups", "split_group", "init_device_mesh") || f.inCode("new_group("))
}

var causesCommunicators = []causeRow{
	{id: "groups", cause: CauseLeak, reason: sourceGroups,
		when:       func(f *failure) bool { return f.groupsPile() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.88) },
		evidence:   func(f *failure) string { return f.words.Say("why.groups") }},
}

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
		}}, {id: FixLeak, source: sourceGroups,
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseLeak: 0.98},
		when:    func(f *failure) bool { return f.groupsPile() },
		reach:   always(1),
		variant: func(f *failure) string { return "groups" },
		do: func(f *failure) []string {
			return []string{"group = torch.distributed.new_group(ranks)  " + f.comment("do.group_once"), "torch.distributed.destroy_process_group(group)  " + f.comment("do.group_destroyed")}
		}},
}
