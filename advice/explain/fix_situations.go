package explain

import (
	"strings"

	"nvpeak/sampler"
)

// fixesSituations follow from the circumstances that somebody tells, whatever the size of the job is.
var fixesSituations = []fixRow{
	{id: FixLeak, source: sourceEpochEnd,
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseLeak: 0.99, CauseUnknown: 0.7, CauseValidationSpike: 0.8},
		when:    func(f *failure) bool { return f.keptForEpochEnd() },
		reach:   always(1),
		variant: func(f *failure) string { return "epoch_end" },
		do: func(f *failure) []string {
			return []string{f.comment("do.no_epoch_end"), `return {"loss": loss, "x": x.detach().cpu()}  ` + f.comment("do.what_is_needed")}
		}},
	{id: FixOtherVersion, source: "https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/hparams/model_args.py",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.85, CauseDataSpike: 0.6},
		when:    func(f *failure) bool { return f.smallerModelFails() && f.history == nil && !f.othersMatter() },
		reach:   always(1),
		variant: func(f *failure) string { return "smaller_fails" },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.compare_runs")}
			if f.torchCode() {
				lines = append([]string{f.comment("do.memory_saving_attention")}, lines...)
			}
			return lines
		}},
	{id: FixLeak, source: "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
		kinds: ownCode | server, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.92, CauseTooBig: 0.92, CauseLeak: 0.97, CausePreallocation: 0.95, CauseOtherProcess: 0.4},
		when:    func(f *failure) bool { return f.told(sampler.ToldUnloaded) && !f.onHost() && !f.numbers() },
		reach:   always(1),
		variant: func(f *failure) string { return "unloaded" },
		do: func(f *failure) []string {
			if f.event.Framework == "tensorflow" || f.program.name == "triton" || f.told(sampler.ToldTFProgram) {
				return []string{"export TF_FORCE_GPU_ALLOW_GROWTH=true  " + f.comment("do.tensorflow_grows"), f.comment("do.process_each_model")}
			}
			return []string{f.comment("do.process_each_model")}
		}},
	{id: FixOtherVersion, source: "https://docs.nvidia.com/deploy/cuda-compatibility/",
		kinds: ownCode | running, cost: 0, work: true,
		lives: map[string]float64{CauseUnknown: 0.95, CauseTooBig: 0.95},
		when: func(f *failure) bool { // there is nothing to make smaller
			return f.told(sampler.ToldDemo) && !f.numbers() && !f.requested.Known() && !f.onHost() && f.history == nil
		},
		reach:   always(1),
		variant: func(f *failure) string { return "demo" },
		do: func(f *failure) []string {
			list := []string{"nvidia-smi  " + f.comment("do.look_first"), f.comment("do.own_architecture")}
			if f.told(sampler.ToldOnSlice) {
				list = append([]string{f.comment("do.without_slices")}, list...)
			}
			return list
		}},
	{id: FixSmallerOptimizer, source: "https://huggingface.co/docs/peft/index",
		kinds: training | undecided, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.85},
		when: func(f *failure) bool { // gradients and states are what is new, and none of them follows the batch
			return f.told(sampler.ToldRunsOnly) && f.torchCode() && !f.usesLoRA() && !f.onHost() && f.history == nil && f.batch() <= largeBatch
		},
		reach:   always(1),
		variant: func(f *failure) string { return "adapters" },
		do: func(f *failure) []string {
			return []string{f.comment("do.say.adapters"), f.comment("do.say.states_in_ram")}
		}},
	{id: FixRebalanceRanks, source: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
		kinds: training | undecided, cost: 0,
		lives: map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.75, CauseImbalance: 0.95},
		when: func(f *failure) bool {
			return f.told(sampler.ToldUnmeant) && !f.onHost() && !f.numbers() && f.environment["CUDA_VISIBLE_DEVICES"] == ""
		},
		reach:   always(1),
		variant: func(f *failure) string { return "unmeant" },
		do: func(f *failure) []string {
			return []string{f.comment("do.one_visible"), f.comment("do.then_smaller")}
		}},
	{id: FixSmallerInput, source: "https://pytorch-geometric.readthedocs.io/en/latest/get_started/introduction.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.95, CauseTooBig: 0.95},
		when:    func(f *failure) bool { return f.told(sampler.ToldGraphs) && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "one_graph" },
		do: func(f *failure) []string {
			return []string{f.comment("do.one_graph")}
		}},
	{id: FixLimitRequests, source: sourceTriton,
		kinds: server, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.97, CausePreallocation: 0.97},
		when:    func(f *failure) bool { return f.told(sampler.ToldLoadedTwice) && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "instances" },
		do: func(f *failure) []string {
			return []string{"instance_group [ { count: 1 kind: KIND_GPU } ]  " + f.comment("do.in_config"), f.comment("do.batches_in_flight")}
		}},
	{id: FixSmallerModel, source: sourceVLLM,
		kinds: server, cost: 0.01,
		lives: map[string]float64{CauseUnknown: 0.92, CauseTooBig: 0.97, CausePreallocation: 0.6},
		when: func(f *failure) bool { // a share limits the cache, and weights come before it
			return f.reported() && f.program.name == "vllm" && f.phase() == sampler.PhaseLoading && f.triedShare() && !f.onHost()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "before_cache" },
		do: func(f *failure) []string {
			return []string{f.comment("do.weights_first"), f.comment("do.share_is_cache")}
		}},
	{id: FixOffloadModel, source: sourceMessage,
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.97},
		when:    func(f *failure) bool { return f.besideLlama() },
		reach:   always(1),
		variant: func(f *failure) string { return "torch_model" },
		do: func(f *failure) []string {
			return []string{f.comment("do.torch_model"), f.comment("do.torch_hidden")}
		}},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode | server, cost: 0.01,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.7, CauseLeak: 0.95, CauseOtherProcess: 0.4},
		when: func(f *failure) bool {
			return f.told(sampler.ToldModels) && !f.told(sampler.ToldUnloaded) && !f.onHost() && !f.numbers()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "models" },
		do: func(f *failure) []string {
			if f.event.Framework == "tensorflow" {
				return []string{f.comment("do.process_each"), f.comment("do.unload_first")}
			}
			return []string{f.comment("do.unload_first"), "del model; gc.collect(); torch.cuda.empty_cache()  " + f.comment("do.before_next")}
		}},
	{id: FixLeak, source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server/",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseLeak: 0.99, CausePreallocation: 0.97, CauseUnknown: 0.9, CauseTooBig: 0.85, CauseOtherProcess: 0.4},
		when:    func(f *failure) bool { return f.told(sampler.ToldLoadsEach) && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "each" },
		do: func(f *failure) []string {
			return []string{f.comment("do.load_once"), f.comment("do.server_beside")}
		}},
	{id: FixCapPreallocation, source: "https://github.com/facebookresearch/faiss/wiki/Faiss-on-the-GPU",
		kinds: ownCode, cost: 0, work: true,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.9, CauseOtherProcess: 0.5},
		when:    func(f *failure) bool { return f.refusedScratch() },
		reach:   always(1),
		variant: func(f *failure) string { return "scratch" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), f.comment("do.scratch")}
		}},
	{id: FixLeak, source: "https://cuda.juliagpu.org/stable/usage/memory/",
		kinds: ownCode, cost: 0.01, work: true,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.85, CauseLeak: 0.97},
		when:    func(f *failure) bool { return f.told(sampler.ToldCollects) && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "collected" },
		do:      func(f *failure) []string { return []string{f.comment("do.collect_arrays"), f.comment("do.same_array")} }},
	{id: FixSmallerInput, source: sourceAnatomy,
		kinds: ownCode | running, remote: true,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.9, CauseOtherProcess: 0.9, CauseUnattributed: 0.9, CauseFragmentation: 0.9, CauseDataSpike: 0.9, CauseLeak: 0.9, CauseMemoryLimit: 0.9, CausePreallocation: 0.9},
		when:    func(f *failure) bool { return f.told(sampler.ToldRemote) },
		reach:   always(1),
		variant: func(f *failure) string { return "remote" },
		do: func(f *failure) []string {
			return []string{f.comment("do.ask_less"), f.comment("do.tell_service")}
		}},
	{id: FixSmallerInput, source: "https://github.com/kohya-ss/sd-scripts/blob/main/tools/cache_latents.py",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.9, CauseDataSpike: 0.9, CauseLeak: 0.8},
		when: func(f *failure) bool {
			return f.told(sampler.ToldCaching) && f.told(sampler.ToldPictureSet) && !f.onHost()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "caching" },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.cache_before"), f.comment("do.cache_without")}
			if f.shows(sampler.ShowsSDScripts) {
				lines = append([]string{"--cache_latents_to_disk --vae_batch_size 1  " + f.comment("do.cache_options")}, lines...)
			}
			return lines
		}},
	{id: FixCuDNNBenchmark, source: "https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.benchmark",
		kinds: ownCode, cost: 0.01,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.85},
		when: func(f *failure) bool {
			return f.told(sampler.ToldPeakFirst) && !f.onHost() && !f.numbers() && !f.told(sampler.ToldText) && (f.event.Framework == "" || f.event.Framework == "pytorch")
		},
		reach: always(1),
		do: func(f *failure) []string {
			return []string{"torch.backends.cudnn.benchmark = False  " + f.comment("do.no_benchmark"), "TF_CUDNN_USE_AUTOTUNE=0  " + f.comment("do.in_tensorflow")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.85, CauseOtherProcess: 0.95}, // what is too big fails in the first run, too
		when: func(f *failure) bool {
			return f.told(sampler.ToldEachRun) && !f.keptFromFirst() && !f.onHost() && !f.numbers() && f.history == nil
		},
		reach:   always(1),
		variant: func(f *failure) string { return "left" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.left_process"), f.comment("do.reboot")}
		}},
	{id: FixStopOtherProcess, source: sourceOrphans,
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseOtherProcess: 0.99, CauseUnattributed: 0.99, CauseUnknown: 0.9, CauseTooBig: 0.8, CauseLeak: 0.6},
		when:    func(f *failure) bool { return f.deadHolds() },
		reach:   always(1),
		variant: func(f *failure) string { return "dead" },
		do: func(f *failure) []string {
			return []string{f.everyHolder(), f.comment("do.orphans"), f.comment("do.unkillable")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode | server, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.8, CauseTooBig: 0.6, CauseOtherProcess: 0.97},
		when:    func(f *failure) bool { return f.firstOnGPU() },
		reach:   always(1),
		variant: func(f *failure) string { return "unknown" },
		do: func(f *failure) []string {
			return withLine(doStopOther(f), f.comment("do.which_gpu"))
		}},
	{id: FixStopOtherProcess, source: "https://github.com/QwenLM/Qwen3/issues/873",
		kinds: ownCode | server, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.97, CauseOtherProcess: 0.97},
		when:    func(f *failure) bool { return f.noHandle() },
		reach:   always(1),
		variant: func(f *failure) string { return "unknown" },
		do: func(f *failure) []string {
			return withLine(doStopOther(f), f.comment("do.which_gpu")+"\n"+f.comment("do.or_that", "what", f.words.Say("do.say.smaller_version")))
		}},
	{id: FixOtherVersion, source: sourceAnatomy,
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.95, CauseTooBig: 0.97, CauseFragmentation: 0.9, CauseDataSpike: 0.9, CauseHostMemory: 0.9},
		when:    func(f *failure) bool { return f.runsWithout() != "" && f.history == nil },
		reach:   always(1),
		variant: func(f *failure) string { return "option" },
		pairs:   func(f *failure) []any { return []any{"option", f.runsWithout()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.leave_out_option", "option", f.runsWithout())}
		}},
	otherVersion(sampler.ToldMachines, "machine"), otherVersion(sampler.ToldTogether, "together"), otherVersion(sampler.ToldElsewhere, "elsewhere"),
	otherVersion(sampler.ToldBackend, "backend"), otherVersion(sampler.ToldNamed, "named"),
	{id: FixOtherVersion, source: "https://docs.nvidia.com/deploy/cuda-compatibility/",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.72},
		when: func(f *failure) bool { // the driver's own words: the allocator of PyTorch names amounts
			return f.told(sampler.ToldSuspects) && f.event.Kind == sampler.KindCUDAError && !f.numbers() && !f.onHost() && f.history == nil && f.torchCode()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "build" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.look_first"), "python -m torch.utils.collect_env  " + f.comment("do.fits_driver")}
		}},
	{id: FixOtherVersion, source: "https://github.com/graphdeco-inria/gaussian-splatting/issues/99",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.95, CauseTooBig: 0.95}, // no setting of the scene has an effect yet
		when:    func(f *failure) bool { return f.placesPoints() && !f.numbers() && !f.onHost() && f.history == nil },
		reach:   always(1),
		variant: func(f *failure) string { return "extension" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.look_first"), f.comment("do.same_cuda") + "\n" + f.comment("do.count_points")}
		}},
	{id: FixOtherVersion, source: "https://docs.jax.dev/en/latest/installation.html",
		kinds: ownCode | running, cost: 0.01,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.8},
		when:    func(f *failure) bool { return f.noCuDNN() },
		reach:   always(1),
		variant: func(f *failure) string { return "cudnn" },
		do: func(f *failure) []string {
			return []string{f.comment("do.cudnn_versions"), "nvidia-smi  " + f.comment("do.cudnn_room")}
		}},
	{id: FixSmallerInput, source: "https://github.com/NVlabs/instant-ngp/issues/210",
		kinds: ownCode | imageTool, cost: 0.01,
		lives:   map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.95, CauseDataSpike: 0.9},
		when:    func(f *failure) bool { return f.meshes() },
		reach:   always(1),
		variant: func(f *failure) string { return "mesh" },
		do:      func(f *failure) []string { return []string{f.comment("do.coarser_mesh"), f.comment("do.mesh_version")} }},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: training | undecided, cost: 0.03,
		lives: map[string]float64{CauseDataSpike: 0.98, CauseTooBig: 0.75, CauseUnknown: 0.62, CauseLeak: 0.45},
		when: func(f *failure) bool {
			return f.differInLength() && !f.numbers() && (f.toldLate() || f.told(sampler.ToldGrowth) && f.oneSample()) && !f.told(sampler.ToldTried+"length")
		},
		reach:   always(1),
		variant: func(f *failure) string { return "told" },
		do: func(f *failure) []string {
			return []string{f.sampleAlone(), f.comment("do.bucket")}
		}},
	{id: FixCapSampleSize, source: "https://mmdetection.readthedocs.io/en/latest/notes/faq.html",
		kinds: training | undecided, cost: 0.03,
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseUnknown: 0.5, CauseLeak: 0.3},
		when:    func(f *failure) bool { return f.objectsDiffer() },
		reach:   always(1),
		variant: func(f *failure) string { return "objects" },
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_objects"), f.comment("do.log_size")}
		}},
}

