package explain

import "nvpeak/sampler"

// severalModels: models that are asked at the same time lie on the GPU side by side, however much of it each of them takes alone.
func (f *failure) severalModels() bool {
	return f.told(sampler.ToldSideBySide) && !f.program.is(training) && !(f.told(sampler.ToldServers) && f.program.reserves()) && !f.onHost() && !f.numbers() && f.history == nil
}

var causesModels = []causeRow{
	{id: "told", cause: CauseTooBig, reason: sourceOllama,
		when:       func(f *failure) bool { return f.severalModels() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.72) },
		evidence:   func(f *failure) string { return f.words.Say("why.several_models") }},
}

var fixesModels = []fixRow{
	{id: FixSmallerModel, source: sourceOllama,
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85},
		when:  func(f *failure) bool { return f.severalModels() },
		reach: always(1),
		variant: func(f *failure) string {
			if f.severalGPUs() {
				return "each_gpu"
			}
			return "several"
		},
		do: func(f *failure) []string {
			if f.severalGPUs() {
				return []string{f.comment("do.model_each_gpu"), f.comment("do.fewer_bits_each")}
			}
			return []string{f.comment("do.one_of_models"), f.comment("do.fewer_bits_each")}
		}},
}
