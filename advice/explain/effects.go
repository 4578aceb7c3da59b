package explain

import (
	"strconv"

	"nvpeak/sampler"
)

// capacitySure: a run that had fitted before does not die of its size alone.
func (f *failure) capacitySure() float64 {
	switch {
	case f.ownIsLittle():
		return 0.2
	case f.weightsTakeMost():
		return 0.66 // whenever it comes, what grows beside them has no room
	case f.phase() == sampler.PhaseLoading:
		return 0.85
	case f.told(sampler.ToldGrowth), f.triedGPU(), f.toldLarger() && f.program.is(training), f.toldSame(), f.leftByFirst():
		return 0.5 // of what is always there no more than that is
	case f.phase() == sampler.PhaseValidation && !f.testsOnly():
		return 0.5
	case f.late() && f.phase() == sampler.PhaseSaving && f.context.Epoch.Or(0) < 2:
		return 0.66 // nothing was saved before
	case f.late():
		return 0.35
	case f.itemsPassed() && !f.bigRequest():
		return 0.4
	case f.context.FirstStep && !f.othersMatter():
		return 0.9
	case f.context.FirstStep || f.phase() == sampler.PhaseInference:
		return 0.78
	}
	return 0.68
}

// weightsTakeMost: what is run holds the weights of the model that is named in 16 bits, and these are three quarters of the GPU (own thresholds).
func (f *failure) weightsTakeMost() bool {
	weights := f.weightsIn(16)
	return f.program.is(running) && weights > partOf(f.total.Or(0), 0.75) && f.total.Known() && f.allocated.Or(0) >= partOf(weights, 0.9)
}

// ownIsLittle: with what it asked for the program would hold a twentieth of the GPU at most, and others hold three quarters (own thresholds).
func (f *failure) ownIsLittle() bool {
	total := f.total.Or(0)
	return f.allocated.Known() && f.othersMatter() && f.strangersHold() > partOf(total, 0.75) && f.reserved()+f.requested.Or(0) < partOf(total, 0.05)
}

// unlessOthers lowers a confidence that rests on lateness alone when others hold enough to
// explain the failure.
func (f *failure) unlessOthers(p float64) float64 {
	if f.othersMatter() && f.othersHold() >= f.needed() {
		return min(p, 0.35)
	}
	return p
}

// othersSure: would the run have fitted without the others?
func (f *failure) othersSure() float64 {
	m, known := f.shortfall()
	hold := f.strangersHold()
	switch {
	case f.besideTensorFlow():
		return 0.3
	case !known && f.history != nil && hold > f.total.Or(0)/3 && f.free.Or(0) < partOf(f.total.Or(0), 0.1):
		return 0.85
	case !known && f.history != nil && hold > f.total.Or(0)/3 && f.biggestOther().Arrived:
		return 0.8 // it had run before they came
	case !known:
		return 0.45
	case m == 0 && !f.cardFull():
		return 0.25
	case f.ranksLoad():
		return 0.4 // what others hold here is of the same job
	case hold >= f.needed() && (f.biggestOther().Arrived || f.arrivedHold() >= f.needed()):
		return 0.93 // it had fitted before they came
	case f.littleElsewhere() && f.weightsTakeMost():
		return 0.3
	case f.littleElsewhere() && hold >= f.needed() && (f.told(sampler.ToldCheckpoint) || f.told(sampler.ToldWorked)) && f.torchCode() && hold > partOf(f.total.Or(0), 0.125):
		return 0.7 // the run before this one fitted, and what torch.load put on the GPU is in what PyTorch holds
	case f.littleElsewhere() && hold >= f.needed() && f.elsewhere.Or(0) >= partOf(f.total.Or(0), 0.75) && f.allocated.Or(0) < partOf(f.total.Or(0), 0.25):
		return 0.75 // its own is so little that a look at the rest comes first, whatever CUDA holds of it (own threshold)
	case f.littleElsewhere() && hold >= f.needed():
		return 0.5 // contexts, libraries and a desktop hold as much
	case f.littleElsewhere():
		return 0.4
	case f.unseenElsewhere():
		return min(0.6, 0.5+0.1*float64(f.othersHold())/float64(f.needed()+1))
	case hold >= f.needed():
		return 0.88
	case hold >= m:
		return 0.55
	}
	return 0.3
}

