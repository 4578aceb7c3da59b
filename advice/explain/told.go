package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// told says whether whoever wrote the text says so.
func (f *facts) told(what string) bool { return slices.Contains(f.context.Told, what) }

// triedShare: the share of the GPU that the program may take was raised, and that was not enough.
func (f *facts) triedShare() bool { return f.told(sampler.ToldTried + "share") }

// oneHoldsAll: of several GPUs one holds all of the model, as is said.
func (f *facts) oneHoldsAll() bool {
	return f.told(sampler.ToldOneGPU) && !f.onHost()
}

// triedSize: smaller samples or inputs were tried, and that was not enough.
func (f *facts) triedSize() bool {
	return f.told(sampler.ToldTried+"size") || f.told(sampler.ToldTried+"length")
}

// triedGPU: on other GPUs it ended the same way.
func (f *facts) triedGPU() bool { return f.told(sampler.ToldTried+"gpu") && !f.onHost() }

// fillsAnyGPU: and its own tensors fill most of this one (own threshold: three fifths).
func (f *facts) fillsAnyGPU() bool {
	return f.triedGPU() && f.torchCode() && f.phase() == "" && f.allocated.Or(0) > partOf(f.total.Or(0), 0.6) && f.requested.Or(0) < f.total.Or(0)/6
}

// keptFromFirst: one input passed and the next did not, with a GPU full of what the program itself holds, or nobody knows of what.
func (f *job) keptFromFirst() bool {
	full := !f.numbers() || f.allocated.Or(0) > partOf(f.total.Or(0), 0.6)
	return f.told(sampler.ToldNext) && !f.told(sampler.ToldNotebook) && f.program.is(inference|evaluation|undecided) && f.program.name == "" && f.torchCode() && !f.onHost() && !f.graphOff() && full && f.requested.Or(0) < max(f.total.Or(0)/6, sampler.GiB/4)
}

// leftByFirst: the first input went through and the next did not, in a program whose own lines keep no graph, or the first of several trainings, so that
// what the first one made or loaded is still there.
func (f *facts) leftByFirst() bool {
	full := !f.numbers() || f.allocated.Or(0) > partOf(f.total.Or(0), 0.6)
	own := f.program.is(running|undecided) && !f.program.is(server|imageTool) && f.program.name != "" || f.program.is(training) && !f.told(sampler.ToldNotebook)
	return f.told(sampler.ToldNext) && own && !f.onHost() && full && f.requested.Or(0) < max(f.total.Or(0)/6, sampler.GiB/4)
}

// littleIndex: Faiss asks for scratch memory once and for an index in one piece, so that where it is refused less than a fifth of the GPU
// others hold the rest (own threshold). One of inverted lists asks list by list, so that a little request says nothing there.
func (f *facts) littleIndex() bool {
	return f.event.Framework == "faiss" && !f.onHost() && !f.numbers() && f.requested.Or(0) >= littleAlone && f.requested.Or(0) < f.saidTotal()/5 && indexOf(f.event.Text, "IVFLists") < 0 && !f.told(sampler.ToldGrowth)
}

// loadsWhisper: it came while the model was loaded.
func (f *facts) loadsWhisper() bool {
	return f.program.name == "whisper" && !f.onHost() && !f.numbers() && f.phase() == sampler.PhaseLoading
}

// makesWhisper: the traceback ends where the model is made.
func (f *facts) makesWhisper() bool {
	n := len(f.context.Functions)
	return f.program.name == "whisper" && !f.numbers() && n > 0 && strings.Trim(f.context.Functions[n-1], "_") == "init"
}

// takenAtStart is what others held of the GPU when a program took it, where that was more than half of it (own threshold); else 0.
func (f *facts) takenAtStart() sampler.Bytes {
	if f.event.Kind == sampler.KindJulia && f.allocated.Known() {
		return 0 // a pool of its own holds it
	}
	free, known := f.extra("gpu_free_bytes").Value()
	if total := f.startTotal(); known && free > 0 && free < total/2 {
		return total.Less(free)
	}
	return 0
}

