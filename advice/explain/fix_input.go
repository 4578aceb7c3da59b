package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

func doSmallerInput(f *failure) []string {
	switch f.program.name {
	case "comfyui":
		if f.told(sampler.ToldReadsPicture) {
			return []string{f.comment("do.resized_before"), f.comment("do.resolution_of_node")}
		}
		return slices.Concat([]string{f.comment("do.comfy_size")}, f.lessOfModels(), []string{f.comment("do.comfy_tiled")})
	case "webui", "forge":
		if less := f.lessOfModels(); f.takesSomeModels() && len(less) > 0 {
			return slices.Concat(less[:1], []string{f.comment("do.webui_size")}, less[1:], []string{f.comment("do.webui_tiled")})
		}
		return slices.Concat([]string{f.comment("do.webui_size")}, f.lessOfModels(), []string{f.comment("do.webui_tiled")})
	case "alphafold":
		if f.foldsInTorch() && f.told(sampler.ToldTried+"chunks") {
			return []string{f.comment("do.domains"), f.comment("do.fold_elsewhere")}
		}
		if f.foldsInTorch() && !f.isPyTorch() { // by its name, and not each of them has an option for chunks
			return []string{f.comment("do.domains"), f.comment("do.say.chunks"), f.comment("do.fold_elsewhere")}
		}
		if f.isPyTorch() {
			return []string{"--chunk_size 4  " + f.comment("do.chunk_attention"), f.comment("do.domains"), f.comment("do.fold_elsewhere")}
		}
		if f.told(sampler.ToldUnified) && !f.lowShare() && !f.triedShare() {
			return []string{"export XLA_PYTHON_CLIENT_MEM_FRACTION=10.0  " + f.comment("do.unified_more"), f.comment("do.domains")}
		}
		if f.told(sampler.ToldUnified) && f.lowShare() {
			return []string{"export XLA_PYTHON_CLIENT_MEM_FRACTION=4.0  " + f.comment("do.unified_share"), f.comment("do.domains")}
		}
		if f.triedShare() {
			return []string{f.comment("do.domains")}
		}
		return []string{f.comment("do.domains"), "export TF_FORCE_UNIFIED_MEMORY=1 XLA_PYTHON_CLIENT_MEM_FRACTION=4.0  " + f.comment("do.unified")}
	}
	if f.decodesPicture() {
		return []string{"pipe.enable_vae_tiling()  " + f.comment("do.diffusers"), "pipe.enable_vae_slicing()  " + f.comment("do.one_by_one"), f.comment("do.fewer_frames")}
	}
	if text := f.withTiles(); text != "" {
		return []string{text}
	}
	if f.program.name == "ldm" && f.makesPictures() {
		return doSmallerPicture(f)
	}
	half := func(v float64) float64 {
		if v >= 64 {
			return float64(int(v/2/32) * 32)
		}
		return v
	}
	names := append(slices.Clone(pixelOptions), "img", "size", "max_size", "max_seq_length", "max_length", "cutoff_len", "model_max_length", "seq_length", "block_size")
	if text, name, ok := f.command.WithLess(half, names...); ok {
		return []string{text + "  " + f.comment("do.size_option", "name", name)}
	}
	if f.splats() {
		lines := []string{f.comment("do.fewer_gaussians"), f.comment("do.smaller_views")}
		if f.oversubscribed() || !f.told(sampler.ToldInria) && f.tool == nil && len(f.context.Functions) == 0 { // with more than gaussians, or a scene of photos without a word of them
			lines = []string{f.comment("do.fewer_views"), f.comment("do.or_that", "what", f.words.Say("do.fewer_gaussians"))}
		}
		if f.told(sampler.ToldInria) {
			lines = append(lines, "python train.py -s DATA --resolution 2 --data_device cpu")
		}
		return lines
	}
	if f.program.name == "demucs" {
		return doDemucs(f)
	}
	if f.inTraining() && f.onPixels() && f.program.is(training) && !f.triedSize() {
		return []string{f.comment("do.crop")}
	}
	if f.inTraining() && (f.oneSample() || f.program.is(training) && f.onPixels()) {
		first := f.sampleAlone()
		if f.told(sampler.ToldInstances) {
			first = f.comment("do.fewer_instances")
		}
		if f.triedSize() {
			return f.batchToOne([]string{f.comment("do.smaller_variant"), f.comment("do.size_once_more")})
		}
		return f.batchToOne([]string{first, f.comment("do.or_smaller_model")})
	}
	if f.hearsSpeech() {
		return []string{"asr(audio, chunk_length_s=30, batch_size=1)  " + f.comment("do.chunks"), f.comment("do.cut_audio")}
	}
	lines := f.lessInput()
	if f.told(sampler.ToldSliding) {
		lines = []string{`sliding_window_inference(…, sw_device="cuda", device="cpu")  ` + f.comment("do.stitch_on_cpu"), lines[0]}
	}
	if f.told(sampler.ToldPastes) {
		lines = append([]string{f.comment("do.paste_on_cpu")}, lines...)
	}
	if f.inTraining() && f.onPixels() {
		lines = append(lines, f.comment("do.or_crop"))
	}
	if f.graphUnsaid() {
		if !f.told(sampler.ToldSliding) {
			lines = []string{lines[0] + f.words.Say("do.results_to_cpu")}
		}
		if f.codeShown() {
			lines = append(doNoGrad(f), lines...)
		} else {
			lines = append(lines, f.comment("do.say.no_grad_too"))
		}
	}
	if f.told(sampler.ToldCPU) && !f.onHost() {
		lines = append(f.lastResort(), lines...)
	}
	if !f.oneSample() {
		lines = append(lines, f.comment("do.input_fewer"))
	} else {
		lines = f.batchToOne(lines)
	}
	if small := f.smallGPU(); small != nil {
		if !f.graphUnsaid() {
			lines = lines[:1] // a larger GPU is likelier to be what is left
		}
		lines = append(lines, small...)
	} else if !f.told(sampler.ToldCPU) {
		lines = append(lines, f.lastResort()...)
	}
	if d := f.domain(); f.impossible() && f.isPyTorch() && !f.program.is(training|imageTool) && !f.convolves() && (d == sampler.DomainPictures || d == sampler.DomainVideo) {
		lines = withLine(lines, f.comment("do.or_that", "what", f.words.Say("do.say.attention"))) // every pixel with every other
	}
	if f.program.is(imageTool) && f.isPyTorch() && f.bigRequest() {
		lines = append(lines, "pipe.enable_attention_slicing()  "+f.comment("do.attention"))
	}
	return lines
}