func (f *failure) fragmentationSure() float64 {
	real := f.unallocatedShare() >= 0.10 || f.unallocated.Or(0) >= sampler.GiB
	p := 0.35
	switch {
	case f.measured() == sampler.MeasuredBroken:
		p = 0.95
	case real && f.unallocated.Or(0) >= f.requested.Or(0):
		p = 0.9 // one unused segment would have been enough
	case real:
		p = 0.8
	}
	if f.expandable() {
		return min(p, 0.3) // the cure is in force, so unallocated memory of this size has another reason
	}
	if f.history == nil && f.measured() != sampler.MeasuredBroken {
		// A leak pins segments and a larger batch breaks them up. Where the course of the run is not
		// known, that it would fit packed was the reason in half of the simulated deaths late in a run. Of 44
		// public threads that tell of no such course it was the reason in one, and can have been in six: much
		// unallocated memory is what a peak leaves behind.
		p = min(p, 0.75)
		if !f.late() {
			p = min(p, 0.35)
		}
	}
	if f.history != nil && f.inTraining() && (f.context.FirstStep || f.startingUp()) && f.measured() != sampler.MeasuredBroken {
		p = min(p, 0.6) // holes of a start: what was built up there, and no run that had fitted
		if !f.context.Step.Known() && !f.context.FirstStep {
			p = min(p, 0.35)
		}
	}
	if f.phase() == sampler.PhaseSaving && f.leapt() {
		p = min(p, 0.35) // no step of training ever needed as much
	}
	if f.heldMore() {
		p = max(p, 0.85)
	}
	if f.othersMatter() && f.othersHold() >= f.needed() {
		p = min(p, 0.6)
	}
	if (f.larger() || f.slower()) && f.bigRequest() {
		p = min(p, 0.4) // it rose with the inputs: demand, of which this one request may fit packed
	} else if f.recorded() && f.context.Larger != nil && !f.heldMore() {
		p = min(p, 0.6) // holes come with inputs that grow, too
	}
	if f.unusualRequest() && !f.heldMore() || f.graphsPile() >= 0.85 || f.diesResumed() {
		p = min(p, 0.5)
	}
	if f.unevenExperts() > 0 {
		p = min(p, 0.6) // pieces of all sizes are usual with experts, and the others have them too
	}
	if f.bigRequest() && (f.gathersOutputs() || f.lastStage()) {
		p = min(p, 0.6) // the other GPUs never need that
	}
	if f.demandsMuch() && !f.mostlyHoles() && !f.heldMore() && f.measured() != sampler.MeasuredBroken {
		p = min(p, 0.45)
	}
	if f.changed() || f.decodesFirst() || f.outgrownStates() || f.unshards() || f.joinsAll() || f.joinsKeys() && f.bigRequest() {
		p = min(p, 0.4) // one request of many that were never made before: that this one fits packed proves nothing
	}
	if f.risesLate() {
		p = min(p, 0.5)
	}
	if f.climbsStairs() {
		p = min(p, 0.6)
	}
	if f.asksAgain() {
		p = min(p, 0.5)
	}
	if f.joinsTokens() && f.stoodNearTop() {
		return min(p, 0.8) // as many keys and values had fitted: what they grow by is in pieces
	}
	if f.joinsTokens() || f.writesLong() {
		p = min(p, 0.3)
	}
	if f.program.is(running) && !f.late() {
		p = min(p, 0.55) // nothing shows that such an input had ever fitted
	}
	if (f.phase() == sampler.PhaseValidation || f.phase() == sampler.PhaseSaving) && !f.mostlyHoles() {
		p = min(p, 0.5) // it asks for more than training did: that it would fit packed is not why it died
	}
	if first, last, steady := f.growth(); steady {
		// A leak leaves unallocated memory behind by pinning segments; fragmentation levels off.
		p = min(p, 0.5)
		if last-first > float64(f.unallocated.Or(0)) {
			p = 0.3
		}
	}
	return p
}

