package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// fixesInference are for own code that runs a model and does not train it.
var fixesInference = []fixRow{
	{id: FixLoadOnCPU, source: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.85, CauseOtherProcess: 0.3, CauseImbalance: 0.5, CauseUnknown: 0.65, CauseLeak: 0.3},
		when: func(f *failure) bool {
			return !f.onHost() && (f.loadsOnGPU() || f.saysItResumes() || f.toldCheckpoint() || f.ranksLoad())
		},
		do: func(f *failure) []string {
			return []string{`checkpoint = torch.load(path, map_location="cpu")  ` + f.comment("do.load_then_free"), "model.load_state_dict(checkpoint[\"model\"]); del checkpoint"}
		}},
	{id: FixNoGradInference, source: "https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",
		kinds: evaluation | inference, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.78, CauseDataSpike: 0.7, CauseLeak: 0.6, CauseFragmentation: 0.7, CauseValidationSpike: 0.7, CauseUnknown: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && f.isPyTorch() && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseValidation && !f.graphOff() && !f.refusedThoughFree() && !f.graphUnsaid()
		},
		reach: func(f *failure) float64 {
			if f.total.Known() && f.requested.Or(0) > f.total.Or(0) {
				return 0.1
			}
			if !f.ownForward() {
				return 0.5 // tools keep none
			}
			if f.servedWell() {
				return 0.6 // a graph would have been too much for the first request
			}
			if f.bigRequest() && f.allocated.Known() && f.allocated.Or(0) < partOf(f.total.Or(0), 0.65) || f.total.Known() && f.requested.Or(0) > f.total.Or(0)/2 {
				return 0.75 // a graph fills the GPU layer by layer; here one tensor found it half empty, or is half of it
			}
			return 0.95
		},
		do: doNoGrad},
	{id: FixNoGradInference, source: "https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",
		kinds: evaluation | inference, cost: 0,
		lives:   map[string]float64{CauseLeak: 0.95, CauseUnknown: 0.65, CauseTooBig: 0.6},
		when:    func(f *failure) bool { return f.keptFromFirst() },
		reach:   always(1),
		variant: func(f *failure) string { return "kept" },
		do: func(f *failure) []string {
			return append(doNoGrad(f), "scores = scores.detach()  "+f.comment("do.kept"))
		}},
	{id: FixHalfPrecision, source: "https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Command-Line-Arguments-and-Settings",
		kinds: evaluation | inference | imageTool, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.92, CauseDataSpike: 0.85, CauseFragmentation: 0.7, CauseUnknown: 0.65, CauseOversubscribed: 0.85},
		when:    func(f *failure) bool { return !f.onHost() && f.fullPrecisionOption() != "" },
		reach:   always(1),
		variant: func(f *failure) string { return "option" },
		pairs:   func(f *failure) []any { return []any{"option", f.fullPrecisionOption()} },
		do: func(f *failure) []string {
			if text, ok := f.command.WithoutFlag(f.fullPrecisionOption()); ok {
				return []string{text}
			}
			return []string{f.comment("do.without_option", "option", f.fullPrecisionOption())}
		}},
	{id: FixHalfPrecision, source: "https://huggingface.co/docs/transformers/perf_infer_gpu_one",
		kinds: evaluation | inference, cost: 0.04,
		lives: map[string]float64{CauseTooBig: 0.75, CauseDataSpike: 0.6, CauseUnknown: 0.45, CauseOversubscribed: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && f.isPyTorch() && !f.refusedThoughFree() && f.fullPrecisionOption() == "" && !f.halfPrecision()
		},
		reach: func(f *failure) float64 {
			switch {
			case f.loadsOnGPU():
				return 0.7 // the checkpoint is there as a second copy until it is loaded elsewhere
			case f.phase() == sampler.PhaseLoading:
				return 1
			}
			return 0.8
		},
		do: func(f *failure) []string {
			return []string{"model = model.half()  " + f.comment("do.half_inputs"), `from_pretrained(name, torch_dtype=torch.float16)  ` + f.comment("do.transformers")}
		}},
	{id: FixSmallerInput, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: evaluation | inference | imageTool | undecided, cost: 0.13,
		lives: map[string]float64{CauseTooBig: 0.9, CauseDataSpike: 0.95, CauseFragmentation: 0.8, CauseUnknown: 0.5, CauseOversubscribed: 0.7, CauseOtherProcess: 0.2, CauseValidationSpike: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving && f.phase() != sampler.PhaseValidation && !f.generatesText() && !f.refusedThoughFree() && (f.program.is(evaluation|inference|imageTool) || f.convolves())
		},
		reach: func(f *failure) float64 {
			if f.weightsFill() || f.nothingFreed() || f.pairwise() {
				return 0.4
			}
			if f.told(sampler.ToldTiny) && f.numbers() {
				return 0.55 // so many at once, then
			}
			if f.told(sampler.ToldAsksBatch) && !f.namesSize() {
				return 0.6 // there is a batch, and it can be set
			}
			return 0.95
		},
		variant: pictureVariant,
		do:      doSmallerInput},
	{id: FixSmallerInput, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: ownCode | imageTool, cost: 0.05, // nothing else makes one tensor of a picture smaller
		lives: map[string]float64{CauseTooBig: 0.98, CauseDataSpike: 0.97, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return f.impossible() && !f.hugeAttention() && !f.pairwise() && !f.program.is(training) && !f.generatesText() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseLoading && (f.convolves() || f.told(sampler.ToldPixels) || f.program.is(imageTool) || f.program.name == "alphafold")
		},
		reach:   always(1),
		variant: pictureVariant,
		do:      doSmallerInput},
	{id: FixSmallerInput, source: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseDataSpike: 0.9, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.splats() && f.impossible() },
		reach:   always(1),
		variant: func(f *failure) string { return "splats" },
		do:      doSmallerInput},
	{id: FixSmallerInput, source: "https://numpy.org/doc/stable/reference/generated/numpy.memmap.html",
		kinds: ownCode | imageTool, cost: 0.05,
		lives: map[string]float64{CauseHostMemory: 0.92},
		when: func(f *failure) bool {
			return f.class.class == classHost && !f.program.is(training) && f.requested.Or(0) >= sampler.GiB && f.torchCode() && !f.bigArray() && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving
		},
		reach: always(1), // one tensor was refused, and its size is that of what it was made from
		variant: func(f *failure) string {
			if f.program.is(imageTool) {
				return "" // its options are for the GPU
			}
			return pictureVariant(f)
		},
		do: func(f *failure) []string {
			if f.program.is(imageTool) {
				return f.lessInput()
			}
			return doSmallerInput(f)
		}},
	{id: FixSmallerInput, source: "https://docs.monai.io/en/stable/transforms.html",
		kinds: training | undecided, cost: 0.15,
		lives: map[string]float64{CauseTooBig: 0.92, CauseDataSpike: 0.9, CauseFragmentation: 0.8, CauseOversubscribed: 0.7, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return (f.oneSample() || f.sizeAlone()) && f.inTraining() && f.phase() != sampler.PhaseSaving && !f.onHost() && !f.refusedThoughFree() && !f.arrays() && (f.onPixels() || f.onlyMessage() || f.history == nil && f.numbers() && !f.someSteps() || f.reported() && len(f.command.Arguments()) == 0 || f.told(sampler.ToldPixels))
		},
		reach: func(f *failure) float64 {
			switch {
			case f.stateDominated():
				return 0.1
			case f.triedSize():
				return 0.75 // what is left is a model made otherwise
			case f.learnsPictures():
				return 0.6 // a model made for one size, of blocks that can be checkpointed
			}
			return 0.95
		},
		variant: func(f *failure) string {
			switch {
			case f.splats() && f.told(sampler.ToldLate):
				return "splats_late"
			case f.splats():
				return "splats"
			case f.program.is(undecided) && !(f.triedSize() && f.oneSample()):
				return pictureVariant(f)
			case f.domain() == sampler.DomainPictures || f.domain() == sampler.DomainVolumes || f.domain() == "" && (f.onPixels() || f.told(sampler.ToldPixels)):
				return "crop"
			case f.smallGPU() != nil:
				return "sample_gpu"
			}
			return "sample"
		},
		do: doSmallerInput},
	{id: FixSmallerInput, source: "https://docs.monai.io/en/stable/inferers.html",
		kinds: ownCode, cost: 0.1, // possible in training and in inference alike
		lives: map[string]float64{CauseTooBig: 0.9, CauseDataSpike: 0.95, CauseFragmentation: 0.8, CauseUnknown: 0.55},
		when: func(f *failure) bool {
			return f.program.is(undecided) && f.sizeDecides() && !f.onHost() && !f.refusedThoughFree() && f.phase() == ""
		},
		reach:   always(1),
		variant: pictureVariant,
		do:      doSmallerInput},
	{id: FixSmallerInput, source: "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.65},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindORT && !f.onHost() && !f.program.is(training)
		},
		reach: func(f *failure) float64 {
			if f.makesSession() {
				return 0.2 // no input had come yet
			}
			return 1
		},
		variant: func(f *failure) string { return "ort" },
		do: func(f *failure) []string {
			return []string{f.comment("do.ort_input"), f.comment("do.ort_arena") + "\n" + f.comment("do.ort_threads")}
		}},
	{id: FixSmallerInput, source: "https://docs.rapids.ai/api/dask-cudf/stable/",
		kinds: ownCode, cost: 0.02, // a table has no batch, and its parts can be worked on one after another
		lives:   map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.65},
		when:    func(f *failure) bool { return f.told(sampler.ToldTables) && !f.growsTrees() && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "tables" },
		do: func(f *failure) []string {
			read := `dask_cudf.read_csv(path, blocksize="256 MiB")`
			if f.shows(sampler.ShowsParquet) {
				read = `dask_cudf.read_parquet(path, columns=[…], blocksize="256 MiB")`
			}
			return []string{"client = Client(LocalCUDACluster(rmm_pool_size=0.8))  " + f.comment("do.cluster"), read + "  " + f.comment("do.parts")}
		}},
	{id: FixShortenContext, source: "https://huggingface.co/docs/transformers/kv_cache",
		kinds: evaluation | inference, cost: 0.1,
		lives: map[string]float64{CauseTooBig: 0.8, CauseDataSpike: 0.9, CauseFragmentation: 0.7, CauseUnknown: 0.4, CauseOversubscribed: 0.5},
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() != sampler.PhaseLoading && f.generatesText() && !f.refusedThoughFree()
		},
		do: func(f *failure) []string {
			half := func(v float64) float64 { return float64(int(v) / 2) }
			if text, name, ok := f.command.WithNumber(half, "max_new_tokens", "max_length", "max_seq_len", "max_tokens", "ctx_size", "context_length"); ok {
				return []string{text + "  " + f.comment("do.size_option", "name", name)}
			}
			return []string{f.comment("do.cut_prompt"), `model.generate(**inputs, max_new_tokens=256, cache_implementation="offloaded")`}
		}},
	{id: FixOffloadModel, source: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		kinds: evaluation | inference | imageTool, cost: 0.16,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.35, CauseOversubscribed: 0.8, CauseOtherProcess: 0.2, CauseDataSpike: 0.4},
		when:  func(f *failure) bool { return !f.onHost() && !f.refusedThoughFree() && f.offloadPossible() },
		reach: func(f *failure) float64 {
			if f.total.Known() && f.requested.Or(0) > f.total.Or(0) {
				return 0.1
			}
			if f.program.name == "comfyui" && f.bigRequest() {
				return 0.8 // it moves models out by itself; this is the picture
			}
			if f.program.is(inference|evaluation) && f.loadsLanguage() {
				return 0.75 // such a model is mostly loaded in 8 or 4 bits: from RAM it is very slow
			}
			if f.program.is(imageTool) || f.phase() == sampler.PhaseLoading || f.weightsFill() {
				return 1
			}
			return 0.7
		},
		variant: func(f *failure) string { return f.program.name },
		do:      doOffload},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/diffusers/quantization/overview",
		kinds: imageTool, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65, CauseOversubscribed: 0.9},
		when: func(f *failure) bool {
			return f.told(sampler.ToldLargePainter) && !f.onHost() && !f.bigRequest() && !f.decodesPicture() && !f.told(sampler.ToldSized) && !f.refusedThoughFree()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "painter" },
		do: func(f *failure) []string {
			return append([]string{f.comment("do.painter_bits")}, doOffload(f)...)
		}},
	{id: FixOffloadModel, source: "https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
		kinds: ownCode | imageTool, cost: 0.02, // it is asked for, so that slow is enough
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8, CauseOtherProcess: 0.6, CauseDataSpike: 0.9},
		when:    func(f *failure) bool { return f.told(sampler.ToldAsksCPU) && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "cpu" },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.cpu_option"), f.comment("do.cpu_hidden")}
			if f.program.name == "demucs" {
				lines = append([]string{"demucs -d cpu FILE"}, lines...)
			}
			return append(lines, f.smallGPU()...)
		}},
	{id: FixOffloadModel, source: "https://github.com/casper-hansen/AutoAWQ/issues/65",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.7},
		when: func(f *failure) bool {
			return f.told(sampler.ToldQuantizing) && !f.onHost() && !f.refusedThoughFree() && f.torchCode()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "quantize" },
		do: func(f *failure) []string {
			return []string{`from_pretrained(name, quantize_config, low_cpu_mem_usage=True, max_memory={0: "6GiB", "cpu": "60GiB"})`, f.comment("do.ready_made")}
		}},
	{id: FixOffloadModel, source: "https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Optimizations",
		kinds: imageTool, cost: 0.06, // an option at the start; the picture stays as it is
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.5, CauseFragmentation: 0.6, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return !f.onHost() && !f.refusedThoughFree() && f.offloadPossible() && !f.impossible() && !f.decodesPicture() && (f.program.name == "webui" || f.program.name == "easydiffusion") && f.smallCard()
		},
		reach:   always(0.95),
		variant: func(f *failure) string { return f.program.name },
		do:      doOffload},
}

