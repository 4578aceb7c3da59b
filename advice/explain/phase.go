package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// samplesBetween: a training runs its model between two steps, as to show what it has learned.
func (f *facts) samplesBetween() bool {
	return f.program.is(training) && f.late() && f.inFunction("sample") && f.inFunction("forward")
}

// ownText are words of programs that train on what their model writes itself: rewards teach, or a teacher. There writing is a part of each step.
var ownText = sampler.Pattern{Source: `(?i)grpo|rloo|ppo|rlhf|reinforce|roll_?out|experience|reward|polic(?:y|ies)|actor|gkd|distil|self_?play|best_?of|on_?line|teacher|student`}

// writesBetween: a training had its model write texts between two steps, as is done to judge what it has learned.
func (f *facts) writesBetween() bool {
	if f.onHost() || f.inBackward() || !f.program.is(training) || !f.late() || !f.inFile("generation/utils.py") && !f.inCode(".generate(") || f.shows(sampler.ShowsRollout) || f.told(sampler.ToldOnPolicy) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(f.context.Functions, f.context.Code, f.context.Files, f.context.Scripts), ownText.Get().MatchString)
}

// evaluationCall is the call of a step of an evaluation that JAX has compiled. https://github.com/AI-Hypercomputer/maxtext names it p_eval_step, the
// examples of Flax p_eval_step and eval_step.
var evaluationCall = sampler.Pattern{Source: `(?i)(?:^|[^a-z0-9])(?:p_|jit_|pjit_|jitted_|parallel_|compiled_)?(?:eval|evaluation|val|valid|validation)_(?:step|batch|fn)\(`}

// evaluatesCompiled: the line that failed calls such a step. What is compiled has no frames of its own, so that the function that calls it, which
// mostly is the loop of the training, is all that the traceback has.
func (f *facts) evaluatesCompiled() bool {
	return f.event.Kind == sampler.KindXLA && slices.ContainsFunc(f.context.Code, evaluationCall.Get().MatchString)
}

// drawWords are parts of names of functions that show what a model has learned, and that nothing in a step of its training is called.
var drawWords = []string{"draw", "sample_loop", "sample_grid", "sample_images", "sample_image", "log_images", "log_samples", "save_samples", "visuali", "preview", "demo_images"}

// drawsAlone: in the training of several ranks the first one alone draws samples, or shows otherwise what the model has learned. In diffusion the
// sampler's own functions are in no step of a training either.
func (f *facts) drawsAlone() bool {
	several := f.event.Rank.Known() || f.context.WorldSize.Or(0) > 1
	return several && !f.onHost() && f.event.Rank.Else(f.event.GPUIndex).Or(-1) == 0 && f.context.Phase != sampler.PhaseLoading && f.context.Phase != sampler.PhaseSaving && !f.inBackward() && (f.inFunction(drawWords...) || f.inCode("p_sample_loop(", "ddim_sample_loop(", "sample_grid("))
}

// phaseFunctions are parts of function names that give a phase away where the reader of the log drew none. It knows whose function it is, so
// that of a validation nothing is here that a library may call something else.
var phaseFunctions = []struct {
	phase string
	parts []string
}{
	{sampler.PhaseValidation, []string{"validation_step", "val_step", "val_epoch", "validate_epoch", "val_loop", "evaluation_loop", "_run_evaluate", "on_val", "non_max_suppression"}},
	{sampler.PhaseTraining, []string{"backward", "train_step", "training_step", "train_epoch", "train_one_epoch", "train_batch", "training_loop", "_inner_training_loop", "do_train", "train"}},
	{sampler.PhaseSaving, []string{"save_checkpoint", "save_model", "full_state_dict", "save_pretrained", "_save_to_state_dict", "consolidate_state_dict"}},
	{sampler.PhaseInference, []string{"generate", "infer", "predict", "sample", "pipeline", "chat"}},
	{sampler.PhaseLoading, []string{"from_pretrained", "load_state_dict", "load_model", "load_checkpoint", "load_weights", "load_and_format_params", "_load"}},
}