// roomyGPU is the number of a GPU that has room where the first one has none, as a list of devices shows; "": none.
func (f *facts) roomyGPU() string {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldRoomy); is && (f.takenAtStart() > 0 || f.event.Kind == sampler.KindCUDAError && !f.numbers() && f.history == nil) {
			return n
		}
	}
	return ""
}

// unlikeGPU is the number of the GPU that PyTorch advises to leave out, as it has less memory than the others; "": none.
func (f *facts) unlikeGPU() string {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldUnlike); is {
			return n
		}
	}
	return ""
}

// saysFree: enough was free, in words. That a GPU was nearly empty may be true only between two requests, but on Windows it is mostly not
// the GPU that is short of memory.
func (f *facts) saysFree() bool {
	return (f.told(sampler.ToldFree) || f.told(sampler.ToldEmpty) && f.told(sampler.ToldWindows)) && !f.onHost() && !f.numbers() && f.history == nil
}

// workersDecide: without data loader workers it goes through, so that it is not the size of the job. A worker commits host memory of its own.
func (f *facts) workersDecide() bool {
	return f.told(sampler.ToldNoWorkers) && !f.onHost() && !f.numbers() && f.history == nil
}

// arenaAtStart: AMReX could not take the part of the GPU with which it begins, three quarters, before it computed anything. The arena grows by the
// same call, so a run that is larger since its last version, or that was at a step, is another matter.
func (f *facts) arenaAtStart() bool {
	return indexOf(f.event.Text, "AMReX_Arena") >= 0 && !f.context.Step.Known() && !f.told(sampler.ToldUpdate) && !f.told(sampler.ToldLarger) && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldLate) && f.history == nil
}

// pageFileShort: a miner commits host memory for the data set of each GPU. That is short where only some of several GPUs fail, or all since there is one
// more, and where the page file is spoken of, unless it was made larger in vain.
func (f *facts) pageFileShort() bool {
	return f.told(sampler.ToldWork+sampler.WorkMining) && (f.told(sampler.ToldPageFile) || f.told(sampler.ToldSomeGPUs)) && !f.told(sampler.ToldTried+"page_file") && !f.onHost() && !f.numbers() && f.history == nil
}

// reported: the text only tells of the failure and shows no error.
func (f *facts) reported() bool { is, _ := f.event.Extra["told"].(bool); return is }

// complains: no failure is told, only trouble with memory.
func (f *facts) complains() bool { is, _ := f.event.Extra["complaint"].(bool); return is }

// toldLate: it came after many steps, and no growth is spoken of.
func (f *facts) toldLate() bool {
	return f.saidLate() && !f.told(sampler.ToldGrowth) && !f.numbers() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
}

// differInLength: it learns from recordings, of which some are much longer than others, or from pictures, of which some
// hold many more instances. PyTorch's allocator keeps what
// the longest so far took, so what looks like growth is that.
func (f *facts) differInLength() bool {
	return (f.told(sampler.ToldSpeech) || f.told(sampler.ToldInstances)) && f.inTraining() && !f.onHost()
}

// squared: the tensor that was refused is of pictures that were brought to the same square size, so that no batch is larger than others.
func (f *facts) squared() bool {
	sides, _ := f.event.Extra["shape"].([]int)
	return len(sides) == 4 && sides[0] > 1 && sides[3] > 1 && (sides[1] == sides[2] && sides[1]%8 == 0 || sides[2] == sides[3] && sides[2]%8 == 0)
}

// objectsDiffer: memory is said to rise, without figures, where a picture with many objects takes more than others: a caching allocator that
// keeps what the largest so far took looks the same.
func (f *facts) objectsDiffer() bool {
	return f.told(sampler.ToldObjects) && f.torchCode() && (f.told(sampler.ToldGrowth) || f.toldSpikes()) && !f.differInLength() && f.inTraining() && !f.onHost() && !f.numbers()
}

// toldSpikes: now and then memory is said to jump up in training, outside of validation.
func (f *facts) toldSpikes() bool {
	return f.told(sampler.ToldSpikes) && !f.told(sampler.ToldGrowth) && f.inTraining() && !f.onHost() && !f.numbers() && f.phase() != sampler.PhaseSaving
}

