package explain

import (
	"slices"

	"nvpeak/sampler"
)

const (
	// layersKept is how many times as much as a layer asked for lies beside what stays between steps, where a graph is kept (own threshold): without one
	// two or three layers have their outputs at a time. Of 31 simulated deaths in validation it was 67 to 540 in all of those with a graph, and at most
	// 16 in the others.
	layersKept = 40
	// leastLayer is what a request tells of a layer from: smaller ones are rounded, and may be anything's.
	leastLayer = 32 * sampler.MiB
)

// keepsValidationGraph: the forward pass of a layer in validation was refused an amount that is next to nothing of what lies there already beside what
// stays between steps, and nothing shows that no graph is kept.
func (f *failure) keepsValidationGraph() bool {
	return f.recorded() && f.layersLie() >= layersKept && f.phase() == sampler.PhaseValidation && f.torchCode() && f.inFunction("forward") && !f.graphOff() &&
		!f.validatesBlindly() && !f.collects() && !f.joinsInPlace() && !f.writesInEvaluation() && !f.testsOnly() && !f.drawsAlone() && !f.told(sampler.ToldResults)
}

// layersLie is how many times as much as was asked for lies on the GPU beside what stays between steps; 0: not known.
func (f *failure) layersLie() int {
	need := f.requested.Or(0)
	if need < leastLayer || !f.allocated.Known() {
		return 0
	}
	return int(f.allocated.Or(0).Less(f.staysBetween()) / need)
}

// staysBetween is what was left each time the cache was emptied, at least, or the weights and what belongs to them; where neither is known, what the
// process held at the peak of its least stretch.
func (f *failure) staysBetween() sampler.Bytes {
	switch {
	case f.history != nil && len(f.history.Kept) > 0:
		return slices.Min(f.history.Kept).Less(ContextTypical)
	case f.footprint.known:
		return f.footprint.states.high
	}
	if f.history == nil || len(f.history.Peaks) == 0 {
		return f.allocated.Or(0)
	}
	return slices.Min(f.history.Peaks).Less(ContextTypical)
}

var causesValidatingGraph = []causeRow{
	{id: "graph", cause: CauseValidationSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.keepsValidationGraph() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.85) },
		evidence: func(f *failure) string {
			return f.words.Say("why.validation_layers", "need", printed(f.requested.Or(0)), "allocated", gib(f.allocated.Or(0)), "count", f.layersLie())
		}},
}

var fixesValidatingGraph = []fixRow{
	{id: FixNoGradValidation, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: training | evaluation | undecided, cost: 0,
		lives:   map[string]float64{CauseValidationSpike: 0.95, CauseLeak: 0.9, CauseTooBig: 0.5},
		when:    func(f *failure) bool { return f.keepsValidationGraph() },
		reach:   always(1),
		variant: func(*failure) string { return "layers" },
		do:      doNoGrad},
}
