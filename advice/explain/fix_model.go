package explain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesModel = []fixRow{
	{id: FixSmallerModel, source: "https://www.tensorflow.org/text/guide/subwords_tokenizer",
		kinds: training | undecided, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.entries() > 0 },
		reach:   always(1),
		variant: func(f *failure) string { return "vocabulary" },
		pairs:   func(f *failure) []any { return []any{"n", f.entries()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_words"), f.comment("do.adaptive_softmax")}
		}},
	{id: FixRaiseLimit, source: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseMemoryLimit: 0.9, CauseHostMemory: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && !f.maybePinned() && (f.program.name != "alphafold" || f.smallShare() > 0) && // whose own scripts set several times the GPU, of RAM
				!f.hasLargestShare()
		},
		variant: func(f *failure) string { return f.limitVariant() },
		reach: func(f *failure) float64 {
			if f.event.Kind == sampler.KindMPS && f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "" {
				return 0.3 // the limit protects the whole machine there
			}
			if f.refusedThoughFree() && !f.limited() {
				return 0.4 // that there is one is only supposed
			}
			return 0.95
		},
		do: doRaiseLimit},
	{id: FixRaiseLimit, source: sourceJAX,
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseMemoryLimit: 0.98, CauseDataSpike: 0.95, CauseTooBig: 0.9, CauseValidationSpike: 0.9, CauseFragmentation: 0.9},
		when:    func(f *failure) bool { return f.fitsLargerShare() },
		variant: func(f *failure) string { return "jax" },
		reach:   always(1), // whatever asked for it, it finds room
		do:      doRaiseLimit},
	{id: FixRaiseLimit, source: "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.9, CauseMemoryLimit: 0.95},
		when:    func(f *failure) bool { return f.littleOverMetal() && !f.program.is(training) }, // that has a batch, and would swap in each step
		variant: func(f *failure) string { return "mps" },
		reach:   always(1),
		do:      doRaiseLimit},
	{id: FixSmallerModel, source: "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
		kinds: ownCode | running, cost: 0.01,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseMemoryLimit: 0.5},
		when:    func(f *failure) bool { return f.farOverMetal() && !f.program.is(training) },
		variant: func(f *failure) string { return "metal" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.low_memory_mode"), f.comment("do.say.smaller_version")}
		}},
	{id: FixSmallerModel, source: "https://www.tensorflow.org/guide/gpu",
		kinds: ownCode | imageTool, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.6, CauseOtherProcess: 0.3},
		when:  func(f *failure) bool { return f.makesWeights() },
		reach: always(1), // no input was read yet
		variant: func(f *failure) string {
			if f.event.Kind == sampler.KindXLA && f.severalGPUs() {
				return "weights_gpus"
			}
			return "weights"
		},
		do: func(f *failure) []string {
			if f.event.Kind == sampler.KindXLA {
				lines := []string{f.comment("do.jax_fewer_bits"), f.comment("do.say.smaller_version")}
				if f.severalGPUs() {
					lines = append([]string{"jax.device_put(params, NamedSharding(mesh, P(\"model\")))  " + f.comment("do.jax_shards")}, lines...)
				}
				return lines
			}
			if f.beyondPool() > 0 {
				return []string{f.comment("do.narrower"), f.comment("do.cpu_hidden_first")}
			}
			return []string{"nvidia-smi  " + f.comment("do.look_first"), f.comment("do.cpu_hidden_first")}
		}},
	{id: FixSmallerModel, source: sourceAnatomy,
		kinds: ownCode | imageTool, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.7, CauseOtherProcess: 0.6, CauseUnattributed: 0.6},
		when:    func(f *failure) bool { return f.tinyGPU() },
		variant: func(f *failure) string { return "tiny" },
		pairs:   func(f *failure) []any { return []any{"total", gib(f.total.Or(0))} },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.cpu_hidden_first"), f.comment("do.smaller_model")}
		}},
	{id: FixSmallerOptimizer, source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		kinds: training | undecided, cost: 0.26,
		lives: map[string]float64{CauseTooBig: 0.85, CauseFragmentation: 0.7, CauseImbalance: 0.4, CauseOtherProcess: 0.3, CauseOversubscribed: 0.4},
		when: func(f *failure) bool {
			return f.inTraining() && f.isPyTorch() && (f.optimizer() == "adam" || f.optimizer() == "") && !f.usesLoRA() && !f.splats() && !f.refusedThoughFree() &&
				(!f.footprint.known || f.footprint.states.mid() > partOf(f.allocated.Or(0), 0.15))
		},
		saves: func(f *failure) (span, bool) {
			p := float64(f.footprint.parameters)
			return span{sampler.Bytes(4 * p), sampler.Bytes(6 * p)}, f.footprint.known
		},
		reach: func(f *failure) float64 {
			p := float64(f.footprint.parameters)
			if f.checkpointedFull() {
				return 0.85 // what it keeps is most of what fills the GPU
			}
			if !f.footprint.known || !f.numbers() {
				return 0.25
			}
			return span{sampler.Bytes(4 * p), sampler.Bytes(6 * p)}.covers(f.needed())
		},
		do: doSmallerOptimizer},
	{id: FixShardOrOffload, source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		kinds: training | undecided, cost: 0.28,
		lives: map[string]float64{CauseTooBig: 0.9, CauseFragmentation: 0.5, CauseImbalance: 0.4, CauseOtherProcess: 0.2},
		when: func(f *failure) bool {
			return f.isPyTorch() && f.event.Kind != sampler.KindMPS && (f.inTraining() || f.phase() == sampler.PhaseLoading) && (!f.sharded() || f.shardsMore()) && !f.splats() && !f.refusedThoughFree() && (f.stateDominated() || !f.footprint.known)
		},
		variant: func(f *failure) string {
			switch {
			case f.ranksLoadAll():
				return "ranks"
			case f.phase() == sampler.PhaseLoading:
				return "loading"
			case f.shardsMore():
				return "more"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.footprint.states.times(0.4, 0.85), f.footprint.known
		},
		reach: func(f *failure) float64 {
			if f.ranksLoadAll() {
				return 1.9 // each GPU keeps its part only; nothing that a step needs matters yet
			}
			if f.phase() == sampler.PhaseLoading {
				return 0.9
			}
			if f.stateDominated() {
				return 1.6 // nothing about the batch helps then
			}
			if f.told(sampler.ToldGPUs) {
				return 0.55
			}
			return 0.35
		},
		do: doShard},
	{id: FixShardOrOffload, source: "https://github.com/kohya-ss/musubi-tuner/blob/main/docs/hunyuan_video.md",
		kinds: training, cost: 0.05, // an option of the program, and the same result
		lives: map[string]float64{CauseTooBig: 0.93, CauseUnknown: 0.7},
		when: func(f *failure) bool {
			return f.offloadLever() != "" && f.inTraining() && f.batch() == 1 && f.usesLoRA() && !f.onHost() && f.phase() != sampler.PhaseSaving
		},
		reach:   always(1),
		variant: func(*failure) string { return "parts" },
		do:      func(f *failure) []string { return []string{f.offloadLine()} }},
	{id: FixShardOrOffload, source: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		kinds: evaluation | inference, cost: 0.02, // the other GPUs are there, and the answers are the same
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.othersIdle() },
		variant: func(f *failure) string {
			if f.shows(sampler.ShowsFewBits) {
				return "server"
			}
			return "idle"
		},
		reach: always(1),
		do: func(f *failure) []string {
			lines := []string{f.comment("do.spread_parts"), f.comment("do.fewer_bits")}
			if f.shows(sampler.ShowsFewBits) {
				lines = lines[:1]
			}
			if f.ownLoading() {
				lines[0] = `from_pretrained(name, device_map="auto", torch_dtype="auto")  ` + f.comment("do.device_map")
			}
			return lines
		}},
	{id: FixShardOrOffload, source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		kinds: training, cost: 0.15,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.7, CauseOversubscribed: 0.9},
		when: func(f *failure) bool { // 16 bytes for each weight, and one sample beside
			small := f.total.Known() && f.total.Or(0) <= 16*sampler.GiB // 14 GiB are the weights alone, in 16 bits
			if f.told(sampler.ToldOutsized) && f.inTraining() && f.isPyTorch() && !f.usesLoRA() {
				return true // no batch is at work yet
			}
			return f.told(sampler.ToldBillions) && (f.oneSample() && (!f.numbers() || f.told(sampler.ToldSharded)) && !(f.told(sampler.ToldSharded) && f.told(sampler.ToldOffload)) || small) && !f.usesLoRA() && !f.onHost() && f.inTraining() && f.isPyTorch()
		},
		reach: always(1),
		do:    doShard},
	{id: FixSmallerModel, source: sourceLlama,
		kinds: server, cost: 0.1, // fewer layers on the GPU: slower, and the same answers
		lives: map[string]float64{CauseTooBig: 0.9, CauseMemoryLimit: 0.4, CauseUnknown: 0.6},
		when: func(f *failure) bool {
			return f.layered() && !f.onHost() && !f.maybePinned() && !f.makesContext() && !f.noLayers()
		},
		variant: func(f *failure) string {
			if f.onlyGGML() {
				return "ggml"
			}
			return "llama"
		},
		reach: always(1),
		do:    doFewerLayers},
	{id: FixSmallerModel, source: "https://docs.vllm.ai/en/latest/features/spec_decode.html",
		kinds: inference | server | undecided, cost: 0.05,
		lives:   map[string]float64{CauseTooBig: 0.85, CauseUnknown: 0.6, CausePreallocation: 0.6, CauseMemoryLimit: 0.4},
		when:    func(f *failure) bool { return f.told(sampler.ToldDraft) && !f.onHost() && !f.refusedThoughFree() },
		reach:   always(1),
		variant: func(f *failure) string { return "draft" },
		do:      func(f *failure) []string { return []string{f.comment("do.no_draft")} }},
	{id: FixSmallerModel, source: "https://github.com/SYSTRAN/faster-whisper/blob/master/README.md",
		kinds: inference, cost: 0.05, // an option at the start, and nearly the same words
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65, CauseDataSpike: 0.5},
		when: func(f *failure) bool {
			return f.program.name == "whisper" && !f.onHost() && !f.refusedThoughFree() && !f.smallWhisper()
		},
		reach: always(1),
		do: func(f *failure) []string {
			line := "--model medium  "
			if total := f.saidTotal(); total > 0 && total <= smallForMedium {
				line = "--model small  "
			}
			if text, ok := f.command.WithOption("--model", strings.Fields(line)[1]); ok && f.runsTool("whisper") {
				return []string{text, "--compute_type int8  " + f.comment("do.if_faster_whisper")}
			}
			if f.told(sampler.ToldFrozen) { // of which the medium one may be the default
				return []string{"--compute_type int8  " + f.comment("do.bits_plain"), "--model small  " + f.comment("do.whisper_model")}
			}
			return []string{line + f.comment("do.whisper_model"), "--compute_type int8  " + f.comment("do.if_faster_whisper")}
		}},
	{id: FixSmallerModel, source: sourceAnatomy,
		kinds: ownCode, cost: 0.02, // it is asked for
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.6, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return f.told(sampler.ToldChannels) && !f.program.is(running) && !f.onHost() && !f.refusedThoughFree()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "channels" },
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_channels"), f.comment("do.or_that", "what", f.words.Say("do.say.checkpoint_or_half"))}
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/quantization/bitsandbytes",
		kinds: evaluation | inference, cost: 0.14, // an option where it is loaded
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.6, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return !f.onHost() && !f.refusedThoughFree() && f.loadsLanguage() && !f.shows(sampler.ShowsFewBits)
		},
		reach: always(1),
		variant: func(f *failure) string {
			if f.program.is(server) || f.halfPrecision() {
				return ""
			}
			return "bits"
		},
		do: func(f *failure) []string {
			lines := []string{"from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"}
			if !f.halfPrecision() {
				lines = append([]string{`from_pretrained(name, torch_dtype=torch.float16, device_map="auto")  ` + f.comment("do.half_of")}, lines...)
			}
			return lines
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/quantization/overview",
		kinds: ownCode | running, cost: 0.3,
		lives: map[string]float64{CauseTooBig: 0.9, CauseMemoryLimit: 0.4, CauseOversubscribed: 0.7, CausePreallocation: 0.5},
		when: func(f *failure) bool {
			return !f.refusedThoughFree() && f.phase() != sampler.PhaseValidation && !f.growsTrees() && f.photos() == 0 && !(f.layered() && f.noLayers()) && f.program.name != "alphafold" && !f.splats() && !f.pairsAlone() && !(f.program.name == "whisper" && f.smallWhisper())
		},
		variant: func(f *failure) string {
			switch f.program.name {
			case "llama.cpp", "ollama":
				return "llama"
			}
			switch {
			case f.program.is(undecided) && f.nothingFreed() && f.onlyMessage():
				return "either"
			case f.loadsAny():
				return "load"
			case f.impossible() && f.phase() == sampler.PhaseLoading && !f.isServing() && !f.usesLoRA():
				return "weights" // no GPU of that size can have it
			case f.shows(sampler.ShowsFewBits) && !f.program.is(training):
				return "few_bits"
			case f.program.is(training) && f.usesLoRA():
				return "qlora"
			case f.program.is(training) && !f.atHand() && !f.adapts():
				return "own"
			case f.program.is(training):
				return "training"
			}
			return ""
		},
		reach: func(f *failure) float64 {
			if f.phase() == sampler.PhaseLoading || f.class.first == FixSmallerModel || f.phase() == sampler.PhaseInference || f.nothingFreed() {
				return 1.5 // nothing else changes what the weights need
			}
			return 0.6
		},
		do: func(f *failure) []string {
			if f.layered() {
				return doFewerLayers(f)
			}
			if f.shows(sampler.ShowsFewBits) && !f.program.is(training) {
				return []string{f.comment("do.fewer_bits_still")}
			}
			if f.isServing() {
				if k := f.knob(FixShardOrOffload); k != nil {
					return []string{f.comment("do.quantized_server", "option", k.option)}
				}
				return []string{f.comment("do.quantized_weights")}
			}
			if f.loadsAny() {
				return []string{`from_pretrained(name, torch_dtype=torch.float16, device_map="auto")  ` + f.comment("do.device_map"),
					"from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))  " + f.comment("do.or"), "pipe.enable_sequential_cpu_offload()  " + f.comment("do.diffusers")}
			}
			if f.program.is(training) && !f.usesLoRA() || !f.torchCode() || f.program.is(undecided) && f.nothingFreed() && !f.told(sampler.ToldText) && indexOf(f.event.Text, "from_pretrained") < 0 {
				lines := []string{f.comment("do.smaller_model")}
				if !f.program.is(training) && f.torchCode() {
					lines = []string{f.comment("do.smaller_version")}
				}
				if f.impossible() && f.phase() == sampler.PhaseLoading {
					lines = append(lines, `device = "cpu"  `+f.comment("do.on_cpu"))
				}
				return lines
			}
			return []string{"from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"}
		}},
}