// fixesMoved are for data, or a model, that is brought to the GPU as a whole.
var fixesMoved = []fixRow{
	{id: FixOffloadModel, source: sourceOffload,
		kinds: ownCode | imageTool, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9, CauseOtherProcess: 0.5},
		when:    func(f *failure) bool { return f.movedFirst() },
		reach:   always(1),
		variant: func(f *failure) string { return "moved_first" },
		do: func(f *failure) []string {
			return []string{f.comment("do.no_cuda_first"), "pipe.enable_vae_tiling()", "pipe.enable_sequential_cpu_offload()  " + f.comment("do.each_layer")}
		}},
	{id: FixSmallerInput, source: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		kinds: ownCode, cost: 0, // they are read from RAM in each step
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.85, CauseDataSpike: 0.8, CauseOtherProcess: 0.3},
		when:    func(f *failure) bool { return f.loadsViews() && !f.told(sampler.ToldInForce+"--data_device cpu") },
		reach:   always(1),
		variant: func(f *failure) string { return "views" },
		do: func(f *failure) []string {
			if text, ok := f.command.WithOption("--data_device", "cpu"); ok && !strings.Contains(f.command.Text, "--data_device") {
				return []string{text, f.comment("do.fewer_views")}
			}
			return []string{"--data_device cpu  # " + f.words.Say("lever.pictures"), f.comment("do.fewer_views")}
		}},
	{id: FixSmallerInput, source: "https://www.tensorflow.org/api_docs/python/tf/keras/Model#evaluate",
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8, CauseValidationSpike: 0.97},
		when:    func(f *failure) bool { return f.wholeSet() > 0 },
		reach:   always(1),
		variant: func(f *failure) string { return "whole_set" },
		pairs:   func(f *failure) []any { return []any{"count", f.wholeSet()} },
		do:      func(f *failure) []string { return []string{f.comment("do.whole_set")} }},
	{id: FixSmallerInput, source: "https://docs.pytorch.org/docs/stable/data.html",
		kinds: ownCode, cost: 0.02, // the loop over it is there
		lives:   map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.6, CauseDataSpike: 0.9, CauseFragmentation: 0.85, CauseOversubscribed: 0.8},
		when:    func(f *failure) bool { return f.movesAll() && f.torchCode() && !f.onHost() && !f.refusedThoughFree() },
		reach:   always(1),
		variant: func(f *failure) string { return "moved" },
		do: func(f *failure) []string {
			return []string{"x = data[i:i + n].to(device)  " + f.comment("do.move_slice"), f.comment("do.moved_less")}
		}},
}

