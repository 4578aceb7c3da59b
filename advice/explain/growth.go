package explain

import (
	"slices"

	"nvpeak/sampler"
)

// lateSteps is how many steps are no start any more (own threshold): of four programs on an H100 that died between the 25th and the 50th none had a batch that
// was too large for the GPU (testdata/h100).
const lateSteps = 25

// late: the run had fitted before. It did many steps or an epoch, or the recording shows it.
func (f *facts) late() bool {
	if f.context.FirstStep && !f.told(sampler.ToldVaries) || f.startingUp() || f.autotunes() {
		return false
	}
	n := len(f.stretches())
	return f.saidLate() && !f.told(sampler.ToldSplats) || f.context.Epoch.Or(0) >= 2 || f.context.Step.Or(0) >= lateSteps || n >= 3 || n == 2 && f.recorded() && f.context.Step.Or(0) >= 10
}

// saidLate: whoever writes says that it worked for a while, and neither a recording nor a step in the log shows how it went.
func (f *facts) saidLate() bool {
	return (f.told(sampler.ToldLate) && !f.context.Step.Known() || f.told(sampler.ToldVaries)) && f.history == nil && !f.onHost() && !f.fixedBuffer()
}

// startSeconds: weights are loaded, optimizer state is made and caches are filled within the first
// minutes of most runs, so a climb before that is the start and no growth.
const startSeconds = 240

// startingUp: the recording shows a process younger than that, and no log says that steps were done; those of a resumed run go on
// from a run before.
func (f *facts) startingUp() bool {
	if f.history == nil || (f.context.Epoch.Or(0) > 0 || f.context.Step.Or(0) >= 10) && !f.resumed() {
		return false
	}
	age, known := f.history.Age.Value()
	return known && age < startSeconds || f.inOptimizer() && !f.context.Step.Known() && !f.context.Epoch.Known()
}

// stepsMost is more steps than a training does in a second.
const stepsMost = 50

// resumed: the log says so, or the process is too young for its steps.
func (f *facts) resumed() bool {
	age, known := f.history.Age.Value()
	return f.context.Resumed || known && age > 0 && float64(f.context.Step.Or(0)) > stepsMost*age
}

// stretches are the peaks of the process over the run, oldest first: from the recording, or else
// the figures that the log itself prints.
func (f *facts) stretches() []sampler.Bytes {
	if f.history != nil && len(f.history.Peaks) > 0 {
		return f.history.Peaks
	}
	return f.context.GPUMemory
}

// grown is how a list of levels rose: from and to, the number of steps up that were never taken
// back, how many of them in the later half, and how much of the rise came then.
type grown struct {
	first, last      sampler.Bytes
	steps, lateSteps int
	lateRise         sampler.Bytes
	most, least      sampler.Bytes // of the steps
	levels           int
}

// riseOfLevels reads the levels that were never gone below again: under a caching allocator a leak is a
// staircase, and what falls back after a cache flush was none. The first levels are warm-up. Package
// series judges the growth of samples; here are a level for each epoch or plateau, and no times.
func riseOfLevels(levels []sampler.Bytes) grown {
	n := len(levels)
	g := grown{levels: n}
	if n < 3 {
		return g
	}
	floor := make([]sampler.Bytes, n)
	floor[n-1] = levels[n-1]
	for i := n - 2; i >= 0; i-- {
		floor[i] = min(floor[i+1], levels[i])
	}
	from := 0
	if n >= 10 {
		from = n / 10
	}
	g.first, g.last = floor[from], floor[n-1]
	for i := from + 1; i < n; i++ {
		rise := floor[i].Less(floor[i-1])
		if rise <= g.last/256 {
			continue
		}
		g.steps++
		g.most = max(g.most, rise)
		if g.steps == 1 || rise < g.least {
			g.least = rise
		}
		if i > (from+n)/2 {
			g.lateSteps++
		}
	}
	g.lateRise = g.last.Less(floor[(from+n)/2])
	return g
}

// steady: it rose by more than noise (4 % and 256 MiB), in several steps, and had not levelled off.
func (g grown) steady() bool {
	rise := g.last.Less(g.first)
	if rise <= partOf(g.last, 0.04) || rise <= 256*sampler.MiB {
		return false
	}
	lasting := g.levels < 8 && g.steps == g.levels-1 || g.steps >= 3 && (g.lateSteps >= 2 || g.lateSteps >= 1 && g.even())
	return lasting && g.lateRise > rise/5 || g.steps >= 4 && g.lateSteps >= 1 && g.lateRise > rise/6
}