// sizeDecides: nothing speaks of a batch, and it works on pictures, calls CUDA itself, has the allocator of ComfyUI or asks for a sixth of the GPU
// at once. Of public threads with such a text the size of the input was what helped five times as often as a batch.
func (f *failure) sizeDecides() bool {
	if f.told(sampler.ToldPixels) && (f.namesSize() || f.told(sampler.ToldLarger)) {
		return true
	}
	large := f.total.Known() && f.requested.Or(0) > f.total.Or(0)/6 && f.requested.Or(0) > f.unallocated.Or(0) // else it may fit packed
	if f.told(sampler.ToldPixels) && f.told(sampler.ToldSmallGPU) {
		return true // nothing is trained there, and what is run takes a picture or a pair at once, whatever else is asked about
	}
	return !f.told(sampler.ToldBatch) && f.batch() == 0 && (f.told(sampler.ToldPixels) || f.native() || large || f.event.Kind == sampler.KindCUDAAsync)
}

// namesSize: pictures or videos of a given size are what it works on, so that size decides, whatever is asked for.
func (f *failure) namesSize() bool { return f.told(sampler.ToldSized) }

// ownForward: the text shows whose forward pass it was, or a script with an error of the years in which the graph
// was often forgotten. Who says no more than that he runs a model or a script mostly does so with what others published.
func (f *failure) ownForward() bool {
	return len(f.context.Functions) > 0 || f.saysCached() && (f.command.Known || len(f.context.Scripts) > 0 || f.told(sampler.ToldInference))
}

