package explain

import (
	"slices"

	"nvpeak/sampler"
)

// sourceExperts has the options that keep the experts of a model alike in load, and what one does with tokens beyond that.
const sourceExperts = "https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/core/transformer/moe/README.md"

// expertOptions say how many experts a model has, or over how many GPUs they are spread.
var expertOptions = []string{"experts", "num_experts", "n_experts", "moe_num_experts", "num_local_experts", "expert_parallel_size", "expert_model_parallel_size", "ep_size", "moe_router_topk"}

// runsExperts: the model has experts, to which a router gives the tokens.
func (f *failure) runsExperts() bool {
	return f.command.HasPlain(expertOptions...) || f.inCode("tokens_per_expert", "experts(", "expert_input", "grouped_gemm") || f.inFile("/moe/", "/moe_", "grouped_gemm", "megablocks", "token_dispatcher") || f.inFunction("experts", "grouped_gemm", "token_permut")
}

// unevenExperts is how much more the process usually held, in all or of late, than any other of its job, where each has experts of its own and as large a batch: a router
// gives some of them more tokens. 0: it did not, or there are none.
func (f *failure) unevenExperts() sampler.Bytes {
	if f.onHost() || f.history == nil || len(f.history.Peers) == 0 || len(f.history.Peaks) < 3 || slices.Max(f.history.Peers) == 0 || !f.total.Known() || !f.inTraining() || !f.runsExperts() {
		return 0
	}
	ahead := max(f.usualLately().Less(slices.Max(f.history.Peers)), f.aheadOfPeers()) // what rises and falls by much is seldom at its top
	if ahead < max(2*sampler.GiB, f.total.Or(0)/8) {
		return 0
	}
	return ahead
}

var causesExperts = []causeRow{
	{id: "experts", cause: CauseImbalance, reason: sourceExperts,
		when:       func(f *failure) bool { return f.unevenExperts() > 0 },
		confidence: always(0.93),
		evidence: func(f *failure) string {
			return f.words.Say("why.experts", "ahead", gib(f.unevenExperts()), "count", len(f.history.Peers))
		}},
}