// even: the steps are of one size, which is no chance.
func (g grown) even() bool { return g.most <= partOf(g.least, 1.3) }

// growth is how the process grew over the stretches. What the log prints as allocated between steps
// knows it best: it neither holds caches nor peaks.
func (f *facts) growth() (first, last float64, steady bool) {
	if f.startingUp() || f.autotunes() {
		return 0, 0, false
	}
	if f.tensorsGrew() {
		logged := riseOfLevels(f.context.GPUMemory)
		return float64(logged.first), float64(logged.last), true
	}
	if f.printsAllocated() || f.heldMore() {
		return 0, 0, false
	}
	if kept := f.keptRise(); kept.levels > 0 {
		return float64(kept.first), float64(kept.last), true
	}
	if f.peaksAlone() {
		return 0, 0, false
	}
	g := riseOfLevels(f.stretches())
	return float64(g.first), float64(g.last), g.steady()
}

const (
	// keptNeeded times a cache was emptied at least, and what stays has risen by less than a
	// quarter of what the peaks did.
	keptNeeded = 6
	keptShare  = 4
)

// peaksAlone: the peaks rose, and what stayed each time the cache was emptied did not: some
// batches need more than others, and nothing is kept.
func (f *facts) peaksAlone() bool {
	if f.history == nil || len(f.history.Kept) < keptNeeded {
		return false
	}
	kept := f.history.Kept
	third := len(kept) / 3
	rise := slices.Min(kept[len(kept)-third:]).Less(slices.Min(kept[:third]))
	g := riseOfLevels(f.stretches())
	return g.steady() && rise < g.last.Less(g.first)/keptShare
}

// keptRise is how what stayed each time the cache was emptied rose steadily, by more than is nothing to this
// GPU; nothing otherwise. Whatever its cache looked like, the process keeps more and more.
func (f *facts) keptRise() grown {
	if f.history == nil || len(f.history.Kept) < keptNeeded {
		return grown{}
	}
	kept := f.history.Kept
	g := riseOfLevels(kept)
	if !g.steady() || g.last.Less(g.first) <= partOf(f.total.Or(0), 0.05) || g.last <= slices.Max(kept[:len(kept)/2]) {
		return grown{} // as much had stayed before
	}
	return g
}

// tensorsGrew: the log's own figures rose, by more than is nothing to this GPU.
func (f *facts) tensorsGrew() bool {
	if f.heldMore() {
		return false
	}
	g := riseOfLevels(f.context.GPUMemory)
	return g.levels >= 5 && g.steady() && g.last.Less(g.first) > partOf(f.total.Or(0), 0.03)
}

// printsAllocated: the log's own figures are what tensors held, far below what the process held.
func (f *facts) printsAllocated() bool {
	n := len(f.context.GPUMemory)
	return n >= 5 && f.reserved() > 0 && f.context.GPUMemory[n-1] < partOf(f.reserved(), 0.85)
}

// heldMore: the log says that tensors had held clearly more (own threshold: 2 %) than they would have with what was refused. All of that had found room
// before, so nothing is kept and no batch is to blame: the room lay in pieces.
func (f *facts) heldMore() bool {
	most, known := f.context.MostAllocated.Value()
	return known && f.allocated.Known() && f.requested.Known() && !f.onHost() && !f.toldOfGrowth() && most <= f.total.Or(0) && f.allocated.Or(0)+f.requested.Or(0) < partOf(most, 0.98)
}

// risesAtEnd: the last stretches rose by large steps, as results that are kept do within one validation.
func (f *facts) risesAtEnd() bool {
	if f.history == nil || len(f.history.Peaks) < 3 {
		return false
	}
	peaks := f.history.Peaks
	if now := f.process.Or(0); now > peaks[len(peaks)-1] && f.allocated.Known() && !f.bigRequest() {
		peaks = append(slices.Clip(peaks), now) // where it has failed, the last one may be of the middle of the climb
	}
	n := len(peaks)
	step := max(256*sampler.MiB, partOf(f.total.Or(0), 0.03))
	return peaks[n-1].Less(peaks[n-2]) > step && peaks[n-2].Less(peaks[n-3]) > step
}