// besideLlama: PyTorch's own tensors fill the GPU of a program that runs its language model with llama.cpp, which has none.
func (f *facts) besideLlama() bool {
	return f.program.kind&(training|server) == 0 && (f.context.Server == "llama.cpp" || f.context.Server == "ollama") && f.event.Framework == "pytorch" && f.allocated.Or(0) > f.total.Or(0)/2 && f.total.Known() && !f.onHost()
}

// runsWithout is the option without which it is said to run; "" for none.
func (f *facts) runsWithout() string {
	for _, what := range f.context.Told {
		if option, is := strings.CutPrefix(what, sampler.ToldWithout); is {
			return sampler.Clean(option)
		}
	}
	return ""
}

// sourceOrphans is what PyTorch says of memory that is not freed when Python has quit: its subprocesses are alive. That fuser shows a holder
// which nvidia-smi does not list: https://github.com/apache/mxnet/issues/17837
const sourceOrphans = "https://docs.pytorch.org/docs/stable/notes/faq.html#my-gpu-memory-isn-t-freed-properly"

// deadHolds: a process was ended, and what it held of the GPU is not given back, as is said; amounts do not say otherwise.
func (f *failure) deadHolds() bool {
	return f.told(sampler.ToldDead) && !f.onHost() && (!f.numbers() || f.othersMatter())
}

