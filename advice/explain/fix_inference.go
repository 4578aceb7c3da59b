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
				return []string{strings.Replace(text, " --precision full", "", 1)} // goes with --no-half, and fails without it
			}
			return []string{f.comment("do.without_option", "option", f.fullPrecisionOption())}
		}},
	{id: FixHalfPrecision, source: "https://github.com/CompVis/stable-diffusion/issues/86",
		kinds: imageTool, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.65, CauseFragmentation: 0.7},
		when: func(f *failure) bool { // which computes in 16 bits under autocast, with weights of 32
			n, set := f.inForce("n_samples")
			return f.program.name == "ldm" && f.makesPictures() && !f.halfWeights() && !f.onHost() && set && n <= 1
		},
		reach: always(1),
		do: func(f *failure) []string {
			lines := []string{"model = model.half()  " + f.comment("do.ldm_half"), "--H 384 --W 384  " + f.comment("do.or")}
			if a, found := f.command.Find("precision"); found && a.Value == "full" {
				lines = slices.Insert(lines, 1, f.comment("do.without_option", "option", "--precision full"))
			}
			return lines
		}},
	{id: FixHalfPrecision, source: "https://huggingface.co/docs/transformers/perf_infer_gpu_one",
		kinds: evaluation | inference, cost: 0.04,
		lives: map[string]float64{CauseTooBig: 0.75, CauseDataSpike: 0.6, CauseUnknown: 0.45, CauseOversubscribed: 0.6},
		when: func(f *failure) bool {
			return !f.calibrates() && !f.onHost() && f.isPyTorch() && !f.refusedThoughFree() && f.fullPrecisionOption() == "" && !f.halfPrecision()
		},
		reach: func(f *failure) float64 {
			switch {
			case f.loadsOnGPU():
				return 0.7 // the checkpoint is there as a second copy until it is loaded elsewhere
			case f.phase() == sampler.PhaseLoading:
				return 1
			case f.told(sampler.ToldAsksLow):
				return 0.6 // what is asked for is another option
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
			return !f.onHost() && !f.makesContext() && !f.smallestPicture() && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving && f.phase() != sampler.PhaseValidation && !f.generatesText() && !f.refusedThoughFree() && (f.program.is(evaluation|inference|imageTool) || f.convolves())
		},
		reach: func(f *failure) float64 {
			if f.weightsFill() || f.nothingFreed() || f.pairwise() || f.told(sampler.ToldAsksLow) {
				return 0.4
			}
			if f.servesItems() {
				return 0.8 // all but the largest fit as they are
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
		lives: map[string]float64{CauseTooBig: 0.95, CauseDataSpike: 0.9, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.splats() && (f.impossible() || f.triedSize()) },
		reach: always(1),
		variant: func(f *failure) string {
			if f.triedSize() {
				return "splats.parts"
			}
			return "splats"
		},
		do: doSmallerInput},
	{id: FixSmallerInput, source: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		kinds: ownCode, cost: 0.02, // their number is a setting, and grows until it is stopped
		lives:   map[string]float64{CauseLeak: 0.95, CauseTooBig: 0.92, CauseDataSpike: 0.9, CauseFragmentation: 0.9},
		when:    func(f *failure) bool { return f.splats() && f.recorded() && f.late() && !f.impossible() },
		reach:   always(1),
		variant: func(f *failure) string { return "splats_late" },
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
			return (f.oneSample() || f.sizeAlone()) && !f.exhausted() && f.inTraining() && f.phase() != sampler.PhaseSaving && !f.onHost() && !f.refusedThoughFree() && !f.arrays() && (f.onPixels() || f.onlyMessage() || f.history == nil && f.numbers() && !f.someSteps() || f.reported() && len(f.command.Arguments()) == 0 || f.nothingElseTold() || f.told(sampler.ToldPixels))
		},
		reach: func(f *failure) float64 {
			switch {
			case f.stateDominated():
				return 0.1
			case f.toldSame() && !f.told(sampler.ToldSized):
				return 0.6 // of which most samples were small enough
			case f.told(sampler.ToldAtStart) && f.batch() == 1 && f.numbers() && f.allocated.Or(0) > partOf(f.total.Or(0), 0.85) && f.requested.Or(0) < partOf(f.total.Or(0), 0.02):
				return 0.4 // weights, and what the optimizer keeps, were there before any input
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
			case f.asksGPU():
				return "sample_or"
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
		reach: func(f *failure) float64 {
			if f.servesItems() {
				return 0.8 // all but the largest fit as they are
			}
			return 1
		},
		variant: pictureVariant,
		do:      doSmallerInput},
	{id: FixSmallerInput, source: "https://docs.monai.io/en/stable/inferers.html",
		kinds: evaluation | inference | undecided, cost: 0.02, // a copy for each window
		lives: map[string]float64{CauseTooBig: 0.93, CauseUnknown: 0.65, CauseDataSpike: 0.9},
		when: func(f *failure) bool {
			return f.told(sampler.ToldSliding) && f.slides() && !f.onHost() && !f.told(sampler.ToldInForce+"sw_device") && f.phase() != sampler.PhaseValidation
		},
		reach:   always(1),
		variant: func(f *failure) string { return "sliding" },
		do: func(f *failure) []string {
			return []string{`sliding_window_inference(…, sw_device="cuda", device="cpu")  ` + f.comment("do.stitch_on_cpu"), f.lessInput()[0]}
		}},
	{id: FixSmallerInput, source: "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.65},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindORT && !f.onHost() && !f.program.is(training) && !f.only() // who runs a known program sets its options, not those of a session
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
		lives:   map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.65, CauseDataSpike: 0.85},
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
		lives: map[string]float64{CauseTooBig: 0.8, CauseDataSpike: 0.9, CauseFragmentation: 0.7, CauseUnknown: 0.4, CauseOversubscribed: 0.5, CauseImbalance: 0.3},
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() != sampler.PhaseLoading && f.generatesText() && !f.makesVideo() && !f.refusedThoughFree()
		},
		do: func(f *failure) []string {
			half := func(v float64) float64 { return float64(int(v) / 2) }
			if text, name, ok := f.command.WithLess(half, "max_new_tokens", "max_length", "max_seq_len", "max_tokens", "ctx_size", "context_length"); ok {
				return []string{text + "  " + f.comment("do.size_option", "name", name)}
			}
			if f.answersOthers() {
				if f.told(sampler.ToldGPUs) {
					return []string{f.comment("do.server_context"), f.comment("do.spread_server"), f.comment("do.fewer_bits")}
				}
				return []string{f.comment("do.server_context"), f.comment("do.fewer_bits")}
			}
			if f.event.Kind == sampler.KindMPS {
				return []string{f.comment("do.cut_prompt"), f.comment("do.less_beside_model")}
			}
			if f.joinsTokens() {
				return []string{f.comment("do.fewer_sequences"), `model.generate(**inputs, max_new_tokens=256, cache_implementation="offloaded")`}
			}
			return []string{f.comment("do.cut_prompt"), `model.generate(**inputs, max_new_tokens=256, cache_implementation="offloaded")`}
		},
		variant: func(f *failure) string {
			if f.joinsTokens() && f.batch() != 1 {
				return "sequences"
			}
			return ""
		}},
	{id: FixOffloadModel, source: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		kinds: evaluation | inference | imageTool, cost: 0.16,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.35, CauseOversubscribed: 0.8, CauseOtherProcess: 0.2, CauseDataSpike: 0.4},
		when:  func(f *failure) bool { return !f.onHost() && !f.refusedThoughFree() && f.offloadPossible() },
		reach: func(f *failure) float64 {
			if f.impossible() {
				return 0.1
			}
			if f.program.name == "invokeai" && f.phase() == sampler.PhaseLoading && f.requested.Or(0) < partOf(f.total.Or(0), 0.02) {
				return 0.5 // it frees what it has before the picture is decoded, and these are weights
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
			return f.told(sampler.ToldLargePainter) && !f.told(sampler.ToldKeepsBits) && !f.onHost() && !f.bigRequest() && !f.decodesPicture() && !f.told(sampler.ToldSized) && !f.refusedThoughFree()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "painter" },
		do: func(f *failure) []string {
			if f.program.name == "" && !f.ownPipe() && f.shows(sampler.ShowsFewBits) {
				return []string{f.comment("do.block_swap"), f.comment("do.painter_bits")}
			}
			return append([]string{f.comment("do.painter_bits")}, doOffload(f)...)
		}},
	{id: FixOffloadModel, source: "https://github.com/facebookresearch/sam2/blob/main/sam2/sam2_video_predictor.py",
		kinds: evaluation | inference | undecided, cost: 0.03, // it hardly takes longer
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.9, CauseFragmentation: 0.4},
		when:  func(f *failure) bool { return f.keepsFrames() && !f.onHost() && !f.refusedThoughFree() },
		reach: always(1),
		do:    doOffload},
	{id: FixOffloadModel, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: evaluation | inference | imageTool | undecided, cost: 0.03, // it is asked for, so that its time is no price
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.75, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return f.told(sampler.ToldAsksOffload) && !f.told(sampler.ToldTried+"offload") && !f.onHost() && f.offloadPossible()
		},
		reach: always(1),
		do:    doOffload},
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
	{id: FixOffloadModel, source: "https://github.com/AutoGPTQ/AutoGPTQ/blob/main/auto_gptq/modeling/_base.py",
		kinds: ownCode, cost: 0.02, // slower, the same result
		lives:   map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.8, CauseFragmentation: 0.8, CauseLeak: 0.8},
		when:    func(f *failure) bool { return f.inFile("auto_gptq/") && f.inFunction("quantize") && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "calibration" },
		do: func(f *failure) []string {
			lines := []string{"model.quantize(examples, cache_examples_on_gpu=False)  " + f.comment("do.examples_in_ram")}
			if text, _, ok := f.command.WithLess(func(float64) float64 { return 128 }, "nsamples", "num_samples", "n_samples", "calib_size"); ok {
				lines = append(lines, text+"  "+f.comment("do.fewer_examples"))
			}
			return lines
		}},
	{id: FixOffloadModel, source: "https://github.com/casper-hansen/AutoAWQ/issues/65",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.7},
		when: func(f *failure) bool {
			return f.told(sampler.ToldQuantizing) && !f.onHost() && !f.refusedThoughFree() && f.torchCode()
		},
		reach: func(f *failure) float64 {
			if f.impossible() {
				return 0.1 // one array of what the samples make: no weights have to make room for it
			}
			return 1
		},
		variant: func(f *failure) string { return "quantize" },
		do: func(f *failure) []string {
			load := `from_pretrained(name, device_map="auto", max_memory={0: "6GiB", "cpu": "60GiB"}, low_cpu_mem_usage=True)  ` + f.comment("do.transformers")
			switch {
			case f.quantizesGPTQ():
				load = `from_pretrained(name, quantize_config, low_cpu_mem_usage=True, max_memory={0: "6GiB", "cpu": "60GiB"})`
			case f.tool != nil:
				load = f.comment("do.say.load_on_cpu") // each of these libraries has calls of its own
			}
			return []string{load, f.comment("do.ready_made")}
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
