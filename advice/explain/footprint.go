package explain

import "nvpeak/sampler"

// footprint divides what the allocator held into what the batch does not change (weights,
// gradients, optimizer) and what it does (activations).
type footprint struct {
	states, activations span
	parameters          uint64 // 0: not known
	known               bool   // from a parameter count; otherwise a guess with wide bounds
	bytesLow, bytesHigh float64
	basis               string // message id of the assumption
	// beyond: weights, gradients and optimizer want more than was allocated, so they were still
	// being built when it died. statesWanted is what they want in all.
	beyond       bool
	statesWanted sampler.Bytes
}

// stateRow is how many bytes one parameter costs. Figures:
// https://huggingface.co/docs/transformers/model_memory_anatomy (fp32 and mixed, AdamW),
// https://github.com/EleutherAI/cookbook/blob/main/calc/calc_transformer_mem.py (pure bf16, 8-bit, SGD).
type stateRow struct {
	basis     string
	low, high float64
	fits      func(*job) bool
}

var stateRows = []stateRow{
	{"basis.inference_quantized", 0.5, 1.1, func(f *job) bool {
		return f.phase() == sampler.PhaseInference && (f.context.Precision == "int8" || f.context.Precision == "nf4")
	}},
	{"basis.inference", 2, 4, func(f *job) bool { return f.phase() == sampler.PhaseInference }},
	{"basis.lora", 0.5, 3, func(f *job) bool { return f.usesLoRA() }},
	{"basis.sgd", 8, 12, func(f *job) bool { return f.optimizer() == "sgd" }},
	{"basis.adam8bit", 10, 12, func(f *job) bool { return f.optimizer() == "adam8bit" }},
	{"basis.adafactor", 8, 13, func(f *job) bool { return f.optimizer() == "adafactor" }},
	{"basis.bf16", 8, 18, func(f *job) bool { return f.context.Precision == "bf16" || f.context.Precision == "fp16" }},
	{"basis.fp32", 16, 18, func(*job) bool { return true }},
}

// estimate divides the allocated memory. Without a parameter count the bounds are wide: 20 to
// 90 % activations in training, most of it in validation and inference unknown.
func (f *job) estimate() footprint {
	allocated := f.allocated.Or(f.process.Or(0))
	p := footprint{parameters: f.context.Parameters.Or(f.namedParameters())}
	for _, row := range stateRows {
		if row.fits(f) {
			p.basis, p.bytesLow, p.bytesHigh = row.basis, row.low, row.high
			break
		}
	}
	low, high := float64(p.parameters)*p.bytesLow, float64(p.parameters)*p.bytesHigh
	if p.parameters > 0 && low <= float64(allocated) && f.phase() != sampler.PhaseLoading {
		p.known = true
		p.states = span{sampler.Bytes(low), min(sampler.Bytes(high), allocated)}
		p.activations = span{allocated.Less(p.states.high), allocated.Less(p.states.low)}
		return p
	}
	p.beyond = f.inTraining() && (f.firstSteps() || f.beforeSteps()) && p.parameters > 0 && low > float64(allocated) && !f.sharded() && !f.usesLoRA()
	p.statesWanted = sampler.Bytes(min(low, float64(sampler.MaxPlausible)))
	if !p.beyond {
		p.basis = "basis.unknown"
	}
	lowPart, highPart := 0.3, 0.9
	if f.phase() == sampler.PhaseLoading {
		lowPart, highPart = 0, 0.1
	}
	p.activations = span{partOf(allocated, lowPart), partOf(allocated, highPart)}
	p.states = span{partOf(allocated, 1-highPart), partOf(allocated, 1-lowPart)}
	return p
}

// beforeSteps: a training that is being watched since it began has not told of a step yet.
func (f *job) beforeSteps() bool {
	return f.program.is(training) && (f.phase() == "" || f.phase() == sampler.PhaseTraining) && f.recorded() && f.startingUp() && !f.context.Step.Known() && !f.context.Epoch.Known()
}