// jumped: just before the failure the process was far above its last peak, compared with how
// it usually grew (three times that and 3 % of the GPU). A leak creeps; a large batch jumps.
func (f *facts) jumped() bool {
	peaks := f.stretches()
	n := len(peaks)
	if n == 0 || !f.total.Known() || f.printsAllocated() && f.history == nil {
		return false
	}
	now := f.reserved()
	if f.history != nil && len(f.history.Peaks) == n {
		now = f.process.Or(now)
	}
	usual := sampler.Bytes(0)
	if n > 1 {
		usual = peaks[n-1].Less(peaks[0]) / sampler.Bytes(n-1)
	}
	if f.history != nil && f.packsBelow(f.history.Peaks) {
		return false
	}
	jump := (now + f.requested.Or(0)).Less(peaks[n-1])
	if g := riseOfLevels(peaks); g.steady() && (g.steps >= 4 || g.steps >= 3 && g.even()) && jump <= g.most {
		return false // no higher than the steps before it: what grows by the trial or by the file does so in steps
	}
	return jump > 3*usual+partOf(f.total.Or(0), 0.03) && n > 1
}

// flat: the recording or the log shows no growth that could explain the failure.
func (f *facts) flat() bool {
	_, _, steady := f.growth()
	return len(f.stretches()) >= 3 && !steady || f.jumped()
}

// grewUnallocated: the request would have fitted into what was free or reserved but unallocated,
// and the latter is most of what the process grew by. Where tensors alone hold more in the end than the whole process did at
// first, they have grown.
func (f *facts) grewUnallocated() bool {
	h, unallocated, need := f.history, f.unallocated.Or(0), f.requested.Or(0)
	if h == nil || len(h.Peaks) < 2 || unallocated == 0 || need == 0 || need > unallocated+f.free.Or(0) {
		return false
	}
	if f.tensorsGrew() || f.keptRise().levels > 0 {
		return false // tensors grew
	}
	if g := riseOfLevels(h.Peaks); g.levels >= 3 && f.allocated.Or(0) > g.first {
		return false
	}
	grown := h.Peaks[len(h.Peaks)-1].Less(h.Peaks[0])
	return unallocated >= grown && f.unallocatedShare() >= 0.05
}

// keepsResults: within one validation memory rose from stretch to stretch, which a missing no_grad or a
// large batch does not do: outputs are kept on the GPU.
func (f *facts) keepsResults() bool {
	return !f.onHost() && f.phase() == sampler.PhaseValidation && !f.drawsAlone() && !f.groupsPile() && (f.collects() || f.joinsInPlace() || !f.writesInEvaluation() && (!f.oneInput() && (f.risesAtEnd() || f.toldOfBatches()) || f.inTrainerEvaluation()) || f.told(sampler.ToldResults) || f.told(sampler.ToldGrowth) && (f.inFunction("validation_step", "test_step") || f.told(sampler.ToldTried+"batch")))
}

// climbsWithin: what a validation keeps is all that grew. For the first half of the run, in which it trained, the process stood at one height.
func (f *facts) climbsWithin() bool {
	if !f.recorded() || !f.keepsResults() || f.context.Epoch.Or(0) >= 3 || len(f.history.Peaks) < 8 {
		return false
	}
	first := f.history.Peaks[1 : len(f.history.Peaks)/2]
	return slices.Max(first).Less(slices.Min(first)) <= partOf(f.total.Or(0), 0.01)
}

// keepsOutputs: a model runs over so many inputs, or its outputs are said to stay on the GPU, that what it returns is what fills it.
func (f *failure) keepsOutputs() bool {
	return f.encodesToGPU() || f.told(sampler.ToldResults) && !f.onHost() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseTraining && !f.told(sampler.ToldTraining) && !f.numbers()
}

// predictsAll: a training went through, which keeps more for each sample than the model needs to run, and what the same model is asked for all samples does not.
func (f *failure) predictsAll() bool {
	return f.told(sampler.ToldPredicts) && f.program.is(running) && !f.onHost() && !f.impossible() && !f.othersMatter()
}

// encodesToGPU: sentence-transformers is told to return what it encodes as one tensor, which stays on the GPU piece by piece until all is done.
// https://www.sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html
func (f *failure) encodesToGPU() bool {
	return !f.onHost() && f.program.is(running|undecided) && f.command.HasPlain("convert_to_tensor") && f.late()
}

// inTrainerEvaluation: the Trainer of transformers collects the predictions of a whole evaluation on the
// GPU unless it is told otherwise. https://huggingface.co/docs/transformers/main_classes/trainer
func (f *facts) inTrainerEvaluation() bool {
	return f.joinsPredictions() || f.told(sampler.ToldTrainer) && len(f.context.Functions) == 0 || f.inFile("transformers/trainer.py") && f.inFunction("evaluat") || f.inFunction("prediction_step", "evaluation_loop", "prediction_loop", "preprocess_logits_for_metrics")
}