// loadsViews: the pictures of a scene were being brought to the GPU, in the program that was published first for gaussians or one made from it. None is
// fitted yet, so that none can be too many.
func (f *facts) loadsViews() bool {
	return f.told(sampler.ToldInria) && f.inFunction("loadcam", "cameralist_from_caminfos", "load_cam") && !f.onHost()
}

// lowShare: the share of the GPU that JAX may take is set below one.
func (f *failure) lowShare() bool {
	return slices.ContainsFunc(f.numbersInForce("XLA_PYTHON_CLIENT_MEM_FRACTION"), func(share float64) bool { return share < 1 })
}

// wholeSet is how many samples went through at once where the batch is one: a test or validation set as a whole (own threshold: 256); else 0.
func (f *failure) wholeSet() int {
	shape, _ := f.event.Extra["shape"].([]int)
	if len(shape) < 2 || shape[0] < 256 || !f.told(sampler.ToldOne) || f.onHost() || f.event.Kind != sampler.KindTensorFlow {
		return 0
	}
	return shape[0]
}

// batchToOne goes on with a batch that was made smaller in vain, where no text says that it was made one. A library that has several
// batches names its own: whoever wrote may not know them.
func (f *failure) batchToOne(list []string) []string {
	if f.batch() > 0 || !f.told(sampler.ToldTried+"batch") || f.told(sampler.ToldAnyBatch) || f.told(sampler.ToldOne) || f.impossible() {
		return list
	}
	own := []string{f.comment("do.batch_to_one")}
	if f.tool != nil && f.tool.Library {
		batches := slices.DeleteFunc(slices.Clone(f.levers()), func(l tools.Lever) bool { return l.Of != tools.Batch })
		if len(batches) > 1 {
			own = own[:0]
			for _, l := range batches {
				l, _ = belowBatch(l, f.triedBatch())
				own = append(own, l.Type+"  # "+f.words.Say("lever."+l.By))
			}
		}
	}
	return append(own, list...)
}

// lessOfModels is the option of a tool for pictures that keeps models in RAM, where it was not tried: of public threads with
// no more than the error it was what helped in three of seven, and the size of the picture in one.
func (f *failure) lessOfModels() []string {
	if f.told(sampler.ToldTried+"offload") || !f.offloadPossible() || f.impossible() {
		return nil
	}
	return doOffload(f)
}

