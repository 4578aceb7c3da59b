package explain

import (
	"strings"

	"nvpeak/sampler"
)

// fixesAsked follow from what somebody has found out himself, or asks for beyond it: the next step, and not that which he has made.
var fixesAsked = []fixRow{
	{id: FixNoGradInference, source: "https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",
		kinds: evaluation | inference | undecided, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.95, CauseLeak: 0.97, CauseDataSpike: 0.95},
		when:    func(f *failure) bool { return f.graphFilled() },
		reach:   always(saidToHelp),
		variant: func(*failure) string { return "cured" },
		do:      doNoGrad},
	{id: FixHalfPrecision, source: "https://huggingface.co/docs/transformers/perf_infer_gpu_one",
		kinds: ownCode | imageTool, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9, CauseDataSpike: 0.9},
		when:    func(f *failure) bool { return f.weightsFillSmallGPU() && !f.halfPrecision() },
		reach:   always(1),
		variant: func(*failure) string { return "small_gpu" },
		do: func(f *failure) []string {
			return append([]string{f.comment("do.say.sixteen"), f.comment("do.say.offload_parts")}, f.smallGPU()...)
		}},
	{id: FixSmallerOptimizer, source: "https://huggingface.co/docs/peft/index",
		kinds: training | undecided, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.tunedInVain() || f.networksFill() },
		reach:   always(1),
		variant: func(*failure) string { return "spent" },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.say.adapters"), f.comment("do.say.states_in_ram")}
			if f.networksFill() {
				lines = append(lines, f.comment("do.say.checkpointing"))
			}
			return lines
		}},
	{id: FixOffloadModel, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: inference | imageTool, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9},
		when:  func(f *failure) bool { return f.largePipeline() },
		reach: always(1),
		do:    doOffload},
	{id: FixOffloadModel, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: inference | imageTool | undecided, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9, CauseDataSpike: 0.95},
		when:    func(f *failure) bool { return f.wantsMoreFrames() },
		reach:   always(1),
		variant: func(*failure) string { return "frames" },
		pairs:   func(f *failure) []any { return []any{"before", f.ranWith()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.windows_of_frames", "before", f.ranWith()), f.comment("do.say.decode_frames"), f.comment("do.say.offload_parts")}
		}},
	{id: FixAMPBF16, source: "https://docs.pytorch.org/docs/stable/amp.html",
		kinds: training | undecided, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.8},
		when: func(f *failure) bool { // the batch is to stay as large as it is
			return f.wantsBatch() && (f.isPyTorch() || f.event.Kind == sampler.KindOtherGPU && f.language() == "") && !f.growsTrees() && f.event.Kind != sampler.KindMPS && !f.halfPrecision() && f.inTraining() && !f.numbers() && !f.onHost()
		},
		reach: always(1),
		variant: func(f *failure) string {
			if yes, known := f.gpu.bf16(); known && !yes {
				return "fp16"
			}
			return "perhaps"
		},
		pairs: func(f *failure) []any { return []any{"gpu", f.gpu.name} },
		do:    doMixedPrecision},
	{id: FixGradientCheckpointing, source: "https://arxiv.org/abs/2205.05198",
		kinds: training | undecided, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85},
		when:    func(f *failure) bool { return f.wantsContext() },
		reach:   always(1),
		variant: func(*failure) string { return "context" },
		do: func(f *failure) []string {
			return []string{f.comment("do.say.attention"), f.comment("do.say.checkpointing"), f.comment("do.split_sequence")}
		}},
	{id: FixSmallerInput, source: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		kinds: training | undecided, cost: 0.01,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9, CauseDataSpike: 0.9},
		when: func(f *failure) bool {
			return f.splats() && f.told(sampler.ToldCloud) && !f.numbers() && !f.onHost() && f.history == nil
		},
		reach:   always(1),
		variant: func(*failure) string { return "cloud" },
		do: func(f *failure) []string {
			return []string{f.comment("do.thin_cloud"), f.comment("do.or_that", "what", f.words.Say("do.fewer_views"))}
		}},
	{id: FixSmallerInput, source: sourceAnatomy,
		kinds: undecided, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.85},
		when: func(f *failure) bool { // one input is all that is left to be made smaller
			return f.told(sampler.ToldNoBatch) && f.noBatch() && f.phase() == "" && !f.numbers() && !f.onHost() && f.history == nil && !f.othersMatter() && !f.told(sampler.ToldGrowth)
		},
		reach: always(1),
		do:    func(f *failure) []string { return f.lessInput() }},
	{id: FixSmallerInput, source: sourceAnatomy,
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9, CauseDataSpike: 0.97},
		when:  func(f *failure) bool { return f.oneLongInput() },
		reach: always(1),
		do:    func(f *failure) []string { return f.lessInput() }},
}

