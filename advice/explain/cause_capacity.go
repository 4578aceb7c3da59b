package explain

import "nvpeak/sampler"

const sourceAnatomy = "https://huggingface.co/docs/transformers/model_memory_anatomy"

// rulesCapacity: the card is too small for what was asked of it.
var rulesCapacity = []oomRule{
	{id: "R3", cause: "too_big", reason: sourceMessage,
		when: func(f *failure) bool { return !f.onHost() && f.total.Known() && f.requested.Or(0) > f.total.Or(0) },
		sure: func(f *failure) float64 {
			if f.phase() == PhaseValidation || f.late() {
				return 0.7
			}
			return 0.93
		},
		say: func(f *failure) string {
			return f.words.Say("why.impossible", "need", printed(f.requested.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "R6", cause: "too_big", reason: sourceMessage,
		when: func(f *failure) bool {
			s, ok := f.short()
			return !f.onHost() && ok && s > 0 && (f.allocated.Known() || f.process.Known())
		},
		sure: func(f *failure) float64 { return f.capacitySure() },
		say: func(f *failure) string {
			s, _ := f.short()
			if !f.holes.Known() {
				return f.words.Say("why.short_plain", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)), "short", f.amountOf(s))
			}
			return f.words.Say("why.short", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)), "holes", f.amountOf(f.holes.Or(0)),
				"sum", f.amountOf(f.free.Or(0)+f.holes.Or(0)), "short", f.amountOf(s))
		}},
	{id: "R4", cause: "too_big", reason: sourceMessage,
		when: func(f *failure) bool {
			m, ok := f.missing()
			return !f.onHost() && ok && m == 0 && !f.limited() && !f.refusedThoughFree()
		},
		sure: func(f *failure) float64 { return f.capacitySure() },
		say: func(f *failure) string {
			return f.words.Say("why.full", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)), "percent", percentOf(f.total.Or(0).Less(f.free.Or(0)), f.total.Or(0)))
		}},
	{id: "R7", cause: "too_big", reason: sourceMessage,
		when: func(f *failure) bool { return !f.onHost() && f.fitsInHoles() },
		sure: func(f *failure) float64 {
			if f.holesShare() < 0.05 {
				return f.capacitySure()
			}
			return min(f.capacitySure(), 1-f.fragmentationSure())
		},
		say: func(f *failure) string {
			id := "why.small_holes"
			if f.holesShare() >= 0.05 {
				id = "why.nearly_full"
			}
			return f.words.Say(id, "missing", f.amountOf(f.missingOr0()), "holes", f.amountOf(f.holes.Or(0)), "percent", percentOf(f.holes.Or(0), f.reserved()))
		}},
	{id: "share", cause: "too_big", reason: sourceAnatomy,
		when: func(f *failure) bool { return !f.onHost() && f.footprint.known && f.allocated.Known() },
		sure: always(0.2),
		say: func(f *failure) string {
			p := f.footprint
			return f.words.Say("why.activations", "parameters", grouped(p.parameters), "low", plainNumber(p.bytesLow), "high", plainNumber(p.bytesHigh),
				"states", rangeText(p.states), "percent", percentOf(p.activations.mid(), f.allocated.Or(0)), "allocated", gib(f.allocated.Or(0)),
				"basis", f.words.Say(p.basis))
		}},
	{id: "states", cause: "too_big", reason: sourceAnatomy,
		when: func(f *failure) bool { return !f.onHost() && f.inTraining() && f.statesTooBig() },
		sure: always(0.92),
		say: func(f *failure) string {
			p := f.footprint
			return f.words.Say("why.states", "parameters", grouped(p.parameters), "low", plainNumber(p.bytesLow), "states", rough(max(p.statesWanted, p.states.low)),
				"basis", f.words.Say(p.basis), "room", rough(f.roomForProcess()))
		}},
	{id: "optimizer", cause: "too_big", reason: sourceAnatomy,
		when: func(f *failure) bool { return !f.onHost() && f.inOptimizer() && !f.late() },
		sure: always(0.85),
		say:  func(f *failure) string { return f.words.Say("why.optimizer") }},
	{id: "request", cause: "too_big", reason: sourceMessage,
		when: func(f *failure) bool {
			return !f.onHost() && f.class.class == classAllocator && !f.numbers() && !f.limited() && !f.corrupt() && (f.requested.Known() || f.class.cause == "too_big")
		},
		sure: func(f *failure) float64 { return max(0.5, f.class.confidence) },
		say: func(f *failure) string {
			if f.requested.Known() {
				return f.words.Say("why.request_only", "need", printed(f.requested.Or(0)))
			}
			return f.words.Say("why.no_request")
		}},
}

// capacitySure: a run that had fitted before does not die of its size alone.
func (f *failure) capacitySure() float64 {
	switch {
	case f.phase() == phaseLoading:
		return 0.85
	case f.phase() == PhaseValidation:
		return 0.5
	case f.late():
		return 0.35
	case f.context.FirstStep && !f.othersMatter():
		return 0.9
	case f.context.FirstStep || f.phase() == phaseInference:
		return 0.78
	}
	return 0.68
}

