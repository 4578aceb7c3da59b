package explain

// lateTraining: it trained well for a while and then did not fit.
func (f *facts) lateTraining() bool {
	return !f.onHost() && f.numbers() && f.inTraining() && f.late() && f.class.class == classAllocator && !f.limited() && !f.oversubscribed() && !f.refusedThoughFree()
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

// inOptimizer: it died while the optimizer made its state or stepped; activations are gone by then.
func (f *facts) inOptimizer() bool {
	return f.inFunction("optimizer_step", "_init_group", "_single_tensor_adam", "_multi_tensor_adam", "adamw")
}

// inBackward: most of a step's memory is already taken when backward begins.
func (f *facts) inBackward() bool {
	return f.inFunction("backward") || f.inOptimizer()
}

// inTraining: training, or nothing known that says otherwise.
func (f *facts) inTraining() bool {
	if f.program.is(undecided) {
		return f.phase() == PhaseTraining || f.phase() == "" || f.phase() == phaseSaving
	}
	return f.program.is(training) && f.phase() != PhaseValidation && f.phase() != phaseLoading
}

// unusualRequest: the failing batch was larger than those before. An ordinary request finds most of
// what it needs in the blocks that the step before gave back, and these were free at the failure; a
// process that leaps beyond its peaks within the step is handling something larger.
func (f *facts) unusualRequest() bool {
	if !f.bigRequest() || !f.lateTraining() && !f.someSteps() {
		return false
	}
	if s := f.shortfallOr0(); s > partOf(f.requested.Or(0), 0.3) && s > partOf(f.unallocated.Or(0), 0.4) {
		return true
	}
	h := f.history
	return h != nil && len(h.Peaks) >= 3 && h.Process.Or(0).Less(h.Peaks[len(h.Peaks)-1]) > partOf(f.total.Or(0), 0.08)
}