// mostlyHoles: more than half of what the allocator holds is unallocated, and more than was asked for: whatever that was for, the
// remains of another phase kept it out. Where spikes were known to grow they are what the last one left, and this one is larger; so it is where
// with what was refused tensors alone were to hold far more than the process usually did (own threshold: 8 % of the GPU).
func (f *failure) mostlyHoles() bool {
	if f.recorded() && f.allocated.Known() && (f.allocated.Or(0)+f.requested.Or(0)).Less(Usual(f.history.Peaks)) > partOf(f.total.Or(0), 0.08) {
		return false
	}
	return !f.toldOfSpikes() && f.unallocated.Or(0) >= f.requested.Or(0) && f.requested.Known() && f.unallocatedShare() > 0.5
}

// stateDominated: most of the memory does not depend on the batch.
func (f *failure) stateDominated() bool {
	if f.statesTooBig() || f.outgrownStates() || f.checkpointedFull() {
		return true
	}
	if s, ok := f.shortfallAfterReuse(); ok && f.usesLoRA() && f.footprint.known && f.bigRequest() && f.requested.Or(0)/2 >= s {
		return false // frozen weights are all there, and half of what was asked for would have fitted
	}
	if f.lateTraining() && (f.flat() || f.recorded() && f.larger()) {
		return false // it has run, so what follows the batch is what was too much this time
	}
	if f.footprint.known {
		return f.scaling().mid() < partOf(f.allocated.Or(0)+f.requested.Or(0), 0.35)
	}
	return f.phase() == sampler.PhaseLoading
}

const (
	checkpointedFull  = 0.85 // of the GPU
	checkpointedBatch = 4    // samples on a GPU
	checkpointedAsks  = 0.01 // of the GPU
)

// checkpointedFull: in the forward pass of the first steps little was asked for, and the GPU was full, though each block keeps no more
// than its input, and that of few samples: weights, gradients and what the optimizer made of them in its first step are what fills
// it (own thresholds).
func (f *failure) checkpointedFull() bool {
	batch := f.batch()
	return !f.onHost() && f.inTraining() && f.checkpointing() && !f.usesLoRA() && !f.inBackward() && f.inFunction("forward") && (f.context.FirstStep || !f.late()) &&
		batch > 0 && batch <= checkpointedBatch && f.total.Known() && f.allocated.Or(0) > partOf(f.total.Or(0), checkpointedFull) &&
		f.requested.Or(0) < partOf(f.total.Or(0), checkpointedAsks) && !f.othersMatter()
}

// noBatchHelps: what is trained fills the GPU without any sample.
func (f *failure) noBatchHelps() bool { return f.inTraining() && f.stateDominated() }

// outgrownStates: the optimizer makes its state in its first step, and for weights that are
// trained from now on. No batch size changes that.
func (f *failure) outgrownStates() bool {
	return !f.onHost() && f.inOptimizer() && (!f.late() || f.changed())
}

// statesTooBig: what does not follow the batch is alone too large for the GPU, or leaves next
// to nothing of it (own threshold: 85 %).
func (f *failure) statesTooBig() bool {
	p := f.footprint
	return (p.beyond && p.statesWanted > partOf(f.roomForProcess(), 0.85) || p.known && p.states.low > partOf(f.roomForProcess(), 0.85)) && f.total.Known()
}

// needed is what a cure must gain at the moment of the peak: what was missing, and a reserve for
// what would have come after. A first step dies on its way up, so its peak is still unseen.
func (f *failure) needed() sampler.Bytes {
	m, _ := f.shortfall()
	switch {
	case f.phase() == sampler.PhaseLoading:
		return m + partOf(f.allocated.Or(0), 0.3)
	case f.inBackward():
		return m + partOf(f.total.Or(0), 0.03)
	case f.late() || f.phase() == sampler.PhaseValidation:
		return m + partOf(f.total.Or(0), 0.02)
	case f.phase() == sampler.PhaseInference:
		return m + partOf(f.total.Or(0), 0.04)
	}
	return m + partOf(f.footprint.activations.mid(), 0.2)
}

// roomForProcess is what the process could have had: the GPU without what others hold and
// without what lies outside its allocator.
func (f *failure) roomForProcess() sampler.Bytes {
	outside := f.outside.Or(ContextTypical)
	elsewhere := f.elsewhere.Or(0)
	if f.ownInside {
		return f.total.Or(0).Less(elsewhere)
	}
	return f.total.Or(0).Less(elsewhere).Less(outside)
}

