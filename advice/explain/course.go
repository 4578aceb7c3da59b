package explain

import (
	"math"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// lateTraining: it trained well for a while and then did not fit.
func (f *facts) lateTraining() bool {
	return !f.onHost() && f.numbers() && f.inTraining() && f.phase() != sampler.PhaseSaving && !f.unshards() && f.late() && f.class.class == classAllocator && !f.limited() && !f.oversubscribed() && !f.refusedThoughFree()
}

// servedWell: the recording shows that it ran a model for a while and then did not fit.
func (f *facts) servedWell() bool {
	return !f.onHost() && f.requested.Known() && f.total.Known() && f.history != nil && (f.program.is(running) || f.program.is(undecided) && !f.inTraining()) && f.late() && f.class.class == classAllocator && !f.limited() && !f.oversubscribed() && !f.refusedThoughFree()
}

// variedWell: a program whose allocator tells no numbers had worked through many inputs, as the recording shows, without growing.
func (f *facts) variedWell() bool {
	if !f.recorded() || f.onHost() || f.numbers() || f.class.class != classAllocator || f.class.cause != "" || len(f.history.Peaks) < 6 || !f.late() || f.limited() {
		return false
	}
	_, _, steady := f.growth()
	return !steady && !f.program.is(training|server) && f.event.Kind != sampler.KindTensorFlow && f.event.Kind != sampler.KindXLA
}

// slowerSteps: of simulated leaks no step took more than 3 % longer in the end than at first.
const slowerSteps = 1.1

// slower: steps took longer and longer.
func (f *facts) slower() bool { return f.context.Slowdown >= slowerSteps }

// recorded: it happened, and a recording shows the run before it; what alerts expect has no text.
func (f *facts) recorded() bool { return f.history != nil && f.event.Text != "" }

// roomShare of the GPU is so much that who is refused memory while it is free has asked for more than that at once (own threshold).
const roomShare = 0.5

// roomBeside is what had always been free of the GPU, by the recording, when a program that works on it was refused an amount that nobody tells; 0: less
// than roomShare, or there may be another reason.
func (f *facts) roomBeside() sampler.Bytes {
	h := f.history
	if !f.recorded() || f.onHost() || f.requested.Known() || h.Mixed || len(h.Peaks) == 0 || f.limited() || f.saysFree() || slices.Max(h.Peaks) < ContextTypical/4 {
		return 0
	}
	room := f.total.Or(0).Less(slices.Max(h.Peaks)).Less(h.Unattributed.Or(0))
	for _, p := range h.Others {
		room = room.Less(p.Bytes)
	}
	if room < partOf(f.total.Or(0), roomShare) {
		return 0
	}
	return room
}

func (f *failure) roomText() string {
	return f.words.Say("why.room", "free", gib(f.roomBeside()), "total", gib(f.total.Or(0)))
}

// batchRose: what the log prints of the size of its steps, and rose, is how many samples a step has; each of them is as large as before.
func (f *facts) batchRose() bool {
	return f.context.Larger != nil && (f.context.Larger.Name == "bsz" || strings.HasPrefix(f.context.Larger.Name, "batch"))
}

// larger: the log prints a size of its steps that rose, or its use rose as that of steps does that are made larger, so they take more by design.
func (f *facts) larger() bool { return (f.context.Larger != nil || f.inStages()) && !f.onHost() }

const (
	// stageShare of the GPU at once is more than most programs keep at a time (own threshold): of simulated jobs whose use rose by equal steps in training,
	// five of which the inputs were made larger rose by 6.7 to 16.5 %, and none of 20 that kept something by more than 6.2 %.
	stageShare = 0.065
	// stageSeconds at least lie between two stages.
	stageSeconds = 60
)

// inStages: an alert had told of equal steps of a training that are large, far apart, and no trials of a search or folds of a cross-validation: each of these trains on inputs of one size. Nor
// is a cell of a notebook a stage that is run again, and two steps are too few for stages.
func (f *facts) inStages() bool {
	return f.inTraining() && !f.notebook() && !f.searches() && !f.asksAgain() && f.context.Fold.Or(0) < severalTrials && slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool {
		return a.Kind == sampler.AlertGrowth && a.Numbers["steps"] != 2 && a.Numbers["interval_s"] >= stageSeconds && a.Numbers["step_bytes"] >= stageShare*float64(f.total.Or(sampler.MaxPlausible))
	})
}

// againShare: of simulated runs that kept the same tensor each time, what was refused and a step differed by no more (own threshold).
const againShare = 0.02

// asksAgain: an alert had told of equal steps of which none was given back, and what was refused is one more of them: what is made larger asks for more.
func (f *facts) asksAgain() bool {
	need := float64(f.requested.Or(0))
	return f.bigRequest() && !f.onHost() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving && f.class.class == classAllocator && slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool {
		return a.Kind == sampler.AlertGrowth && a.Numbers[Swell] == 0 && math.Abs(a.Numbers["step_bytes"]-need) <= againShare*need
	})
}