// graphUnsaid: own code runs a model of PyTorch, and nothing tells whether it keeps gradients. To turn them off
// costs nothing, so it is done together with what makes the input smaller.
func (f *failure) graphUnsaid() bool {
	return f.has(aGraph) && f.program.is(evaluation|inference) && f.program.name == "" && !f.only() && (f.isPyTorch() || f.reported() && f.event.Framework == "") && !f.graphOff() && !f.onHost() && !f.impossible() &&
		f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving && !f.generatesText() && !f.hearsSpeech() && !f.told(sampler.ToldTried+"no_grad")
}

// graphMayFill: own code ran a model until its tensors filled the GPU, and nothing tells whether it kept gradients. A graph
// fills it layer by layer; what generates with a cache of keys and values keeps none. Of public threads with such a text one in two was cured by turning gradients off.
func (f *failure) graphMayFill() bool {
	full := 0.8
	if f.told(sampler.ToldLate) {
		full = 0.6 // many inputs had gone through, so none of them needs the rest
	}
	return f.graphUnsaid() && f.ownForward() && !f.itemsPassed() && !f.told(sampler.ToldLarger) && f.numbers() && f.history == nil && f.allocated.Or(0) > partOf(f.total.Or(0), full) && f.requested.Or(0) < f.total.Or(0)/3 && !f.inCode("k_cache", "kv_cache", "past_key")
}