// sourceEpochEnd is what Lightning before 2.0 says of its hooks at the end of an epoch.
const sourceEpochEnd = "https://lightning.ai/docs/pytorch/1.9.5/common/lightning_module.html"

// keptForEpochEnd: a hook of Lightning is given what all steps of an epoch returned, and it dies in the epoch.
func (f *facts) keptForEpochEnd() bool {
	return f.told(sampler.ToldEpochEnd) && !f.program.is(server) && !f.onHost() && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving && !f.context.FirstStep
}

// smallerModelFails: a larger model ran, as is said, so that something else is not as it was.
func (f *facts) smallerModelFails() bool {
	return f.told(sampler.ToldSmaller) && !f.onHost() && !f.numbers() && !f.told(sampler.ToldUpdate)
}

// afterValidation: it comes when a validation is over, so that what is done then may be what was too much.
func (f *facts) afterValidation() bool {
	return f.told(sampler.ToldAfterwards) && f.phase() == sampler.PhaseValidation && f.told(sampler.ToldTraining) && !f.numbers() && len(f.context.Functions) == 0
}

// toldLarger: larger inputs bring it about.
func (f *facts) toldLarger() bool {
	return f.told(sampler.ToldLarger) && !f.told(sampler.ToldPeakFirst) && !f.onHost()
}

// toldSized: a size of what it works on is named, and nothing that would make something else likelier.
func (f *facts) toldSized() bool {
	return f.told(sampler.ToldSized) && !f.onHost() && !f.numbers() && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldLate) && !f.told(sampler.ToldWorked) && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
}

// longSamples: it learns from recordings or texts of which long ones are spoken of. A batch takes what its longest sample takes.
func (f *facts) longSamples() bool {
	return f.told(sampler.ToldLong) && f.inTraining() && !f.program.is(running|undecided) && !f.onHost() && !f.refusedThoughFree() && !f.impossible() &&
		f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving
}

// toldSame: it comes at the same step again, so what that step reads decides.
func (f *facts) toldSame() bool { return f.told(sampler.ToldSame) && !f.onHost() && !f.fixedBuffer() }

// toldUnallocated: gigabytes were reserved but unallocated, as is said.
func (f *job) toldUnallocated() bool {
	return f.told(sampler.ToldUnallocated) && !f.onHost() && !f.numbers() && f.isPyTorch() && !f.expandable()
}

// loopsOn: one process works through many inputs, and what it asked for is little beside what it holds (own threshold: a twentieth of it). What stays
// from one to the next and what a single one needs look the same then.
func (f *facts) loopsOn() bool {
	held := f.allocated.Or(f.total.Or(0))
	return f.told(sampler.ToldLoops) && !f.onHost() && f.program.is(evaluation|inference|undecided) && f.history == nil && f.requested.Known() && f.requested.Or(0) < partOf(held, 0.05) && !f.told(sampler.ToldGrowth) && !f.othersMatter() && !f.limited()
}

// movedFirst: a whole pipeline is on the GPU before its parts are told to wait in RAM, which then saves next to nothing.
func (f *facts) movedFirst() bool {
	return f.told(sampler.ToldMovedFirst) && !f.onHost()
}

// sourceOffload says of offloading that a pipeline is not to be moved before it.
const sourceOffload = "https://huggingface.co/docs/diffusers/api/pipelines/overview#diffusers.DiffusionPipeline.enable_sequential_cpu_offload"

// ranBefore: the same ran before, and nothing in the text says what has changed since.
func (f *facts) ranBefore() bool {
	return f.told(sampler.ToldWorked) && !f.pageFileShort() && !f.onHost() && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldLarger) && !f.told(sampler.ToldUpdate) && f.history == nil && !f.impossible() && !f.othersMatter()
}

// toldCheckpoint: it comes when a checkpoint is loaded, to the GPU or to resume. Who makes pictures calls any model so.
func (f *facts) toldCheckpoint() bool {
	return f.told(sampler.ToldCheckpoint) && !f.told(sampler.ToldFirstGPU) && !f.program.is(imageTool) && !f.onHost() && f.torchCode()
}

