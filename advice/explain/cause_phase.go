package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// causesPhase read when in the run it happened.
var causesPhase = []causeRow{
	{id: "validation", cause: CauseValidationSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseValidation && !f.failedBuilding() && !f.testsOnly()
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.groupsPile():
				return 0.3 // it is only where they are made
			case f.class.class == classNoNumbers && f.told(sampler.ToldGrowth) && !f.told(sampler.ToldWorked):
				return 0.45 // what is too large fails in the first validation
			case f.class.class == classNoNumbers:
				return 0.65
			case f.limited() || f.oversubscribed():
				return 0.5
			case f.refusedThoughFree():
				return 0.3
			case f.shareRefused():
				return 0.5 // the driver refused the pool: nothing of validation was there yet
			case f.context.Epoch.Or(0) >= 3:
				return 0.66 // the validations before it had passed
			}
			return 0.82
		},
		evidence: func(f *failure) string {
			if f.isUltralytics() {
				return f.words.Say("why.validation_yolo")
			}
			return f.words.Say("why.validation", "need", printed(f.requested.Or(0)))
		}},
	{id: "joined", cause: CauseValidationSpike, reason: "https://huggingface.co/docs/transformers/main_classes/trainer",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseValidation && !f.testsOnly() && f.inFunction("nested_concat", "pad_and_concatenate")
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.93) },
		evidence: func(f *failure) string {
			return f.words.Say("why.joined_predictions", "need", printed(f.requested.Or(0)))
		}},
	{id: "kept", cause: CauseValidationSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseValidation && !f.testsOnly() && !f.graphOff() && !f.keepsValidationGraph() && f.total.Known() && f.allocated.Or(0) > f.total.Or(0)/2
		},
		confidence: always(0.3),
		evidence: func(f *failure) string {
			return f.words.Say("why.kept_in_validation", "allocated", gib(f.allocated.Or(0)))
		}},
	{id: "kept", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.itemsPassed() && !f.bigRequest() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.kept_items", "count", f.context.Step.Or(0)) }},
	{id: "results", cause: CauseLeak, reason: "https://huggingface.co/docs/transformers/main_classes/trainer",
		when:       func(f *failure) bool { return f.resultsPile() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.65) },
		evidence: func(f *failure) string {
			return f.words.Say("why.results_pile", "count", f.context.Step.Or(0), "allocated", gib(f.allocated.Or(0)), "need", printed(f.requested.Or(0)))
		}},
	{id: "nan", cause: CauseValidationSpike, reason: "https://github.com/ultralytics/ultralytics/issues/7636",
		when:       func(f *failure) bool { return !f.onHost() && f.phase() == sampler.PhaseValidation && f.context.NaNLoss },
		confidence: always(0.3),
		evidence:   func(f *failure) string { return f.words.Say("why.nan") }},
	{id: "late", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseValidation && f.context.Epoch.Or(0) >= 3 && f.class.class == classAllocator && !f.flat()
		},
		confidence: always(0.45),
		evidence:   func(f *failure) string { return f.words.Say("why.late_validation", "when", f.place()) }},
	{id: "growth", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			_, _, steady := f.growth()
			return !f.onHost() && steady && (f.tensorsGrew() || !f.jumped()) && !f.growsByDesign() && !f.writesLong()
		},
		confidence: func(f *failure) float64 {
			first, last, _ := f.growth()
			switch {
			case f.gathersOutputs() && f.bigRequest() && last-first < float64(f.requested.Or(0)):
				return 0.7 // what it gathers at once is more than it has grown by
			case f.driftsFromPeers() > 0 && !f.keepsAlone():
				return 0.6 // what all ranks run would leak on all of them
			case f.tensorsGrew() && f.printsAllocated():
				return 0.95
			case f.crowdedRanks() > 0 && f.othersHold() >= f.needed():
				return 0.6 // what other ranks hold here without need would have been enough
			case f.joinsTokens() && f.fitsAfterReuse() && f.unallocatedShare() >= 0.1:
				return 0.5 // conversations come and go, and what their keys and values break up is not given back
			}
			return 0.87
		},
		evidence: func(f *failure) string {
			first, last, _ := f.growth()
			if !f.tensorsGrew() && f.keptRise().levels > 0 {
				return f.words.Say("why.growth_kept", "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)), "count", len(f.history.Kept))
			}
			return f.words.Say("why.growth", "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)), "count", len(f.stretches()))
		}},
	{id: "alerted", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			_, _, steady := f.growth()
			return !f.onHost() && !steady && f.toldOfGrowth() && f.grewUntilFull() && !f.larger() && !f.slower() && !f.writesLong()
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence: func(f *failure) string {
			g := riseOfLevels(f.untilFull())
			return f.words.Say("why.until_full", "first", gib(g.first), "last", gib(g.last))
		}},
	{id: "again", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.asksAgain() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence: func(f *failure) string {
			return f.words.Say("why.asks_again", "need", printed(f.requested.Or(0)))
		}},
	{id: "stairs", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.climbsStairs() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.75) },
		evidence: func(f *failure) string {
			g := riseOfLevels(f.history.Peaks)
			return f.words.Say("why.stairs", "first", gib(g.first), "last", gib(g.last), "count", g.steps)
		}},
	{id: "late rise", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.risesLate() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.72) },
		evidence: func(f *failure) string {
			stood, _ := f.stoodUntil()
			return f.words.Say("why.late_rise", "stood", gib(stood), "held", gib(max(f.process.Or(0), slices.Max(f.history.Peaks))), "percent", percentOf(f.unallocated.Or(0), f.reserved()))
		}},
	{id: "doubled", cause: CauseLeak, reason: "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
		when:       func(f *failure) bool { return f.poolDoubled() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.72) },
		evidence: func(f *failure) string {
			p := f.history.Peaks
			return f.words.Say("why.growth", "first", gib(p[len(p)/10]), "last", gib(p[len(p)-1]), "count", len(p))
		}},
	{id: "joined", cause: CauseLeak, reason: "https://lightning.ai/docs/torchmetrics/stable/pages/overview.html",
		when: func(f *failure) bool {
			_, _, steady := f.growth()
			return !f.onHost() && f.recorded() && f.phase() != sampler.PhaseValidation && (steady || f.grewUntilFull()) && f.joinsKept()
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence: func(f *failure) string {
			first, last, _ := f.growth()
			return f.words.Say("why.joined", "need", printed(f.requested.Or(0)), "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)))
		}},
	{id: "joined at once", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/generated/torch.cat.html",
		when:       func(f *failure) bool { return f.joinsAll() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.88) },
		evidence:   func(f *failure) string { return f.words.Say("why.joined_all", "need", printed(f.requested.Or(0))) }},
	{id: "graph", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && (f.late() && (f.inCode("+= loss\n", "append(loss)", "append(output") || f.collects()) || f.sumsGraphs())
		},
		confidence: func(f *failure) float64 {
			if f.phase() == sampler.PhaseValidation {
				return 0.5 // what one validation collects is mostly gone after it
			}
			return 0.8
		},
		evidence: func(f *failure) string {
			if f.collects() && !f.inCode("append(loss)", "append(output") {
				return f.words.Say("why.collects")
			}
			return f.words.Say("why.graph")
		}},
	{id: "late", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { // who went on was not full of what is kept
			return f.lateTraining() && !f.bigRequest() && !f.flat() && !f.peaksAlone() && !f.heldMore() && !f.event.Recovered && !f.growsByDesign() && !f.larger()
		},
		confidence: func(f *failure) float64 {
			if f.told(sampler.ToldVaries) {
				return 0.4 // what is kept would fill it at about the same step
			}
			return f.unlessOthers(0.62)
		},
		evidence: func(f *failure) string {
			return f.words.Say("why.late_small", "when", f.place(), "need", printed(f.requested.Or(0)))
		}},
	{id: "kept", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return !f.onHost() && f.peaksAlone() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.75) },
		evidence:   func(f *failure) string { return f.words.Say("why.peaks_alone", "count", len(f.history.Kept)) }},
	{id: "varied", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.variedWell() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.66) },
		evidence: func(f *failure) string {
			p := f.history.Peaks
			return f.words.Say("why.varied", "count", len(p), "low", gib(slices.Min(p[1:])), "high", gib(slices.Max(p)))
		}},
	{id: "slower", cause: CauseDataSpike, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.slower() && f.lateTraining() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence: func(f *failure) string {
			return f.words.Say("why.slower", "percent", int(100*(f.context.Slowdown-1)+0.5))
		}},
	{id: "larger", cause: CauseDataSpike, reason: sourceAnatomy,
		when: func(f *failure) bool {
			oneRank := f.context.Larger == nil && f.unevenExperts() > 0 // stages would be those of all
			return f.larger() && (f.lateTraining() || f.servedWell()) && !oneRank
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence: func(f *failure) string {
			l := f.context.Larger
			if l == nil {
				return f.words.Say("why.in_stages")
			}
			return f.words.Say("why.larger", "name", l.Name, "from", plainNumber(l.From), "to", plainNumber(l.To))
		}},
	{id: "late", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return f.servedWell() && f.bigRequest() && f.flat() && !f.decodesFirst() && !f.asksAgain()
		},
		confidence: func(f *failure) float64 {
			if f.fitsAfterReuse() && f.unallocated.Or(0) >= f.requested.Or(0) && !f.leapt() && !f.larger() {
				return 0.45 // the pieces alone would have been enough
			}
			return 0.75
		},
		evidence: func(f *failure) string {
			if p := f.history.Peaks; len(p) > 0 && slices.Max(p) > p[0]+partOf(f.total.Or(0), grownShare) {
				return f.words.Say("why.data_spike_served_grown", "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.total.Or(0)), "first", gib(p[0]), "last", gib(slices.Max(p)))
			}
			return f.words.Say("why.data_spike_served", "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.total.Or(0)))
		}},
	{id: "late", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return (f.lateTraining() || f.someSteps()) && f.bigRequest() && !f.asksAgain() },
		confidence: func(f *failure) float64 {
			switch {
			case f.history == nil && !f.lateTraining() && f.oneSample():
				return 0.7 // of steps of one sample only the sample differs
			case f.fitsAfterReuse() && f.unallocatedShare() >= 0.05 && f.unusualRequest():
				return 0.66
			case f.fitsAfterReuse() && f.unallocatedShare() >= 0.05:
				return 0.5
			case f.flat():
				return 0.85
			case !f.lateTraining():
				return 0.55
			}
			return f.unlessOthers(0.74)
		},
		evidence: func(f *failure) string {
			return f.words.Say(f.standsOut(), "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.total.Or(0)), "when", f.place())
		}},
	{id: "late", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.lateTraining() && !f.bigRequest() && len(f.stretches()) < 3 },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.5) },
		evidence: func(f *failure) string {
			return f.orLarger()
		}},
	{id: "late", cause: CauseDataSpike, reason: "https://docs.nvidia.com/deeplearning/dali/user-guide/docs/advanced_topics_performance_tuning.html",
		when: func(f *failure) bool { // a library beside the framework tells no more than how much it asked for
			return f.event.Kind == sampler.KindOtherGPU && !f.onHost() && f.recorded() && f.class.class != classAllocator && f.bigRequest() && f.late()
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence: func(f *failure) string {
			return f.words.Say(f.standsOut(), "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.total.Or(0)), "when", f.place())
		}},
	{id: "pool", cause: CauseDataSpike, reason: "https://www.tensorflow.org/guide/gpu",
		when:       func(f *failure) bool { return f.spikesInPool() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.66) },
		evidence: func(f *failure) string {
			return f.words.Say(f.standsOut(), "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.context.PoolLimit.Or(f.total.Or(0))), "when", f.place())
		}},
	{id: "boxes", cause: CauseDataSpike, reason: "https://mmdetection.readthedocs.io/en/latest/notes/faq.html",
		when:       func(f *failure) bool { return f.matchesBoxes() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.82) },
		evidence:   func(f *failure) string { return f.words.Say("why.boxes") }},
	{id: "flat", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.lateTraining() && f.flat() && !f.bigRequest() && !f.risesLate() },
		confidence: func(f *failure) float64 {
			if f.leapt() || f.tensorsLeapt() {
				return 0.85
			}
			return 0.6
		},
		evidence: func(f *failure) string {
			peaks := f.stretches()
			if high := slices.Max(peaks); high.Less(peaks[0]) > max(256*sampler.MiB, partOf(high, 0.04)) {
				return f.words.Say("why.flat_risen", "first", gib(peaks[0]), "high", gib(high), "need", printed(f.requested.Or(0)))
			}
			return f.words.Say("why.flat", "count", len(peaks), "need", printed(f.requested.Or(0)))
		}},
}