// oneSample: one sample at a time is too much, or fewer of them did not help.
func (f *failure) oneSample() bool { return f.batch() == 1 || f.told(sampler.ToldTried+"batch") }

// weightsFill: without a graph only weights stay, and the refused request is next to nothing beside
// them (own threshold: 2 %).
func (f *failure) weightsFill() bool {
	return f.program.is(running) && f.graphOff() && f.allocated.Known() && f.requested.Or(0) < partOf(f.allocated.Or(0), 0.02)
}

// loadsOnGPU: a checkpoint is read straight to the GPU, as torch.load does without map_location.
func (f *failure) loadsOnGPU() bool {
	return (f.inCode("torch.load(", "th.load(") || f.inFunction("default_restore_location", "_cuda_deserialize", "restore_location", "cuda_deserialize")) && !f.inCode(`map_location="cpu"`, "map_location='cpu'")
}

// saysItResumes: a training that ran before dies when it is resumed, as its author says.
func (f *failure) saysItResumes() bool {
	return f.reported() && f.program.is(training) && !f.program.is(running) && f.phase() == sampler.PhaseLoading && f.isPyTorch()
}

// convolves: the traceback ends in a convolution or a resize, so memory follows the pixels.
func (f *failure) convolves() bool {
	return f.inCode("conv2d", "conv3d", "conv_transpose", "interpolate(", "upsample", "grid_sample") || f.inFunction("conv", "upsample", "vae", "decode_first_stage", "interpolate")
}