// othersIdle: who writes has several GPUs, and the model that runs fills one of them.
func (f *failure) othersIdle() bool {
	return (f.told(sampler.ToldGPUs) || f.told(sampler.ToldOneGPU)) && f.program.name == "" && f.isPyTorch() && f.numbers() && !f.onHost() && !f.impossible() && !f.othersMatter() && !f.refusedThoughFree() && !f.spread() && !f.sharded() && !f.ranks() &&
		(f.generatesText() || f.phase() == sampler.PhaseLoading || f.nothingFreed()) && f.allocated.Or(0) > partOf(f.total.Or(0), 0.75) && f.requested.Or(0) < partOf(f.total.Or(0), 0.05)
}

// tinyGPU: a context of CUDA and a framework take half of it (own threshold: 1.5 GiB).
func (f *failure) tinyGPU() bool {
	return f.isPyTorch() && !f.onHost() && f.total.Known() && f.total.Or(0) <= 3*sampler.GiB/2 && f.history == nil && f.event.Kind == sampler.KindCUDA
}

// smallWhisper: the model of Whisper in the command is no larger than the one that is advised.
func (f *failure) smallWhisper() bool {
	a, set := f.command.Find("model")
	return f.told(sampler.ToldTinyModel) || set && slices.ContainsFunc([]string{"tiny", "base", "small", "medium", "distil"}, func(name string) bool { return strings.HasPrefix(a.Value, name) })
}