// foldsInTorch: what folds proteins there is not made with JAX, by its message or its name.
func (f *failure) foldsInTorch() bool {
	return f.isPyTorch() || f.told(sampler.ToldTorchFolds) && f.library() == ""
}

// pictureVariant names what is made smaller as the program calls it.
func pictureVariant(f *failure) string {
	switch {
	case f.told(sampler.ToldReadsPicture) && f.program.name == "comfyui":
		return "" // nothing is decoded
	case f.graphUnsaid() && f.codeShown() && f.oneSample():
		return "graph_one"
	case f.graphUnsaid() && f.codeShown():
		return "graph"
	case f.program.name == "" && !f.oneSample() && !f.impossible():
		return "batch"
	case f.program.name == "alphafold" && f.told(sampler.ToldUnified) && (f.lowShare() || !f.triedShare()):
		return "alphafold_more"
	case f.program.name == "alphafold" && f.isPyTorch() && !f.told(sampler.ToldTried+"chunks"):
		return "chunks"
	case f.program.name == "alphafold" && f.foldsInTorch():
		return "fold_elsewhere" // no variable of XLA lets RAM hold a part of it
	case f.program.name == "forge":
		return "webui" // it is made from that
	case f.decodesPicture() && f.program.name != "comfyui" && f.program.name != "webui":
		return "decoding"
	case f.program.name == "ldm" && !f.makesPictures(), f.program.name == "alphafold" && f.triedShare():
		return ""
	}
	return f.program.name
}

// decodesPicture: it is the step from the latent picture to the pixels.
func (f *failure) decodesPicture() bool {
	return f.program.is(imageTool) && (f.told(sampler.ToldDecoding) || f.inDecoder())
}

// inDecoder: it died in the VAE, which puts the whole picture or video through its layers at full size.
func (f *facts) inDecoder() bool {
	return f.inFunction("vae_decode", "decode_first_stage", "decode_latents", "tiled_decode") || f.inFunction("decode") && f.inFile("autoencoders/", "autoencoder_kl")
}

// decodesFirst: as long as it was watched the process stood at one level, as it does while it samples, and then the decoder took it far beyond that. Nothing
// like it had fitted before.
func (f *facts) decodesFirst() bool {
	if !f.recorded() || f.onHost() || !f.program.is(running) || !f.inDecoder() && !f.inCode("vae.decode(", "first_stage_model.decode(") || !f.leapt() {
		return false
	}
	return slices.Max(f.history.Peaks).Less(Usual(f.history.Peaks)) <= partOf(f.total.Or(0), 0.02)
}

// doSmallerPicture is for the scripts of the latent diffusion code, which make several pictures at once.
func doSmallerPicture(f *failure) []string {
	scripts := slices.Concat(f.command.Scripts(), f.context.Scripts)
	if !slices.ContainsFunc(scripts, func(s string) bool { return strings.Contains(s, "txt2img") || strings.Contains(s, "knn2img") }) {
		return []string{"--n_samples 1  " + f.comment("do.one_picture"), f.comment("do.given_picture")}
	}
	text := f.command.Text
	if !f.command.Known {
		return []string{"--n_samples 1 --H 384 --W 384  " + f.comment("do.one_picture")}
	}
	for _, option := range []string{"--n_samples", "--H", "--W"} {
		most := float64(smallSide)
		if option == "--n_samples" {
			most = 1
		}
		if edited, ok := command.Parse(text).WithAtMost(option, most); ok {
			text = edited
		}
	}
	if n, set := f.inForce("n_samples"); set && n <= 1 {
		return []string{text}
	}
	return []string{text + "  " + f.comment("do.one_picture")}
}

// halfWeights: the weights of a script of the latent diffusion code are in 16 bits, which no option for its computation makes them.
func (f *failure) halfWeights() bool {
	return f.shows(sampler.ShowsFewBits, sampler.ShowsSixteenBits) || f.inCode(".half()") || slices.ContainsFunc(f.context.Scripts, func(name string) bool { return strings.Contains(name, "optimized") })
}