// rulesPhase read when in the run it happened.
var rulesPhase = []oomRule{
	{id: "validation", cause: "validation_spike", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return !f.onHost() && f.phase() == PhaseValidation },
		sure: func(f *failure) float64 {
			switch {
			case f.class.class == classNoNumbers:
				return 0.55
			case f.limited() || f.oversubscribed():
				return 0.5
			case f.refusedThoughFree():
				return 0.3
			case f.context.Epoch.Or(0) >= 3:
				return 0.66 // the validations before it had passed
			}
			return 0.82
		},
		say: func(f *failure) string {
			if f.isUltralytics() {
				return f.words.Say("why.validation_yolo")
			}
			return f.words.Say("why.validation", "need", printed(f.requested.Or(0)))
		}},
	{id: "kept", cause: "validation_spike", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == PhaseValidation && !f.graphOff() && f.total.Known() && f.allocated.Or(0) > f.total.Or(0)/2
		},
		sure: always(0.3),
		say: func(f *failure) string {
			return f.words.Say("why.kept_in_validation", "allocated", gib(f.allocated.Or(0)))
		}},
	{id: "nan", cause: "validation_spike", reason: "https://github.com/ultralytics/ultralytics/issues/7636",
		when: func(f *failure) bool { return !f.onHost() && f.phase() == PhaseValidation && f.context.NaNLoss },
		sure: always(0.3),
		say:  func(f *failure) string { return f.words.Say("why.nan") }},
	{id: "late", cause: "leak", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == PhaseValidation && f.context.Epoch.Or(0) >= 3 && f.class.class == classAllocator && !f.flat()
		},
		sure: always(0.45),
		say:  func(f *failure) string { return f.words.Say("why.late_validation", "when", f.place()) }},
	{id: "growth", cause: "leak", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { _, _, steady := f.growth(); return !f.onHost() && steady && !f.jumped() },
		sure: func(f *failure) float64 { return 0.87 },
		say: func(f *failure) string {
			first, last, _ := f.growth()
			return f.words.Say("why.growth", "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)), "count", len(f.stretches()))
		}},
	{id: "graph", cause: "leak", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.late() && f.inCode("+= loss\n", "append(loss)", "append(output")
		},
		sure: always(0.8),
		say:  func(f *failure) string { return f.words.Say("why.graph") }},
	{id: "late", cause: "leak", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.lateTraining() && !f.bigRequest() && !f.flat() },
		sure: func(f *failure) float64 { return f.unlessOthers(0.62) },
		say: func(f *failure) string {
			return f.words.Say("why.late_small", "when", f.place(), "need", printed(f.requested.Or(0)))
		}},
	{id: "late", cause: "data_spike", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return (f.lateTraining() || f.someSteps()) && f.bigRequest() },
		sure: func(f *failure) float64 {
			switch {
			case f.fitsInHoles() && f.holesShare() >= 0.05:
				return 0.5
			case f.flat():
				return 0.85
			case !f.lateTraining():
				return 0.55
			}
			return f.unlessOthers(0.74)
		},
		say: func(f *failure) string {
			return f.words.Say("why.data_spike", "need", printed(f.requested.Or(0)), "percent", percentOf(f.requested.Or(0), f.total.Or(0)), "when", f.place())
		}},
	{id: "flat", cause: "data_spike", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.lateTraining() && f.flat() && !f.bigRequest() },
		sure: always(0.6),
		say: func(f *failure) string {
			return f.words.Say("why.flat", "count", len(f.stretches()), "need", printed(f.requested.Or(0)))
		}},
}

// lateTraining: it trained well for a while and then did not fit.
func (f *failure) lateTraining() bool {
	return !f.onHost() && f.numbers() && f.inTraining() && f.late() && f.class.class == classAllocator && !f.limited() && !f.oversubscribed() && !f.refusedThoughFree()
}

// someSteps: a few steps were done, fewer than prove that all usual batches fit.
func (f *failure) someSteps() bool {
	return !f.onHost() && f.inTraining() && !f.context.FirstStep && f.context.Step.Or(0) >= 5 && f.class.class == classAllocator
}

// bigRequest: one tensor of a size that stands out: half a GiB and 5 % of the card (nvpeak's own threshold).
func (f *failure) bigRequest() bool {
	return f.total.Known() && f.requested.Or(0) >= max(sampler.GiB/2, partOf(f.total.Or(0), 0.05))
}

// flat: the recording or the log shows no growth that could explain the failure.
func (f *failure) flat() bool {
	_, _, steady := f.growth()
	return len(f.stretches()) >= 3 && !steady || f.jumped()
}

// unlessOthers lowers a confidence that rests on lateness alone when others hold enough to
// explain the failure.
func (f *failure) unlessOthers(p float64) float64 {
	if f.othersMatter() && f.othersHold() >= f.needed() {
		return min(p, 0.35)
	}
	return p
}