// standsOut is what a request that is large, late in a run, says of it.
func (f *failure) standsOut() string {
	if f.asksAsMuch() {
		return "why.data_spike_array"
	}
	return "why.data_spike"
}

// grownShare of the GPU is what a program has grown by that it is said of (own threshold).
const grownShare = 0.1

// itemsPassed: a program that only runs a model had worked through some inputs of the same kind, without
// anything that says that no graph is kept. The steps of a sampler are no inputs.
func (f *job) itemsPassed() bool {
	return !f.onHost() && f.program.is(evaluation|inference) && f.context.Step.Or(0) >= 10 && f.numbers() && f.class.class == classAllocator && !f.graphOff() &&
		f.phase() != sampler.PhaseLoading && !f.limited() && !f.oversubscribed() && !f.refusedThoughFree() && !f.inFunction("sample", "decode", "generate", "denoise", "vae")
}

// resultsPile: an evaluation that makes no graph had worked through many batches and asks for little when tensors have filled the GPU. What they need does
// not add up from batch to batch; what is kept of them does.
func (f *job) resultsPile() bool {
	return !f.onHost() && f.program.is(evaluation) && f.context.Step.Or(0) >= lateSteps && f.graphOff() && f.class.class == classAllocator &&
		f.allocated.Or(0) > partOf(f.total.Or(sampler.MaxPlausible), 0.85) && f.requested.Or(0) < partOf(f.total.Or(0), 0.02) && !f.limited() && !f.inFunction("generate", "beam_search", "_sample")
}

// sumOfSteps is a sum over steps of what a model returns, with its graph. A sum of the losses of one step does not call the model.
var sumOfSteps = sampler.Pattern{Source: `\b(?:(?:total|running|epoch|train|cum\w*|sum)_?loss\w*|loss_?(?:sum|total)|losses)\s*\+=\s*(?:self\.)?\w*(?:model|net|network)\w*\(`}

// sumsGraphs: the line that failed keeps the graphs of all steps.
func (f *facts) sumsGraphs() bool {
	return f.phase() != sampler.PhaseValidation && slices.ContainsFunc(f.context.Code, func(line string) bool {
		return sumOfSteps.Get().MatchString(line) && !strings.Contains(line, ".item()") && !strings.Contains(line, ".detach()") && !strings.Contains(line, "float(")
	})
}