// loadsAny: some model is moved to the GPU, and nothing tells what it is for.
func (f *failure) loadsAny() bool {
	return f.program.is(undecided) && f.phase() == sampler.PhaseLoading && f.torchCode() && !f.onHost()
}

// ranksLoadAll: each rank of a training loads the whole model onto its own GPU, which the weights alone fill.
func (f *failure) ranksLoadAll() bool {
	return f.phase() == sampler.PhaseLoading && f.program.is(training) && f.event.Rank.Known() && f.allocated.Or(0) > partOf(f.total.Or(sampler.MaxPlausible), 0.85) && f.requested.Or(0) < partOf(f.allocated.Or(0), 0.02) &&
		!f.sharded() && !f.ranksLoad() && !f.othersMatter()
}

func doShard(f *failure) []string {
	if f.ranksLoadAll() { // device_map="auto" is refused there: https://huggingface.co/docs/accelerate/usage_guides/big_modeling
		return []string{`{"zero_optimization": {"stage": 3}}  ` + f.comment("do.zero_init"), f.comment("do.fsdp_load")}
	}
	if f.phase() == sampler.PhaseLoading {
		return []string{`AutoModelForCausalLM.from_pretrained(name, device_map="auto", torch_dtype="auto")  ` + f.comment("do.device_map")}
	}
	if f.told(sampler.ToldOutsized) && (f.told(sampler.ToldSharded) || f.deepspeed()) {
		return []string{"with deepspeed.zero.Init(config_dict_or_path=config):\n    model = …  " + f.comment("do.zero_init"),
			`{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}`}
	}
	if f.shardsMore() || f.told(sampler.ToldSharded) {
		return []string{`{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}}  ` + f.comment("do.zero")}
	}
	return []string{"from torch.distributed.fsdp import fully_shard", "fully_shard(model)  " + f.comment("do.fsdp"),
		`{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}  ` + f.comment("do.zero")}
}

