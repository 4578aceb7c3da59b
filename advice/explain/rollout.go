package explain

import (
	"strconv"

	"nvpeak/sampler"
)

// sourceRollout is what TRL says of vLLM that shares the GPUs with the training. ms-swift calls the share the same:
// https://github.com/modelscope/ms-swift/blob/main/docs/source_en/Instruction/Command-line-parameters.md
const sourceRollout = "https://huggingface.co/docs/trl/vllm_integration"

const (
	rolloutShare = "vllm_gpu_memory_utilization" // the trainer's own name of the share
	// leastRollout is the share that TRL takes unless told otherwise, since 0.9 left too little: https://github.com/huggingface/trl/issues/2688
	leastRollout = 0.3
)

// causesRollout and fixesRollout are about a trainer that lets vLLM generate on the GPUs on which it trains.
var causesRollout = []causeRow{
	{id: "rollout", cause: CausePreallocation, form: "rollout", reason: sourceRollout,
		when: func(f *failure) bool { return f.sharesWithRollout() && f.rolloutTakes() > leastRollout },
		confidence: func(f *failure) float64 {
			if f.rolloutTakes() > 0.5 { // more than the training has (own threshold)
				return 0.76
			}
			return 0.6
		},
		evidence: func(f *failure) string { return f.words.Say("why.rollout") }},
}

var fixesRollout = []fixRow{
	{id: FixCapPreallocation, source: sourceRollout,
		kinds: ownCode | server, cost: 0.01, // generating is slower with a smaller cache
		lives:   map[string]float64{CausePreallocation: 0.99, CauseTooBig: 0.9, CauseUnknown: 0.85, CauseDataSpike: 0.8},
		when:    func(f *failure) bool { return f.sharesWithRollout() && f.rolloutTakes() > leastRollout },
		reach:   always(1),
		variant: func(f *failure) string { return "rollout" },
		do: func(f *failure) []string {
			lower := func(v float64) float64 { return max(leastRollout, float64(int(v*12+0.5))/20) } // three fifths of it
			line, _, ok := f.command.WithLess(lower, rolloutShare)
			if !ok {
				line = rolloutShare + "=" + plainNumber(lower(f.rolloutTakes())) + "  " + f.comment("do.of_trainer")
			}
			if f.told(sampler.ToldInForce+"vllm_enable_sleep_mode") || f.told(sampler.ToldInForce+"sleep_level") {
				return []string{line, f.comment("do.rollout_apart")}
			}
			return []string{line, f.comment("do.rollout_sleeps"), f.comment("do.rollout_apart")}
		}},
}

// sharesWithRollout: vLLM generates what is trained on, on the same GPUs.
func (f *failure) sharesWithRollout() bool {
	a, found := f.command.Find("vllm_mode")
	return (f.shows(sampler.ShowsRollout) || found && a.Value == "colocate") && !f.onHost() && !f.impossible()
}

// rolloutOutside: what the process holds beside PyTorch's allocator is no more than the share that vLLM was given. It was there from the start, and no other library has to be looked for.
func (f *failure) rolloutOutside() bool {
	return f.sharesWithRollout() && f.outside.Or(0) <= partOf(f.total.Or(0), f.rolloutTakes())+sampler.ContextMost
}

// rolloutTakes is the share of the GPU that vLLM was given; where that is not shown, what its trainers once took.
func (f *failure) rolloutTakes() float64 {
	if a, found := f.command.Find(rolloutShare); found {
		if v, err := strconv.ParseFloat(a.Value, 64); err == nil {
			return v
		}
	}
	if n := f.numbersInForce(rolloutShare); len(n) > 0 {
		return n[len(n)-1]
	}
	return 0.5
}