// smallSide is a side of a picture at which the latent diffusion code still makes pictures that show what was asked for (own threshold).
const smallSide = 384

// smallestPicture: one picture at a time is made, and no larger one than advice would name.
func (f *failure) smallestPicture() bool {
	if f.program.name != "ldm" || !f.makesPictures() {
		return false
	}
	least := func(option string, most float64) bool {
		n, known := f.inForce(option)
		return known && n <= most
	}
	return least("n_samples", 1) && least("h", smallSide) && least("w", smallSide)
}

// withTiles is the command of an upscaler with smaller tiles than it has; 0 are none. "" where it is no such command.
// https://github.com/xinntao/Real-ESRGAN/blob/master/README.md
func (f *failure) withTiles() string {
	if f.program.name != "upscaler" || !f.runsTool("esrgan") {
		return ""
	}
	const side = 256
	if text, _, ok := f.command.WithNumber(func(v float64) float64 {
		if v > 0 && v <= side {
			return float64(max(32, int(v/2)))
		}
		return side
	}, "tile", "t"); ok {
		return text
	}
	if f.command.HasPlain("tile", "t") {
		return ""
	}
	text, _ := f.command.WithOption("--tile", strconv.Itoa(side))
	return text
}

func doOffload(f *failure) []string {
	switch f.program.name {
	case "comfyui":
		if text, ok := f.command.WithOption("--lowvram", ""); ok && f.runsTool("main.py", "comfy") {
			return []string{text}
		}
		return []string{"python main.py --lowvram"}
	case "easydiffusion":
		return []string{f.comment("do.easy_memory"), f.comment("do.easy_update")}
	case "forge": // https://github.com/lllyasviel/stable-diffusion-webui-forge/discussions/1181
		return []string{f.comment("do.forge_weights"), f.comment("do.forge_api")}
	case "invokeai":
		if !f.shows(sampler.ShowsInvokePy) { // https://github.com/invoke-ai/InvokeAI/blob/main/docs/features/low-vram.md
			return []string{"enable_partial_loading: true  " + f.comment("do.invoke_partial")}
		}
		return []string{"python scripts/invoke.py --free_gpu_mem"}
	case "webui":
		if text, ok := f.command.WithFlagFor("--medvram", "--lowvram"); ok { // each of them decides how much waits in RAM
			return []string{text, "--opt-sdp-attention  " + f.comment("do.webui_args")}
		}
		if text, ok := f.command.WithOption("--medvram", ""); ok && f.runsTool("webui", "launch.py") {
			return []string{text, "--opt-sdp-attention  " + f.comment("do.webui_args")}
		}
		list := []string{"COMMANDLINE_ARGS=--medvram --opt-sdp-attention  " + f.comment("do.webui_args")}
		if f.total.Known() && f.total.Or(0) <= 4*sampler.GiB {
			list = append(list, "COMMANDLINE_ARGS=--lowvram --opt-sdp-attention  "+f.comment("do.if_not_enough"))
		}
		return list
	}
	if f.told(sampler.ToldInForce + "model_cpu_offload") { // so that one part of it alone is too large: https://huggingface.co/docs/diffusers/optimization/memory
		return append([]string{"pipe.enable_sequential_cpu_offload()  " + f.comment("do.each_layer"), f.comment("do.transformer_bits")}, f.lastResort()...)
	}
	if f.program.is(imageTool) || f.inFile("pipeline_", "diffusers") || f.convolves() && f.phase() == sampler.PhaseInference {
		return append([]string{"pipe.enable_model_cpu_offload()  " + f.comment("do.instead_of_cuda"), f.decodesLess()}, f.lastResort()...)
	}
	return []string{`from_pretrained(name, device_map="auto", low_cpu_mem_usage=True)  ` + f.comment("do.device_map")}
}
