package explain

// fixesSnapshot are rows of fixes that a memory snapshot proves to be the right ones.
var fixesSnapshot = []fixRow{
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.1,
		lives: map[string]float64{CauseDataSpike: 0.98},
		when:  func(f *failure) bool { _, ok := f.spiking(); return ok },
		reach: always(0.97),
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:    doCapSampleSize},
	{id: FixNoGradValidation, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: training | evaluation | undecided, cost: 0,
		lives: map[string]float64{CauseValidationSpike: 0.95},
		when:  func(f *failure) bool { return f.keepsGraphs() && !f.graphOff() },
		reach: always(1),
		do:    doNoGrad},
	{id: FixSmallerOptimizer, source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		kinds: training | undecided, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.85},
		when:  func(f *failure) bool { _, _, ok := f.optimizerHolds(); return ok && f.optimizer() != "sgd" },
		reach: always(0.95),
		do:    doSmallerOptimizer},
}
