package explain

import "nvpeak/sampler"

// causesUnknown is R9: the text gives no numbers, so nobody can tell from it alone.
var causesUnknown = []causeRow{
	{id: "R9", cause: CauseUnknown, reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool { return !f.onHost() && f.class.class == classNoNumbers },
		confidence: func(f *failure) float64 {
			if f.total.Known() {
				return 0.3 // a recording gives the numbers
			}
			return 0.6
		},
		evidence: func(f *failure) string {
			if f.masked() {
				return f.words.Say("why.masked")
			}
			if f.words.Has("why." + f.class.kind) {
				return f.words.Say("why." + f.class.kind)
			}
			if f.requested.Known() {
				return f.words.Say("why.request_numbers")
			}
			return f.words.Say("why.no_numbers")
		}},
	{id: "load", cause: CauseTooBig, reason: sourceLlama,
		when: func(f *failure) bool {
			return (f.class.class == classNoNumbers || f.reported()) && !f.onHost() && !f.makesContext() && (f.program.name == "ollama" || f.program.name == "llama.cpp" || f.program.name == "tabby")
		},
		confidence: always(0.65),
		evidence:   func(f *failure) string { return f.words.Say("why.ggml_alloc_failed") }},
	{id: "instances", cause: CauseTooBig, reason: sourceTriton,
		when: func(f *failure) bool {
			return f.program.name == "triton" && f.reported() && !f.onHost() && indexOf(f.event.Text, "instance") >= 0
		},
		confidence: always(0.65),
		evidence:   func(f *failure) string { return f.words.Say("why.instances") }},
	{id: "provider", cause: CauseUnknown, reason: "https://onnxruntime.ai/docs/execution-providers/TensorRT-ExecutionProvider.html",
		when:       func(f *failure) bool { return f.inExecutionProvider() && !f.requested.Known() },
		confidence: always(0.6),
		evidence:   func(f *failure) string { return f.words.Say("why.provider") }},
	{id: "trees", cause: CauseTooBig, reason: "https://xgboost.readthedocs.io/en/stable/gpu/index.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.growsTrees() && f.free.Known() && f.requested.Or(0) > f.free.Or(0)
		},
		confidence: always(0.7),
		evidence: func(f *failure) string {
			return f.words.Say("why.trees", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))))
		}},
	{id: "R9", cause: CauseTooBig, reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool {
			own, total := f.process.Or(0), f.total.Or(0)
			alone := f.recorded() && f.startingUp() && own > partOf(total, 0.1) && own+f.free.Or(0) > partOf(total, 0.95) // it asked for more than all the rest
			return !f.onHost() && f.class.class == classNoNumbers && f.total.Known() && (own > total/2 && f.free.Or(0) < total/10 || alone)
		},
		confidence: always(0.6),
		evidence: func(f *failure) string {
			return f.words.Say("why.recorded_full", "process", gib(f.process.Or(0)), "free", f.rough(gib(f.free.Or(0))), "total", gib(f.total.Or(0)))
		}},
	{id: "R9", cause: CauseUnknown, reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.class.class == classAllocator && f.class.cause == "" && !f.requested.Known() && !f.total.Known() && !f.limited() && !f.corrupt() && !f.pooledShape()
		},
		confidence: always(0.55),
		evidence:   func(f *failure) string { return f.words.Say("why.no_request") }},
	{id: "R9", cause: CauseUnknown, reason: sourceMessage,
		when:       func(f *failure) bool { return f.requestAlone() },
		confidence: always(0.51), // too big is likelier than each other cause, and not than all of them
		evidence:   func(f *failure) string { return f.words.Say("why.request_alone", "need", printed(f.requested.Or(0))) }},
	{id: "R9", cause: CauseUnknown, reason: "https://docs.cupy.dev/en/stable/user_guide/memory.html",
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindCuPy && f.allocated.Known() && !f.total.Known() && !f.limited() && f.history == nil
		},
		confidence: always(0.51), // its own, of earlier passes, or too much at once
		evidence:   func(f *failure) string { return f.words.Say("why.cupy_pool") }},
	{id: "R4", cause: CauseUnknown, reason: sourceMessage,
		when: func(f *failure) bool {
			return f.refusedThoughFree() && !f.limited() && !f.onLinux() && !f.onWindows() && !f.roundShare() && !f.wideRequest() && !f.workersDecide() && !f.halfRefused()
		},
		confidence: always(0.51),
		evidence:   func(f *failure) string { return f.words.Say("why.refused_unknown") }},
	{id: "R6", cause: CauseUnknown, reason: sourceMessage,
		when:       func(f *failure) bool { return f.noSplit() && !f.asksMuch() },
		confidence: always(0.5),
		evidence: func(f *failure) string {
			return f.words.Say("why.no_split", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "total", gib(f.total.Or(0)))
		}},
	{id: "R1", cause: CauseUnknown, reason: sourceMessage,
		when:       func(f *failure) bool { return f.unseenElsewhere() },
		confidence: always(0.7),
		evidence:   func(f *failure) string { return f.words.Say("why.unseen_elsewhere", "size", gib(f.elsewhere.Or(0))) }},
	{id: "cudnn", cause: CauseUnknown, reason: "https://docs.jax.dev/en/latest/installation.html",
		when:       func(f *failure) bool { return f.noCuDNN() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.no_cudnn") }},
	{id: "graph", cause: CauseUnknown, reason: "https://docs.pytorch.org/docs/stable/notes/autograd.html",
		when:       func(f *failure) bool { return f.graphMayFill() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.graph_unsaid") }},
	{id: "R0", cause: CauseUnknown, reason: "https://github.com/NVIDIA/nccl/issues/1284",
		when:       func(f *failure) bool { return f.corrupt() || f.beyondRAM() },
		confidence: always(0.9),
		evidence:   func(f *failure) string { return f.corruptText() }},
}