// writesInEvaluation: it died while the model wrote the answers to one batch. What the Trainer keeps of these are tokens, a few bytes for
// each; caches and beams of the batch are what fills the GPU.
func (f *facts) writesInEvaluation() bool {
	return (f.inTrainerEvaluation() || f.writesBetween()) && !f.joinsPredictions() && f.inFunction("generate", "beam_search", "greedy_search", "contrastive_search", "_sample")
}

// joinsPredictions: it died while the predictions so far were joined with those of one more batch.
func (f *facts) joinsPredictions() bool {
	return f.inFunction("nested_concat", "nested_gather", "pad_and_concatenate", "gather_for_metrics")
}

// hostGrew: most of what the machine lost of its memory went to the main process, not to workers.
func (f *facts) hostGrew() bool {
	h := f.history
	return h != nil && h.HostGrown.Or(0) > sampler.GiB && h.HostGrown.Or(0) > h.HostLost.Or(0)/2
}

// levelledOff: the recording is long and its peaks do not rise any more.
func (f *facts) levelledOff() bool {
	g := riseOfLevels(f.stretches())
	return g.levels >= 10 && !g.steady() && !f.tensorsGrew()
}

// nearlyAll of the GPU is as much as a process with a cache takes before it has to empty it.
const nearlyAll = 0.88

// untilFull are the peaks up to the first for which there was hardly room: what comes after is cut at the top, and falls when the
// cache is emptied.
func (f *facts) untilFull() []sampler.Bytes {
	if f.history == nil || !f.total.Known() {
		return nil
	}
	peaks := f.history.Peaks
	if i := slices.IndexFunc(peaks, func(b sampler.Bytes) bool { return b >= partOf(f.total.Or(0), nearlyAll) }); i >= 0 && i+1 < len(peaks) {
		return peaks[:i+1]
	}
	return nil
}

// grewUntilFull: it rose steadily and by much until it filled the GPU, and stayed there until it died.
func (f *facts) grewUntilFull() bool {
	g := riseOfLevels(f.untilFull())
	return !f.startingUp() && !f.heldMore() && !f.printsAllocated() && !f.peaksAlone() && g.levels >= 8 && g.steady() && g.last.Less(g.first) > partOf(f.total.Or(0), 0.25)
}

// toldOfSpikes: an alert had said that the next validation, or what else comes again, would not fit.
func (f *facts) toldOfSpikes() bool {
	return slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool { return a.Kind == sampler.AlertRepeatSpike })
}

// batchesApart is more seconds than lie between two batches of a validation (own threshold).
const batchesApart = 100

// toldOfBatches: an alert had told of growth that can be that of one validation, and not of what comes with each epoch, or of the peaks
// of several.
func (f *facts) toldOfBatches() bool {
	between := 0.0 // seconds, of what comes again
	for _, a := range f.alerts {
		if a.Kind == sampler.AlertRepeatSpike {
			between = max(between, a.Numbers["period_s"])
		}
	}
	return f.toldOfGrowth() && !slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool {
		since, known := a.Numbers["since_s"]
		return a.Kind == sampler.AlertGrowth && (a.Numbers["interval_s"] > batchesApart || known && between > 0 && a.T-since > 2*between)
	})
}

// toldOfGrowth: an alert had said so before.
func (f *facts) toldOfGrowth() bool {
	return slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool { return a.Kind == sampler.AlertGrowth })
}

// orLarger is what is said where a leak and a large batch are both possible.
func (f *failure) orLarger() string {
	if f.toldOfGrowth() {
		return f.words.Say("why.or_larger") // with figures
	}
	return f.words.Say("why.late_or_larger")
}

// poolDoubled: a pool that takes memory as it needs it, twice as much each time, did so again and again, or took the rest of the GPU, the last time in
// the later half of the run. What each step needs was there in the first of them.
func (f *job) poolDoubled() bool {
	if !f.recorded() || f.event.Kind != sampler.KindTensorFlow && f.event.Kind != sampler.KindXLA || !f.poolGrows() || f.startingUp() || f.larger() || f.slower() || len(f.history.Peaks) < 8 {
		return false
	}
	g := riseOfLevels(f.history.Peaks)
	doubled := g.steps >= 2 && g.last >= 2*g.first
	return g.lateSteps >= 1 && (doubled || g.last >= partOf(f.total.Or(0), 0.95)) // the last piece is what was left of the GPU
}