// everyHolder shows who has a GPU open, whatever nvidia-smi lists.
func (f *failure) everyHolder() string {
	if f.linux() || f.atHand() {
		return "sudo fuser -v /dev/nvidia*  " + f.comment("do.every_holder")
	}
	return f.comment("do.say.every_holder")
}

// refusedScratch: what was refused is the memory that Faiss sets aside for its searches, which each object of resources takes anew.
func (f *facts) refusedScratch() bool {
	return f.event.Framework == "faiss" && !f.onHost() && (indexOf(f.event.Text, "StackDeviceMemory") >= 0 || indexOf(f.event.Text, "TemporaryMemoryBuffer") >= 0)
}

// noCuDNN: cuDNN could not be loaded, and no amount was refused.
func (f *facts) noCuDNN() bool {
	return f.told(sampler.ToldNoCuDNN) && !f.requested.Known() && !f.onHost() && !f.masked()
}

// meshes: a mesh is taken from a grid of values; no equations are solved on one.
func (f *failure) meshes() bool {
	_, works := f.work()
	return f.told(sampler.ToldMesh) && !works && !f.onHost() && !f.inBackward() && !f.numbers()
}

// otherVersion is for a job that runs elsewhere, so that its size alone is not why it fails here.
func otherVersion(told, variant string) fixRow {
	return fixRow{id: FixOtherVersion, source: "https://docs.pytorch.org/docs/stable/generated/torch.utils.collect_env.html",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.8, CauseFragmentation: 0.8, CauseDataSpike: 0.7, CauseLeak: 0.6, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			smallest := told == sampler.ToldElsewhere && f.told(sampler.ToldTiny) // and the other makes larger ones
			return f.told(told) && (told == sampler.ToldMachines || smallest || !f.numbers()) && !f.onHost() && f.history == nil && !f.othersMatter()
		},
		reach:   always(1),
		variant: func(f *failure) string { return variant },
		do: func(f *failure) []string {
			list := []string{f.comment("do.other_version." + variant), f.comment("do.what_changed")}
			if told == sampler.ToldMachines && f.torchCode() {
				list[1] = "python -m torch.utils.collect_env  " + f.comment("do.on_both")
			}
			return list
		}}
}

