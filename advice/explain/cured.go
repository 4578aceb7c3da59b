package explain

import (
	"slices"

	"nvpeak/sampler"
)

// saidToHelp: what is said to have helped comes first, unless it can hardly do that under what the numbers show (own estimate).
const saidToHelp = 1.5

// curedShare is how much likelier a fix is that stands for a setting of which whoever writes says that changing it helped.
func (f *failure) curedShare(id string) float64 {
	for setting, fixes := range triedInVain {
		if slices.Contains(fixes, id) && f.told(sampler.ToldCured+setting) && !f.told(sampler.ToldTried+setting) {
			if u := f.untried(id); u > 0 {
				return saidToHelp / u // what else the measure stands for may have been tried
			}
		}
	}
	return 1
}

// causesCured are what follows from what is said to have helped.
var causesCured = []causeRow{
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.batchHelped() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_batch") }},
	{id: "told", cause: CauseTooBig, reason: "https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",
		when:       func(f *failure) bool { return f.graphFilled() && f.phase() != sampler.PhaseValidation && !f.numbers() },
		confidence: always(0.8), // it is measured, by whoever writes
		evidence:   func(f *failure) string { return f.words.Say("why.told_no_grad") }},
	{id: "told", cause: CauseTooBig, reason: "https://github.com/InternLM/lmdeploy/blob/v0.1.0/docs/en/turbomind_config.md",
		when:       func(f *failure) bool { return f.fillsCache() },
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.fills_cache") }},
	{id: "told", cause: CauseTooBig, reason: "https://docs.sglang.ai/advanced_features/speculative_decoding.html",
		when:       func(f *failure) bool { return f.loadsTwice() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_twice") }},
}

// fillsCache: a server whose KV cache is given out by and by, up to a number of sequences, and of which only that is told that memory rises.
// https://github.com/InternLM/lmdeploy/blob/v0.1.0/docs/en/turbomind_config.md
func (f *failure) fillsCache() bool {
	return f.program.name == "lmdeploy" && f.told(sampler.ToldOldLMDeploy) && f.told(sampler.ToldGrowth) && !f.onHost() && f.history == nil
}

// batchHelped: with a smaller batch it runs, as is said, so that nothing is kept from step to step and no hole stays.
func (f *failure) batchHelped() bool {
	return f.told(sampler.ToldCured+"batch") && f.inTraining() && !f.onHost() && f.history == nil && !f.told(sampler.ToldGrowth)
}

// byCure takes from a leak and from fragmentation where a smaller batch was all that it took, and from a leak where a cache fills up.
func (f *failure) byCure(list []sampler.Cause) {
	if !f.batchHelped() && !f.fillsCache() {
		return
	}
	for i := range list {
		if c := &list[i]; c.ID == CauseLeak || c.ID == CauseFragmentation && f.batchHelped() {
			c.Confidence *= disprovedWeight
		}
	}
}

// loadsTwice: a server that drafts its tokens by a second model takes the large one for that, too, as is said.
func (f *failure) loadsTwice() bool {
	return f.told(sampler.ToldTwice) && !f.onHost() && f.command.HasPlain("speculative_algorithm", "speculative_config", "speculative_model", "speculative_num_steps", "num_speculative_tokens")
}