// Shares of the activations that stay after a measure. Halving a batch is linear by formula;
// mixed precision saves up to half of the activations, not of the weights
// (https://huggingface.co/docs/transformers/model_memory_anatomy); checkpointing keeps 30 to 70 %
// in published cases and can keep less (https://arxiv.org/abs/2205.05198).
const (
	ampKeepsLow, ampKeepsHigh               = 0.5, 0.85
	checkpointKeepsLow, checkpointKeepsHigh = 0.3, 0.7
)

// scaling is the memory that follows the batch: the activations and the refused request.
func (f *failure) scaling() span {
	a := f.footprint.activations
	return span{a.low + f.requested.Or(0), a.high + f.requested.Or(0)}
}

// batchFactor is by how much the batch must shrink: the first of 2, 4, 8, 16 that frees enough
// by the middle of the estimate; 2 where the text has no numbers.
func (f *failure) batchFactor() int {
	batch := f.batch()
	best := 2
	for tried := f.triedBatch(); tried > 0 && best < batch && batch/best >= max(2, tried); {
		best *= 2 // of what was tried as well
	}
	if best > 2 {
		return best
	}
	for k := 2; k <= 16 && f.numbers(); k *= 2 {
		if batch > 0 && k > batch {
			break
		}
		best = k
		if partOf(f.scaling().mid(), 1-1/float64(k)) >= f.needed() {
			return k
		}
	}
	if best > 4 && batch == 0 {
		return 4 // no batch known: no invented precision
	}
	return best
}

// withHalf: checkpointing alone may not do, and the batch can be halved with it.
func (f *failure) withHalf() bool {
	alone := f.scaling().times(1-checkpointKeepsHigh, 1-checkpointKeepsLow)
	return f.numbers() && alone.covers(f.needed()) < 0.75 && f.batch() != 1 && f.batchFactor() > 2
}

// checkpointKeeps is the share of activations left, with the batch halved where it is advised.
func (f *failure) checkpointKeeps(alone float64) float64 {
	if f.withHalf() {
		return alone / 2
	}
	return alone
}

func (f *failure) limitVariant() string {
	switch {
	case f.sliced():
		return "slice"
	case f.event.Kind == sampler.KindMPS:
		return "mps"
	case f.event.Kind == sampler.KindKVCache, f.event.Kind == sampler.KindStaticPool:
		return f.event.Framework
	case f.event.Kind == sampler.KindRMMPool:
		return "rmm"
	case f.event.Kind == sampler.KindCuPy:
		return "cupy"
	case f.event.Kind == sampler.KindXLA:
		return "jax"
	case f.refusedThoughFree() && !f.limited():
		return "system"
	}
	return ""
}

// needSize is an amount for a command line.
type needSize sampler.Bytes

// GiBUp is the amount rounded up to whole GiB: "38G".
func (n needSize) GiBUp() string {
	return strconv.FormatUint((uint64(n)+uint64(sampler.GiB)-1)/uint64(sampler.GiB), 10) + "G"
}

// wholeNeed is what the process held and wanted in all.
func (f *failure) wholeNeed() needSize {
	if !f.allocated.Known() || !f.requested.Known() {
		return 0
	}
	need := f.process.Or(f.reserved()+ContextTypical) + f.requested.Or(0)
	if need > f.total.Or(need) {
		return 0 // no GPU of this size will ever have it
	}
	return needSize(need)
}

// validationFactor is by how much validation must shrink: the first of 2, 4, 8, 16 with which
// the refused request alone fits in what was free.
func (f *failure) validationFactor() int {
	missing, known := f.shortfall()
	for k := 2; known && k < 16; k *= 2 {
		gain := partOf(f.requested.Or(0), 1-1/float64(k))
		if f.requested.Or(0) < 256*sampler.MiB { // a small request: what fills the GPU is elsewhere
			gain += partOf(f.footprint.activations.low, 1-1/float64(k))
		}
		if gain >= missing {
			return k
		}
	}
	if known && missing > 0 {
		return 16
	}
	return 2
}

// precisionName is bf16, or fp16 on GPUs without it.
func (f *failure) precisionName() string {
	if yes, known := f.gpu.bf16(); known && !yes {
		return "fp16"
	}
	return "bf16"
}