// makesContext: the program had nothing on the GPU yet, not even a context.
func (f *facts) makesContext() bool {
	if f.onHost() || f.numbers() {
		return false
	}
	if f.told(sampler.ToldContext) {
		return true
	}
	for _, call := range []string{"PrimaryCtxRetain", "cuCtxCreate", "failed initializing StreamExecutor", "failed call to cuInit", "implicit initialization on GPU", "failed to create context", "create CUDA context", "THCGeneral.c", "cutorch/init.c"} {
		if indexOf(f.event.Text, call) >= 0 {
			return true
		}
	}
	return false
}

// makesSession: ONNX Runtime found no room for a small part of a model while it was read, so the GPU was nearly full (own threshold: 256 MiB).
func (f *facts) makesSession() bool {
	return f.event.Kind == sampler.KindORT && f.shows(sampler.ShowsSession) && f.requested.Or(0) <= 256*sampler.MiB
}

// notBegun: only a context, a session or the share of the GPU was asked for, so that no size of the job has anything to do with it.
func (f *facts) notBegun() bool { return f.makesContext() || f.makesSession() || f.takenAtStart() > 0 }

// refusedVariables: TensorFlow made the first few megabytes of a model and found no room.
func (f *facts) refusedVariables() bool {
	_, shaped := f.shape()
	return f.event.Kind == sampler.KindTensorFlow && !f.onHost() && f.requested.Or(shaped) < max(64*sampler.MiB, f.namedTotal()/16) && f.told(sampler.ToldVariables)
}

// makesWeights: the weights of a model were made or read for JAX or TensorFlow, and no input was there yet.
func (f *failure) makesWeights() bool {
	return f.weightRefused() || !f.onHost() && (f.told(sampler.ToldInitial) || f.event.Kind == sampler.KindXLA && f.phase() == sampler.PhaseLoading && !f.isServing())
}

// severalGPUs: there is more than one, as is said.
func (f *facts) severalGPUs() bool { return f.gpuCount() > 1 || f.told(sampler.ToldGPUs) }

// gpuCount is how many GPUs there are, as is said; 0: not told.
func (f *facts) gpuCount() (n int) {
	for _, what := range f.context.Told {
		if count, is := strings.CutPrefix(what, sampler.ToldGPUCount); is {
			n, _ = strconv.Atoi(count)
		}
	}
	return n
}

// visibleCount is the number of GPUs that the command sees, or else that are said to be there; 0: not known.
func (f *job) visibleCount() int {
	if list := f.environment["CUDA_VISIBLE_DEVICES"]; visibleList.Get().MatchString(list) {
		return strings.Count(list, ",") + 1
	}
	return f.gpuCount()
}

var visibleList = sampler.Pattern{Source: `^\d+(?:,\d+)+$`}

// firstCalls are functions of PyTorch that ask the driver for a context, a stream or nothing at all. Where one of
// them finds no memory, others have it.
var firstCalls = []string{"set_device", "empty_cache", "mem_get_info", "get_device_properties", "manual_seed_all", "set_rng_state", "get_rng_state", "current_stream", "init_process_group", "barrier"}

// failedBuilding: the first few megabytes of a model were refused while it was made, so the GPU was taken
// before the program came.
func (f *facts) failedBuilding() bool {
	names := f.context.Functions
	if f.onHost() || f.class.class != classNoNumbers || len(names) == 0 || f.inFunction("forward", "backward", "step", "load") {
		return false
	}
	last := strings.ToLower(names[len(names)-1])
	if indexOf(f.event.Text, "CUDA error: out of memory") >= 0 && slices.Contains(slices.Concat(firstCalls, []string{"convert", "<lambda>", "_apply", "cuda", "to"}), last) {
		return true // the allocator of PyTorch names an amount; this is the first call of the driver
	}
	return last == "_lazy_init" || f.inFile("torch/nn/", "nn/modules/", "modules/conv.py", "modules/linear.py") && slices.Contains([]string{"__init__", "reset_parameters"}, last)
}