// placesPoints: an extension in CUDA measures how far the points of a scene lie apart, before the first gaussian is made. That takes bytes for each point,
// so that a GPU lacks room for it with millions of points or with others on it; else the extension is built for another CUDA.
func (f *failure) placesPoints() bool {
	return f.splats() && f.inFunction("create_from_pcd")
}

// firstOnGPU: it came as a model went to the GPU that is not said to be large, or not even then, so that little was free before.
func (f *failure) firstOnGPU() bool {
	if f.onHost() || f.numbers() || f.history != nil || f.aloneOnGPU() || f.refusedThoughFree() || f.told(sampler.ToldUpdate) || f.told(sampler.ToldModels) || f.told(sampler.ToldAsksGPU) || f.loadsOnGPU() || f.toldCheckpoint() || f.inFunction("default_restore_location") || f.program.is(inference|evaluation) {
		return false
	}
	if weights := f.namedWeights(); f.isServing() {
		return f.loadingWeights() && weights > 0 && (weights < partOf(f.saidTotal(), 0.6) || f.saidTotal() == 0 && f.told(sampler.ToldOtherGPUs))
	}
	for _, what := range f.context.Told {
		if what == sampler.ToldBillions || what == sampler.ToldText || what == sampler.ToldLargePainter || strings.HasPrefix(what, sampler.ToldWeights) || strings.HasPrefix(what, sampler.ToldModelSize) {
			return false
		}
	}
	return f.class.class == classNoNumbers && f.phase() == sampler.PhaseLoading && f.torchCode() && f.program.name == "" || f.told(sampler.ToldNotLoaded) && !f.toldLate() && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldEpochs) && !f.late() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
}

// noHandle: cuBLAS found no room to begin with, in an example as its authors give it. It takes megabytes, whatever the input: the GPU was full before.
func (f *failure) noHandle() bool {
	return f.event.Kind == sampler.KindCuBLAS && f.told(sampler.ToldExample) && strings.Contains(f.event.Text, "cublasCreate") && !f.numbers() && f.history == nil && !f.program.is(training)
}