// someSteps: a few steps were done, fewer than prove that all usual batches fit.
func (f *facts) someSteps() bool {
	return !f.onHost() && f.inTraining() && !f.context.FirstStep && f.context.Step.Or(0) >= 5 && f.class.class == classAllocator
}

// firstSteps: it died before the optimizer's state was complete, in one of the first two steps.
func (f *facts) firstSteps() bool {
	step, known := f.context.Step.Value()
	return f.context.FirstStep || f.inOptimizer() || known && step <= 2 && f.context.Epoch.Or(0) <= 1
}

// asksAsMuch as tensors hold already, at once, and a large part of the GPU (own thresholds: a half of that, a fifth): one array is what it works on. Whatever is
// kept from step to step is in pieces of one size, and it had been asked for with less of it.
func (f *facts) asksAsMuch() bool {
	held, known := f.allocated.Else(f.process).Value()
	return !f.onHost() && known && f.requested.Or(0) > held/2 && f.requested.Or(0) > partOf(f.total.Or(sampler.MaxPlausible), 0.2)
}

// oneInput: the model asked, as it ran, for a half as much at once as all tensors hold and a fifth of the GPU (asksAsMuch). What is kept comes in pieces of its outputs; this is what one input of that size
// needs, as the scores of attention do, and stretches that rise with inputs that get larger are no results.
func (f *facts) oneInput() bool {
	return f.asksAsMuch() && f.inFunction("forward") && !f.joinsKept() && !f.joinsPredictions() && !f.inFunction("gather")
}

// seenGrowing: a recording shows that a program of Python grew, or an alert says so, so that something is kept. Whose that is, a known program's name does not tell: a script around it keeps
// what it returns, or makes it anew.
func (f *facts) seenGrowing() bool {
	_, _, steady := f.growth()
	return !f.onHost() && !f.compiled() && (f.recorded() && steady || f.toldOfGrowth())
}

// changed: just before, the log says that from now on a step takes more. What had fitted before
// says nothing of that.
func (f *facts) changed() bool {
	return !f.onHost() && f.context.Changed != "" && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
}

// inTraining: training, or nothing known that says otherwise.
func (f *facts) inTraining() bool {
	if f.program.is(undecided) {
		return f.phase() == sampler.PhaseTraining || f.phase() == "" || f.phase() == sampler.PhaseSaving
	}
	return f.program.is(training) && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseLoading
}

// unusualRequest: the failing batch was larger than those before. An ordinary request finds most of
// what it needs in the blocks that the step before gave back, and these were free at the failure; a
// process that leaps beyond its peaks within the step is handling something larger.
func (f *facts) unusualRequest() bool {
	if (f.leapt() || f.tensorsLeapt()) && f.lateTraining() {
		return true
	}
	s := f.shortfallOr0()
	if f.recorded() && f.lateTraining() && f.requested.Or(0) >= partOf(f.total.Or(0), 0.15) && f.unallocated.Or(0) < f.requested.Or(0)/2 {
		return true // tensors of a step come in several of one size, and packed one alone would fit
	}
	return f.bigRequest() && (f.lateTraining() || f.someSteps()) && s > partOf(f.requested.Or(0), 0.3) && s > partOf(f.unallocated.Or(0), 0.4)
}

// tensorsLeapt: with what was refused, tensors alone were to hold far more than the whole process did of late, in four stretches (own
// threshold: 8 % of the GPU), or in a quarter of the run, which did not grow (15 %). Pieces cannot be what it died of: they are not
// tensors. Of simulated runs of late these were 9 of 59 with a larger batch or validation and none of 46 that died of pieces, which came
// to 7 %; of a quarter of the run 6 of 9, and none of 19 that died of pieces, which came to 13 %.
func (f *facts) tensorsLeapt() bool {
	if !f.recorded() || len(f.history.Peaks) < 8 || !f.allocated.Known() || !f.requested.Known() {
		return false
	}
	tensors, total := f.allocated.Or(0)+f.requested.Or(0), f.total.Or(0)
	if of := f.history.Peaks[len(f.history.Peaks)-4:]; tensors.Less(slices.Max(of)) > partOf(total, 0.08) {
		return true
	}
	peaks := slices.Sorted(slices.Values(f.history.Peaks))
	_, _, grew := f.growth()
	return !grew && tensors.Less(peaks[len(peaks)/4]) > partOf(total, 0.15)
}

// matchesBoxes: the failing step compares every box of a picture with every anchor, so it follows
// the picture with most boxes.
func (f *facts) matchesBoxes() bool {
	return !f.onHost() && f.phase() != sampler.PhaseValidation && f.inFunction("bbox_overlaps", "box_iou", "bbox_iou", "assign_targets", "compute_matches")
}

// joinsKeys: the keys and values of one layer of a language model were joined with new ones; every layer after it asks for as much.
func (f *facts) joinsKeys() bool {
	return f.inFile("cache_utils.py") || f.inCode("torch.cat([past_key", "torch.cat((past_key", "torch.cat([self.key_cache", "torch.cat([self.value_cache")
}
