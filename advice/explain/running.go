package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// nothingElseTold: a post without a figure or a traceback tells no more than that a smaller batch did not help.
func (f *failure) nothingElseTold() bool {
	return !f.numbers() && f.told(sampler.ToldShort) && f.history == nil && len(f.context.Functions) == 0 && !f.usesLoRA() && !f.told(sampler.ToldText)
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
	sound := f.domain() == sampler.DomainAudio && f.program.is(undecided) && !f.numbers() // a recording is worked on as it is
	return !f.told(sampler.ToldBatch) && f.batch() == 0 && (f.told(sampler.ToldPixels) || sound || f.native() || large || f.event.Kind == sampler.KindCUDAAsync)
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

// codeShown: a frame, a script, a command or code tells that there are lines in which gradients can be turned off. Who shows none may run anything, also what makes a
// picture by following gradients.
func (f *failure) codeShown() bool {
	return len(f.context.Functions) > 0 || len(f.context.Files) > 0 || len(f.context.Scripts) > 0 || len(f.context.Code) > 0 || f.command.Known
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
func (f *failure) oneSample() bool {
	return f.batch() == 1 || f.told(sampler.ToldTried+"batch") || f.told(sampler.ToldLeastBatch)
}

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
	return f.reported() && f.program.is(training) && !f.program.is(running) && f.phase() == sampler.PhaseLoading && f.isPyTorch() && !f.movesModel()
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

// answers are names of scripts that answer requests to a language model, after the interface that they offer.
var answers = sampler.Pattern{Source: `(?i)openai_?api|(?:^|[/_])api_server\b|(?:^|[/_])(?:fast)?chat_?(?:api|server)\b|(?:^|[/_])(?:llm|vllm|glm\w*|chatglm\w*)_(?:api|server)\b|model_worker\.py`}

// answersOthers: a language model answers requests, in a script whose name says so. Such a script keeps no gradients, and has as many tokens in
// memory as its settings let a request have.
func (f *facts) answersOthers() bool {
	return f.program.name == "" && f.program.is(evaluation|inference) && slices.ContainsFunc(f.context.Scripts, answers.Get().MatchString)
}

// makesVideo: what comes out is a video, so that a prompt is a line, and no context of a language model, whatever size the model has.
func (f *facts) makesVideo() bool {
	return f.told(sampler.ToldImages) && f.domain() == sampler.DomainVideo && len(f.context.Functions) == 0
}

// keepsFrames: the program has all frames of a video on the GPU, and a setting by which they wait in RAM that is not in force.
func (f *failure) keepsFrames() bool {
	return f.tool != nil && f.domain() == sampler.DomainVideo && slices.ContainsFunc(f.ownLevers(FixOffloadModel, 1), func(l tools.Lever) bool { return l.By == "frames_ram" })
}

// generatesText: a language model was writing; memory follows the length of its context.
func (f *failure) generatesText() bool {
	if f.hearsSpeech() || f.told(sampler.ToldEmbeds) || f.keepsFrames() {
		return false
	}
	return f.program.name == "lm_eval" || f.answersOthers() || f.told(sampler.ToldText) || !f.convolves() && (f.inCode("past_key_value", "layer_past", "lm_head", "scaled_dot_product", "attn_weights", "input_ids") || f.inFunction("generate", "_sample", "greedy_search", "beam_search", "chat") ||
		f.command.HasPlain("max_new_tokens", "prompt_length"))
}

// fullPrecisionOption is an option of the command that asks for 32 bits, where 16 usually do.
// A GTX 16 makes black pictures in half precision, so there it stays
// (https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Troubleshooting).
func (f *failure) fullPrecisionOption() string {
	if f.program.is(imageTool) && strings.Contains(strings.ToLower(f.gpu.name), "gtx 16") {
		return ""
	}
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

// takesSomeModels: the command has the weaker of two options for models that wait in RAM, so that the stronger one is the next step, with which the
// picture stays as it is.
func (f *failure) takesSomeModels() bool {
	_, ok := f.command.WithFlagFor("--medvram", "--lowvram")
	return ok && f.program.name == "webui"
}

// makesPictures: it is one of the scripts of the latent diffusion code, not another that uses its modules.
func (f *failure) makesPictures() bool { return byScript(&f.job).name == "ldm" }

// offloadOptions are options of programs by which parts of the model wait in RAM.
var offloadOptions = []string{"offload_model", "t5_cpu", "cpu_offload", "enable_model_cpu_offload", "enable_sequential_cpu_offload", "offload_to_cpu", "blocks_to_swap"}

// offloads: parts of the model wait in RAM already.
func (f *failure) offloads() bool {
	on, known := f.command.SwitchedOn(offloadOptions...)
	return known && on || slices.ContainsFunc(f.context.Told, func(what string) bool {
		set, is := strings.CutPrefix(what, sampler.ToldInForce)
		return is && slices.ContainsFunc(offloadOptions, func(o string) bool {
			return strings.HasPrefix(strings.ReplaceAll(strings.TrimLeft(set, "-"), "-", "_"), o)
		})
	})
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
	if f.offloads() {
		return false
	}
	return f.isPyTorch() || f.program.is(imageTool) && f.event.Framework != "tensorflow" && f.event.Framework != "jax" || f.event.Kind == sampler.KindOtherGPU
}
