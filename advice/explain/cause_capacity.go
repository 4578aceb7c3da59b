package explain

import "nvpeak/sampler"

// causesCapacity: the GPU is too small for what was asked of it.
var causesCapacity = []causeRow{
	{id: "R3", cause: CauseTooBig, reason: sourceMessage,
		when: func(f *failure) bool { return !f.onHost() && f.total.Known() && f.requested.Or(0) > f.total.Or(0) },
		confidence: func(f *failure) float64 {
			if f.phase() == sampler.PhaseValidation || f.late() || f.told(sampler.ToldLate) || f.packs() {
				return 0.7
			}
			return 0.93
		},
		evidence: func(f *failure) string {
			if f.asksForStep() {
				return f.words.Say("why.impossible_step", "need", printed(f.requested.Or(0)), "total", gib(f.total.Or(0)))
			}
			return f.words.Say("why.impossible", "need", printed(f.requested.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "R3", cause: CauseTooBig, reason: sourceMessage,
		when:       func(f *failure) bool { return f.impossible() && !f.total.Known() },
		confidence: always(0.93),
		evidence:   func(f *failure) string { return f.words.Say("why.larger_than_any", "need", printed(f.requested.Or(0))) }},
	{id: "R3", cause: CauseTooBig, reason: sourceJAX,
		when: func(f *failure) bool {
			return !f.onHost() && f.event.Kind == sampler.KindXLA && f.total.Known() && f.extra("used_bytes").Or(0) > f.total.Or(0)
		},
		confidence: always(0.93),
		evidence: func(f *failure) string {
			return f.words.Say("why.program_larger", "need", gib(f.extra("used_bytes").Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "R6", cause: CauseTooBig, reason: sourceMessage,
		when: func(f *failure) bool {
			s, ok := f.shortfallAfterReuse()
			return !f.onHost() && ok && s > 0 && (f.allocated.Known() || f.process.Known())
		},
		confidence: func(f *failure) float64 { return f.capacitySure() },
		evidence: func(f *failure) string {
			s, _ := f.shortfallAfterReuse()
			if !f.unallocated.Known() {
				return f.words.Say("why.short_plain", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "short", f.amountOf(s))
			}
			return f.withMeasured(f.words.Say("why.short", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "holes", f.amountOf(f.unallocated.Or(0)),
				"sum", f.amountOf(f.free.Or(0)+f.unallocated.Or(0)), "short", f.amountOf(s)))
		}},
	{id: "R4", cause: CauseTooBig, reason: sourceMessage,
		when: func(f *failure) bool {
			m, ok := f.shortfall()
			return !f.onHost() && ok && m == 0 && !f.poolHadRoom() && !f.limited() && !f.refusedThoughFree()
		},
		confidence: func(f *failure) float64 { return f.capacitySure() },
		evidence: func(f *failure) string {
			id := "why.full"
			if f.sum() == "sum.barely" {
				id = "why.barely"
			}
			return f.words.Say(id, "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "percent", percentOf(f.total.Or(0).Less(f.free.Or(0)), f.total.Or(0)))
		}},
	{id: "R7", cause: CauseTooBig, reason: sourceMessage,
		when: func(f *failure) bool { return !f.onHost() && f.fitsAfterReuse() },
		confidence: func(f *failure) float64 {
			if f.unallocatedShare() < 0.05 || f.notFragmented() {
				return f.capacitySure()
			}
			return min(f.capacitySure(), 1-f.fragmentationSure())
		},
		evidence: func(f *failure) string {
			id := "why.small_holes"
			if f.unallocatedShare() >= 0.05 {
				id = "why.nearly_full"
			}
			text := f.words.Say(id, "missing", f.amountOf(f.shortfallOr0()), "holes", f.amountOf(f.unallocated.Or(0)), "percent", percentOf(f.unallocated.Or(0), f.reserved()))
			if f.notFragmented() {
				return f.withMeasured(text)
			}
			return text
		}},
	{id: "room", cause: CauseTooBig, reason: sourceMessage,
		when:       func(f *failure) bool { return f.roomBeside() > 0 && !f.late() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence:   (*failure).roomText},
	{id: "room", cause: CauseDataSpike, reason: sourceMessage,
		when:       func(f *failure) bool { return f.roomBeside() > 0 && f.late() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.75) },
		evidence:   (*failure).roomText},
	{id: "share", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return !f.onHost() && f.footprint.known && f.allocated.Known() },
		confidence: always(0.2),
		evidence: func(f *failure) string {
			p := f.footprint
			return f.words.Say("why.activations", "parameters", grouped(p.parameters), "low", plainNumber(p.bytesLow), "high", plainNumber(p.bytesHigh),
				"states", rangeText(p.states), "percent", percentOf(p.activations.mid(), f.allocated.Or(0)), "allocated", gib(f.allocated.Or(0)),
				"basis", f.words.Say(p.basis))
		}},
	{id: "states", cause: CauseTooBig, reason: sourceAnatomy,
		when: func(f *failure) bool { return !f.onHost() && f.inTraining() && f.statesTooBig() },
		confidence: func(f *failure) float64 {
			if f.othersMatter() && f.othersHold() >= f.total.Or(0)/2 {
				return 0.6 // they come first, whatever it needs beside them
			}
			return 0.92
		},
		evidence: func(f *failure) string {
			p := f.footprint
			return f.words.Say("why.states", "parameters", grouped(p.parameters), "low", plainNumber(p.bytesLow), "states", rough(max(p.statesWanted, p.states.low)),
				"basis", f.words.Say(p.basis), "room", rough(f.roomForProcess()))
		}},
	{id: "overweight", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.outweighs() },
		confidence: always(0.9),
		evidence: func(f *failure) string {
			return f.words.Say("why.overweight", "need", gib(f.weightsIn(16)), "total", gib(f.saidTotal()))
		}},
	{id: "optimizer", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.outgrownStates() },
		confidence: always(0.85),
		evidence:   func(f *failure) string { return f.words.Say("why.optimizer") }},
	{id: "checkpointed", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.checkpointedFull() },
		confidence: always(0.85),
		evidence: func(f *failure) string {
			return f.words.Say("why.checkpointed", "batch", f.batch(), "need", printed(f.requested.Or(0)), "allocated", gib(f.allocated.Or(0)))
		}},
	{id: "metal", cause: CauseTooBig, reason: "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
		when:       func(f *failure) bool { return f.event.Kind == sampler.KindMPS && f.limited() },
		confidence: always(0.72),
		evidence: func(f *failure) string {
			return f.words.Say("why.metal", "allowed", gib(f.event.MemoryLimit.Allowed.Or(0)), "allocated", gib(f.allocated.Or(0)), "others", gib(f.extra("other_allocations_bytes").Or(0)))
		}},
	{id: "decoder", cause: CauseTooBig, reason: "https://huggingface.co/docs/diffusers/optimization/memory",
		when:       func(f *failure) bool { return f.decodesFirst() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.85) },
		evidence: func(f *failure) string {
			return f.words.Say("why.decodes_first", "before", gib(Usual(f.history.Peaks)), "held", gib(f.process.Or(0)), "need", printed(f.requested.Or(0)))
		}},
	{id: "changed", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.changed() && !f.limited() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence:   func(f *failure) string { return f.words.Say("why.changed", "line", f.context.Changed) }},
	{id: "auto", cause: CauseTooBig, reason: "https://github.com/EleutherAI/lm-evaluation-harness/issues/2458",
		when:       func(f *failure) bool { return !f.onHost() && f.batchIsAuto() && !f.limited() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.batch_auto") }},
	{id: "no_batch", cause: CauseTooBig, reason: "https://huggingface.co/docs/accelerate/usage_guides/memory",
		when:       func(f *failure) bool { return f.noBatchFits() && !f.limited() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence:   func(f *failure) string { return f.words.Say("why.no_batch") }},
	{id: "pool", cause: CauseTooBig, reason: "https://www.tensorflow.org/guide/gpu",
		when: func(f *failure) bool { return f.beyondPool() > 0 && f.leastPool() == 0 },
		confidence: func(f *failure) float64 {
			if f.requested.Or(0) > f.extra("pool_limit_bytes").Or(0) {
				return 0.9 // more than the pool can ever have
			}
			return 0.68
		},
		evidence: func(f *failure) string { return f.poolText() }},
	{id: "R6", cause: CauseTooBig, reason: sourceMessage,
		when:       func(f *failure) bool { return f.noSplit() && f.asksMuch() },
		confidence: always(0.6),
		evidence: func(f *failure) string {
			return f.words.Say("why.asks_much", "need", printed(f.requested.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "request", cause: CauseTooBig, reason: sourceMessage,
		when: func(f *failure) bool {
			return !f.onHost() && f.snapshot == nil && f.class.class == classAllocator && !f.numbers() && !f.limited() && !f.corrupt() && (f.requested.Known() || f.class.cause == CauseTooBig || f.event.Kind == sampler.KindTensorFlow)
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.poolHadRoom() || f.pooledLate():
				return 0.4
			case f.pooled() && f.context.FirstStep:
				return 0.85 // nothing is left in it of steps before
			case f.spikesInPool():
				return 0.4
			}
			return max(0.5, f.class.confidence)
		},
		evidence: func(f *failure) string {
			if limit, known := f.context.PoolLimit.Value(); known && f.pooled() && f.requested.Known() {
				return f.words.Say("why.pool_full", "need", printed(f.requested.Or(0)), "limit", gib(limit))
			}
			if f.requested.Known() {
				return f.words.Say("why.request_only", "need", printed(f.requested.Or(0)))
			}
			return f.words.Say("why.no_request")
		}},
}