// oneLongInput: a model that runs fails with a single long input already, as is said, so that neither a batch nor what is kept of others is too much.
func (f *failure) oneLongInput() bool {
	return f.told(sampler.ToldOne) && (f.told(sampler.ToldLong) || f.told(sampler.ToldLarger)) && f.domain() == sampler.DomainText && !f.program.is(training) && !f.isServing() && !f.onHost() && f.history == nil &&
		!f.told(sampler.ToldGrowth) && !f.refusedThoughFree() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseLoading
}

// weightsFillSmallGPU: smaller inputs were tried in vain on a GPU that few programs are made for, and next to nothing more was asked for than what fills it
// (own thresholds: three fifths held, a twentieth asked for): that are the weights, which no input makes smaller.
func (f *failure) weightsFillSmallGPU() bool {
	return f.triedSize() && f.smallGPU() != nil && f.numbers() && f.torchCode() && !f.onHost() && !f.program.is(training) && !f.told(sampler.ToldGrowth) &&
		f.allocated.Or(0) > partOf(f.total.Or(0), 0.6) && f.requested.Or(0) < partOf(f.total.Or(0), 0.05) && f.phase() != sampler.PhaseValidation
}

// graphFilled: without gradients it runs, as is said, so that what is kept for a backward pass was too much.
func (f *failure) graphFilled() bool {
	return f.told(sampler.ToldCured+"no_grad") && !f.told(sampler.ToldTried+"no_grad") && !f.onHost() && f.history == nil
}

// tunedInVain: a model of others is trained on, and two or more of what makes its activations smaller did not help. What is left are gradients and
// states, of which there are none for weights that stay as they are.
func (f *failure) tunedInVain() bool {
	if !f.told(sampler.ToldFineTunes) || f.usesLoRA() || f.shows(sampler.ShowsAdapters) || f.onHost() || f.numbers() || !f.torchCode() || f.history != nil || f.told(sampler.ToldGrowth) || f.phase() == sampler.PhaseValidation || f.phase() == sampler.PhaseSaving {
		return false
	}
	spent := 0
	for _, setting := range []string{"batch", "size", "precision", "accumulation", "checkpointing", "length"} {
		if f.told(sampler.ToldTried + setting) {
			spent++
		}
	}
	return spent > 1
}

// wantsBatch: it runs with a smaller batch, and how to go on with a larger one is asked.
func (f *failure) wantsBatch() bool {
	return f.told(sampler.ToldAsksMore) && strings.Contains(f.ranWith(), "batch")
}

// wantsContext: a language model is trained with one sample at a time so that it reads a longer context, which a shorter one is no help for. What is
// kept for each token are activations, and a matrix of all tokens where attention makes one.
func (f *failure) wantsContext() bool {
	return f.told(sampler.ToldLongContext) && f.domain() == sampler.DomainText && f.oneSample() && f.inTraining() && !f.checkpointing() && !f.isServing() && !f.numbers() && !f.onHost()
}

// wantsMoreFrames: a program makes or edits videos, ran with few frames, and how to go on to more is asked.
func (f *failure) wantsMoreFrames() bool {
	return f.told(sampler.ToldAsksMore) && f.domain() == sampler.DomainVideo && strings.Contains(f.ranWith(), "frame") && !f.onHost() && !f.numbers()
}

// networksFill: one sample at a time is trained on, and it is a network or its optimizer that is said to take the room, so that smaller samples leave most of it.
func (f *failure) networksFill() bool {
	return f.told(sampler.ToldNetworks) && f.batch() == 1 && f.program.is(training) && !f.onHost() && !f.numbers() && f.history == nil && !f.told(sampler.ToldGrowth)
}

// largePipeline: a pipeline of models ran on a GPU that most pictures fit, and nothing is said of a size, so that it is the models that fill it.
func (f *failure) largePipeline() bool {
	return f.program.name == "diffusers" && f.reported() && f.smallable() && f.saidTotal() >= largeEnough && f.offloadPossible() && !f.told(sampler.ToldSized) && !f.told(sampler.ToldLarger) &&
		!f.told(sampler.ToldTried+"offload") && !f.told(sampler.ToldInForce+"model_cpu_offload") && !f.told(sampler.ToldInForce+"sequential_cpu_offload") && !f.told(sampler.ToldNext)
}