// shardsMore: DeepSpeed shards already, and what it keeps for the optimizer is still too much for the GPU.
func (f *failure) shardsMore() bool {
	return (f.outgrownStates() || f.checkpointedFull()) && (f.event.Framework == "deepspeed" || f.command.Runs("deepspeed") || f.command.HasPlain("deepspeed", "deepspeed_config"))
}

// loadsLanguage: own code puts a language model on the GPU, or nothing tells more than that it is one.
func (f *failure) loadsLanguage() bool {
	if f.program.name != "" || f.convolves() || !f.torchCode() {
		return false
	}
	if f.phase() == sampler.PhaseLoading {
		return true
	}
	weights := !f.numbers() || f.allocated.Or(0) > partOf(f.total.Or(0), 0.6) // in 32 or 16 bits they fill most of it
	return f.told(sampler.ToldText) && weights && f.onlyMessage()
}

// layered: the program puts as many layers on the GPU as it is told to.
func (f *facts) layered() bool { return f.program.name == "llama.cpp" || f.program.name == "ollama" }

// noLayers: next to none of them are on the GPU, or their number made no difference.
func (f *facts) noLayers() bool {
	set := f.numbersInForce("ngl", "n_gpu_layers", "num_gpu")
	return f.told(sampler.ToldTried+"layers") || len(set) > 0 && slices.Max(set) <= 1
}