// phase is what the run was doing, from the log or else from the traceback; "" when neither says.
func (f *facts) phase() string {
	if f.merges() || f.exports() {
		return sampler.PhaseSaving
	}
	if f.copiesValidation() || f.evaluatesCompiled() || f.drawsAlone() {
		return sampler.PhaseValidation
	}
	if f.swaps() {
		return sampler.PhaseLoading
	}
	if f.compiled() && f.tool.Does == tools.Runs && f.context.Phase == sampler.PhaseTraining {
		return "" // what it runs was trained by another program
	}
	if f.movesModel() && (f.context.Phase == "" || f.context.Phase == sampler.PhaseInference || f.context.Phase == sampler.PhaseTraining && !f.context.Epoch.Known() && !f.context.Step.Known()) {
		return sampler.PhaseLoading
	}
	if f.countsInputs() {
		return "" // of which one after the other is worked on, as a training does its steps
	}
	if f.context.Phase == sampler.PhaseInference && f.samplesBetween() || (f.context.Phase == sampler.PhaseInference || f.context.Phase == sampler.PhaseTraining) && f.writesBetween() {
		return sampler.PhaseValidation
	}
	if f.context.Phase != "" {
		return f.context.Phase
	}
	if f.makesWhisper() {
		return sampler.PhaseLoading
	}
	for _, row := range phaseFunctions {
		if f.inFunction(row.parts...) && !(row.phase == sampler.PhaseInference && f.onlyForward(row.parts)) {
			return row.phase
		}
	}
	if f.inCode("from_pretrained(") && !f.inFunction("forward") {
		return sampler.PhaseLoading
	}
	if f.inCode("t.to(device, dtype if", "return self._apply(lambda t: t.cuda(device))") {
		return sampler.PhaseLoading // a model is being moved to the GPU
	}
	if f.fillsAndFreesNothing() {
		return sampler.PhaseLoading
	}
	return ""
}

// countsInputs: a script that trains nothing counted what it had done, and nothing else tells of a training.
func (f *facts) countsInputs() bool {
	return f.context.Phase == sampler.PhaseTraining && f.program.is(evaluation|inference) && f.context.Step.Known() && !f.context.Epoch.Known() && !f.told(sampler.ToldTraining) && !f.inBackward() && !f.inFunction("train", "fit")
}

// fillsAndFreesNothing: tensors fill the GPU without a gap, and one as small as a matrix of a model found no room. What runs frees what it has made,
// and its allocator keeps that; only weights that are read leave none of it, and the pool of a server (own thresholds: nineteen twentieths of the GPU, a thousandth of them).
func (f *facts) fillsAndFreesNothing() bool {
	held := f.allocated.Or(0)
	return f.torchCode() && !f.program.is(training) && (!f.program.is(server) || f.beyondShare()) && !f.onHost() && f.unallocated.Known() && held > partOf(f.total.Or(0), 0.95) && f.unallocated.Or(0) < partOf(held, 0.001) && f.requested.Or(0) < partOf(f.total.Or(0), 0.02) &&
		len(f.context.Functions) == 0 && !f.event.PrivatePools.Known() && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldNext) && !f.told(sampler.ToldTraining) && !f.context.Epoch.Known() && !f.context.Step.Known() && f.history == nil
}

// beyondShare: vLLM holds more than the part of the GPU that it takes by default, and no other is set, so that it is no pool of its own that fills it.
func (f *facts) beyondShare() bool {
	return f.program.name == "vllm" && f.allocated.Or(0) > partOf(f.total.Or(sampler.MaxPlausible), 0.95) && len(f.numbersInForce("gpu_memory_utilization")) == 0 && !strings.Contains(f.context.Command, "utilization")
}

// forwardStep are functions of a forward pass, in training too, whose names begin as those of answers do.
var forwardStep = sampler.Pattern{Source: `(?i)^_?(?:generate|sample)_(?:qkv|anchors?|proposals?|grids?|rays?|noise|targets?|labels?|(?:\w+_)?masks?|(?:relative_)?positions?|negatives?)$`}

// onlyForward: all functions of the traceback that hold one of the parts are such ones.
func (f *facts) onlyForward(parts []string) bool {
	return !slices.ContainsFunc(f.context.Functions, func(name string) bool {
		return !forwardStep.Get().MatchString(name) && slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(strings.ToLower(name), p) })
	})
}

// movesModel: a whole model was on its way to the GPU, in whatever function.
func (f *facts) movesModel() bool {
	return f.inCode("return model.to(", "model = model.to(", "model.to(device)", "pipe.to(", "model.cuda()", "net.cuda()") && !f.inFunction("forward")
}

// testsOnly: a script tests a model and trains none, so there is no training that needs less.
func (f *failure) testsOnly() bool {
	return f.program.is(evaluation) && f.phase() == sampler.PhaseValidation && (f.numbers() || f.requested.Known()) && !f.told(sampler.ToldTraining) && !f.inFunction("train", "fit") && !f.context.Epoch.Known()
}
