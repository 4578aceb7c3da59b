package explain

import "nvpeak/sampler"

// One input or answer that goes far beyond all before it, as the log itself counts.

// beyond is how far the log says that the failing piece of work came, where that is far beyond all before; nil: it is not. What tensors hold between
// two pieces rises only where something is kept.
func (f *facts) beyond() *sampler.SizeGrowth {
	if f.onHost() || f.tensorsGrew() {
		return nil
	}
	return f.context.Beyond
}

var causesBeyond = []causeRow{
	{id: "beyond", cause: CauseDataSpike, reason: "https://huggingface.co/docs/transformers/kv_cache",
		when:       func(f *failure) bool { return f.beyond() != nil },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence: func(f *failure) string {
			b := f.beyond()
			return f.words.Say("why.beyond", "name", b.Name, "from", plainNumber(b.From), "to", plainNumber(b.To))
		}},
}

var fixesBeyond = []fixRow{
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/transformers/main_classes/text_generation",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseFragmentation: 0.85, CauseTooBig: 0.8, CauseLeak: 0.5},
		when:    func(f *failure) bool { return f.beyond() != nil },
		reach:   always(1),
		variant: func(f *failure) string { return "beyond" },
		pairs: func(f *failure) []any {
			b := f.beyond()
			return []any{"name", b.Name, "from", plainNumber(b.From), "to", plainNumber(b.To)}
		},
		do: func(f *failure) []string {
			if f.generatesText() {
				return []string{"model.generate(**inputs, max_new_tokens=" + plainNumber(f.beyond().From) + ")  " + f.comment("do.beyond_before"), f.comment("do.beyond_stop")}
			}
			return []string{f.comment("do.beyond_limit"), f.comment("do.beyond_split")}
		}},
}