// onlyGGML: the library of llama.cpp failed in another program, whose options are not known.
func (f *failure) onlyGGML() bool {
	return f.event.Framework == "llama.cpp" && f.context.Server == "" && !f.command.Known && !f.told(sampler.ToldText) && indexOf(strings.ToLower(f.event.Text), "llama") < 0
}

func doFewerLayers(f *failure) []string {
	if f.onlyGGML() {
		if split := f.tensorSplit(); split != "" {
			return []string{split, f.comment("do.ggml")}
		}
		return []string{f.comment("do.ggml"), "llama-server -m MODEL --n-gpu-layers 20 --ctx-size 4096  " + f.comment("do.if_llama")}
	}
	if f.program.name == "ollama" {
		set := "/set parameter "
		if f.phase() == sampler.PhaseLoading {
			set = "PARAMETER " // of a Modelfile: no prompt comes to type it at
		}
		lines := []string{set + "num_gpu " + strconv.Itoa(f.below("num_gpu", 30)*2/3) + "  " + f.comment("do.num_gpu")}
		if f.below("num_ctx", ollamaContext+1) > ollamaContext {
			lines = append(lines, set+"num_ctx "+strconv.Itoa(ollamaContext))
		}
		return lines
	}
	for _, option := range []string{"n_gpu_layers", "ngl", "gpulayers", "gpu_layers"} {
		if text, _, ok := f.command.WithNumber(func(v float64) float64 { return float64(int(v) * 2 / 3) }, option); ok {
			return []string{text + "  " + f.comment("do.num_gpu")}
		}
	}
	layers := min(f.below("ngl", 30), f.below("n_gpu_layers", 30)) * 2 / 3
	lines := []string{"llama-server -m MODEL --n-gpu-layers " + strconv.Itoa(layers) + " --ctx-size " + strconv.Itoa(min(4096, f.below("ctx_size", 8192)/2)) + "  " + f.comment("do.num_gpu")}
	if split := f.tensorSplit(); split != "" {
		lines = append([]string{split}, lines...)
	}
	return lines
}

// ollamaContext is the shortest that Ollama takes by default: https://docs.ollama.com/context-length
const ollamaContext = 4096

