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

// expertsAhead: of late it held more than any other of its job, and clearly more than most of them (own threshold: an eighth of the GPU), while one of them comes near.
func (f *failure) expertsAhead() bool {
	if f.onHost() || f.history == nil || len(f.history.Peers) < 2 || len(f.history.Peaks) < 3 || !f.total.Known() || !f.inTraining() || !f.runsExperts() {
		return false
	}
	own := f.usualLately()
	return own > slices.Max(f.history.Peers) && own.Less(Usual(f.history.Peers)) >= f.total.Or(0)/8
}

// unevenlyRouted: the experts of this GPU have more to do than those of the others, or than those of most.
func (f *failure) unevenlyRouted() bool { return f.unevenExperts() > 0 || f.expertsAhead() }

var causesExperts = []causeRow{
	{id: "experts", cause: CauseImbalance, reason: sourceExperts,
		when:       func(f *failure) bool { return f.unevenExperts() > 0 },
		confidence: always(0.93),
		evidence: func(f *failure) string {
			return f.words.Say("why.experts", "ahead", gib(f.unevenExperts()), "count", len(f.history.Peers))
		}},
	{id: "experts_most", cause: CauseImbalance, reason: sourceExperts,
		when: func(f *failure) bool {
			return f.expertsAhead() && f.unevenExperts() == 0 && f.driftsFromPeers() == 0
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.66) },
		evidence: func(f *failure) string {
			return f.words.Say("why.experts_most", "own", gib(f.usualLately()), "low", gib(slices.Min(f.history.Peers)), "high", gib(slices.Max(f.history.Peers)), "count", len(f.history.Peers))
		}},
}