// pixelOptions are options for the size of a picture.
var pixelOptions = []string{"imgsz", "img_size", "image_size", "resolution", "input_size", "crop_size", "tile", "tile_size", "load_size", "fine_size", "patch_size"}

// sizeAlone: the command names the size of a picture and no batch, so the size is what its user sets.
func (f *failure) sizeAlone() bool {
	_, _, batch := f.command.BatchArgument()
	return !batch && f.batch() == 0 && (f.command.HasPlain(pixelOptions...) || f.command.HasPlain("w") && f.command.HasPlain("h"))
}

// onPixels: the network works on pictures or volumes, whose crop is a setting of the training.
func (f *failure) onPixels() bool {
	return f.convolves() || f.onePicture() || f.sizeAlone() || f.splats() || f.command.HasPlain(pixelOptions...) || f.inFile("unet", "swin", "resnet", "rcnn", "yolo", "vgg", "hrnet", "deeplab", "detectors/", "segmentors/")
}

// learnsPictures: a model that makes pictures is trained.
func (f *failure) learnsPictures() bool {
	return f.inFile("diffusers", "ldm/", "sd-scripts", "dreambooth") || slices.ContainsFunc(slices.Concat(f.command.Scripts(), f.context.Scripts), func(s string) bool {
		return strings.Contains(s, "dreambooth") || strings.Contains(s, "text_to_image") || strings.Contains(s, "sdxl")
	})
}

// onlyMessage: neither a command nor a traceback tells what kind of model it is.
func (f *failure) onlyMessage() bool { return !f.command.Known && len(f.context.Functions) == 0 }

// hearsSpeech: it writes down what is said, so memory follows the length of the recording.
func (f *facts) hearsSpeech() bool {
	return f.program.name == "whisper" || f.told(sampler.ToldTranscribes) && f.program.is(inference|undecided) || f.inFile("automatic_speech_recognition", "asr_inference", "speecht5", "wav2vec", "modeling_whisper")
}

// generatesText: a language model was writing; memory follows the length of its context.
func (f *failure) generatesText() bool {
	if f.hearsSpeech() {
		return false
	}
	return f.program.name == "lm_eval" || f.told(sampler.ToldText) || !f.convolves() && (f.inCode("past_key_value", "layer_past", "lm_head", "scaled_dot_product", "attn_weights", "input_ids") || f.inFunction("generate", "_sample", "greedy_search", "beam_search", "chat") ||
		f.command.HasPlain("max_new_tokens", "prompt_length"))
}

// fullPrecisionOption is an option of the command that asks for 32 bits, where 16 usually do.
func (f *failure) fullPrecisionOption() string {
	for _, w := range f.command.Words() {
		switch w {
		case "--no-half", "--force-fp32", "--fp32", "--precision=full", "--full-precision":
			return w
		}
	}
	for _, what := range f.context.Told {
		if option, is := strings.CutPrefix(what, sampler.ToldOption); is {
			return option
		}
	}
	return ""
}

// smallCard: one of those for which the web UI recommends its options.
func (f *failure) smallCard() bool {
	return f.total.Known() && f.total.Or(0) <= 8*sampler.GiB
}

func (f *failure) offloadPossible() bool {
	if slices.Contains([]string{"ldm", "upscaler", "whisper"}, f.program.name) || f.event.Kind == sampler.KindMPS {
		return false // these have no such option, and Apple's GPU has no memory but that of the machine
	}
	for _, w := range f.command.Words() {
		if strings.HasPrefix(w, "--lowvram") || w == "--novram" {
			return false
		}
	}
	return f.isPyTorch() || f.program.is(imageTool) && f.event.Framework != "tensorflow" && f.event.Framework != "jax" || f.event.Kind == sampler.KindOtherGPU
}