func doRaiseLimit(f *failure) []string {
	switch f.limitVariant() {
	case "slice": // https://github.com/Project-HAMi/HAMi
		larger := f.event.MemoryLimit.Allowed.Or(16*sampler.GiB) / sampler.MiB * 3 / 2
		return []string{"nvidia.com/gpumem: " + strconv.FormatUint(uint64(larger), 10) + "  " + f.comment("do.slice")}
	case "mps":
		lines := []string{"export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0  " + f.comment("do.mps")}
		if f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "0.0" {
			lines = append(lines, f.comment("do.mps_unset"))
		}
		return lines
	case "vllm":
		share := f.withShare("vllm", func(v float64) float64 { return min(largestShare, float64(int(v*100+0.5)+5)/100) })
		if n := f.tokensThatFit(); n > 0 {
			if text, ok := f.command.WithOption("--max-model-len", strconv.FormatUint(n, 10)); ok && f.runsServer() {
				return []string{text, share[0]}
			}
			shorter := cmp.Or(f.inCall("vllm", "--max-model-len", strconv.FormatUint(n, 10)), "vllm serve MODEL --max-model-len "+strconv.FormatUint(n, 10))
			return []string{shorter, share[0] + "  " + f.comment("do.or")}
		}
		if f.command.Known && f.isServing() {
			return share
		}
		return []string{share[0], "vllm serve MODEL --max-model-len 4096 --enforce-eager  " + f.comment("do.or")}
	case "sglang":
		return f.withShare("sglang", func(v float64) float64 { return min(largestShare, float64(int(v*100+0.5)+5)/100) })
	case "cupy":
		return []string{"cupy.get_default_memory_pool().free_all_blocks()  " + f.comment("do.cupy_blocks"), "cupy.get_default_memory_pool().set_limit(fraction=0.95)"}
	case "jax":
		return []string{"export XLA_PYTHON_CLIENT_MEM_FRACTION=.95"}
	case "rmm":
		pool := "40"
		if total := f.saidTotal(); total > 4*sampler.GiB {
			pool = strconv.FormatUint(uint64(total/sampler.GiB)-2, 10) // CUDA and what does not use RMM take some
		}
		return []string{"rmm.reinitialize(pool_allocator=True, maximum_pool_size=" + pool + " * 2**30)  " + f.comment("do.rmm_pool"), "rmm.reinitialize(managed_memory=True)  " + f.comment("do.rmm_managed")}
	case "system":
		return []string{"free -g; ulimit -v; cat /proc/sys/vm/max_map_count  " + f.comment("do.system_limits"),
			"nvidia-smi  " + f.comment("do.race")}
	}
	if text, _, typed := f.command.WithNumber(wholeGPU, fractionOptions...); typed {
		return []string{text}
	}
	return []string{"torch.cuda.set_per_process_memory_fraction(1.0)", "grep -rn per_process_memory_fraction .  " + f.comment("do.find_limit")}
}

// fractionOptions are names that programs give to the share of the GPU they take, as plain ones.
var fractionOptions = []string{"per_process_memory_fraction", "per_process_gpu_memory_fraction", "cuda_memory_fraction", "gpu_memory_fraction", "gpu_mem_fraction",
	"memory_fraction", "mem_fraction", "gpu_fraction", "vram_fraction", "gpu_memory_frac", "gpu_mem_frac", "memory_frac", "mem_frac", "gpu_frac"}

// wholeGPU is all of a GPU where somebody has typed a share of it, or a percentage.
func wholeGPU(typed float64) float64 {
	if typed > 1 {
		return 100
	}
	return 1
}

func doSmallerOptimizer(f *failure) []string {
	if s, ok := f.command.WithSwitch(map[string]string{command.StyleTrainer: "--optim adamw_8bit"}); ok {
		return []string{s.Text}
	}
	return []string{"import bitsandbytes as bnb", "optimizer = bnb.optim.AdamW8bit(model.parameters(), lr=lr)"}
}

// manyEntries are more than batches have tokens, and than vocabularies should have words (own threshold).
const manyEntries = 1_000_000

// entries is the number of words or classes of a layer that has a row or a column for each, by the shape of the array that was refused; 0: it is another
// array. What comes of a batch and a length is a multiple of a large power of two.
func (f *facts) entries() int {
	shape, _ := f.event.Extra["shape"].([]int)
	if f.onHost() || len(shape) != 2 || f.domain() != sampler.DomainText {
		return 0
	}
	if n := max(shape[0], shape[1]); n >= manyEntries && n%1024 != 0 {
		return n
	}
	return 0
}
