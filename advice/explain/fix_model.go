package explain

import (
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
		when:    func(f *failure) bool { return f.tinyGPU() || f.smallGPUSpent() },
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
	{id: FixSmallerModel, source: sourceAnatomy,
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9},
		when:  func(f *failure) bool { return f.smallerWouldFit() },
		reach: always(1),
		do:    func(f *failure) []string { return []string{f.comment("do.larger_for_weights")} }},
	{id: FixSmallerModel, source: "https://docs.vllm.ai/en/latest/features/spec_decode.html",
		kinds: inference | server | undecided, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.85, CauseUnknown: 0.6, CausePreallocation: 0.6, CauseMemoryLimit: 0.4},
		when: func(f *failure) bool {
			return (f.told(sampler.ToldDraft) || f.loadsTwice()) && !f.onHost() && !f.refusedThoughFree()
		},
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
	{id: FixSmallerModel, source: "https://github.com/openai/whisper/blob/main/README.md",
		kinds: inference, cost: 0.02, // a choice in a list, and nothing else is there to be chosen
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8, CauseDataSpike: 0.6},
		when: func(f *failure) bool {
			return f.choosesModel() && len(f.levers()) > 0 && f.program.name != "whisper" && !f.onHost()
		},
		reach: always(1),
		do:    func(f *failure) []string { return []string{f.comment("do.say.smaller_version")} }},
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
			switch list := f.fewerBits(); {
			case f.unquantized():
				return "unquantized"
			case len(list) == 0:
				return "no_bits"
			case list[0] == 4:
				return "bits_4"
			case f.program.is(server) || f.halfPrecision():
				return ""
			case list[0] == 8:
				return "bits_8"
			}
			return "bits"
		},
		pairs: weightsPairs,
		do: func(f *failure) []string {
			list := f.fewerBits()
			switch {
			case f.unquantized():
				return []string{f.comment("do.quantize_in_ram"), f.comment("do.ready_quantized")}
			case len(list) == 0:
				return []string{f.comment("do.fewer_billions"), f.comment("do.layers_in_ram")}
			}
			lines := []string{"from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"}
			if list[0] == 4 && !f.ownLoading() {
				lines = []string{f.comment("do.say.four_alone")}
			}
			if list[0] == 16 {
				lines = append([]string{`from_pretrained(name, torch_dtype=torch.float16, device_map="auto")  ` + f.comment("do.half_of")}, lines...)
			}
			return lines
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/quantization/overview",
		kinds: server, cost: 0.02, // no other setting of one GPU helps
		lives:   map[string]float64{CauseTooBig: 0.97, CausePreallocation: 0.8, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.outweighs() && !f.loadsOnOneOfSeveral() },
		reach:   always(1),
		variant: func(*failure) string { return "overweight" },
		pairs:   func(f *failure) []any { return []any{"need", gib(f.weightsIn(16)), "total", gib(f.saidTotal())} },
		do: func(f *failure) []string {
			if k := f.knob(FixShardOrOffload); k != nil {
				return []string{f.comment("do.quantized_server", "option", k.option)}
			}
			return []string{f.comment("do.quantized_weights")}
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/quantization/overview",
		kinds: ownCode | running, cost: 0.3,
		lives: map[string]float64{CauseTooBig: 0.9, CauseMemoryLimit: 0.4, CauseOversubscribed: 0.7, CausePreallocation: 0.5},
		when: func(f *failure) bool {
			return !f.refusedThoughFree() && !f.calibrates() && f.phase() != sampler.PhaseValidation && !f.growsTrees() && f.photos() == 0 && !(f.layered() && f.noLayers()) && f.program.name != "alphafold" && !f.splats() && !f.pairsAlone() && !(f.program.name == "whisper" && f.smallWhisper())
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

// smallGPUSpent: a GPU of little more memory, on which smaller batches made no difference and nothing tells of an input that could be smaller (own
// threshold: 2 GiB).
func (f *failure) smallGPUSpent() bool {
	return f.isPyTorch() && !f.onHost() && f.total.Known() && f.total.Or(0) <= 2*sampler.GiB && f.history == nil && f.told(sampler.ToldTried+"batch") && !f.program.is(training) && f.domain() == "" && !f.told(sampler.ToldSized)
}

// smallWhisper: the model of Whisper in the command is no larger than the one that is advised.
func (f *failure) smallWhisper() bool {
	a, set := f.command.Find("model")
	return f.told(sampler.ToldTinyModel) || set && slices.ContainsFunc([]string{"tiny", "base", "small", "medium", "distil"}, func(name string) bool { return strings.HasPrefix(a.Value, name) })
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

// calibrates: a tool brings a network, and no language model, to fewer bits: that has none to be loaded in.
func (f *facts) calibrates() bool {
	return f.told(sampler.ToldCalibrates) && !f.told(sampler.ToldText)
}

// layered: the program puts as many layers on the GPU as it is told to.
func (f *facts) layered() bool { return f.program.name == "llama.cpp" || f.program.name == "ollama" }

// fewLayers are less than a tenth of those of any model that is spoken of: what fills the GPU is beside them (own threshold).
const fewLayers = 3

// noLayers: next to none of them are on the GPU, or their number made no difference.
func (f *facts) noLayers() bool {
	set := f.numbersInForce("ngl", "n_gpu_layers", "num_gpu")
	return f.told(sampler.ToldTried+"layers") || len(set) > 0 && slices.Max(set) <= fewLayers
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
		return doFewerOllama(f)
	}
	for _, option := range []string{"n_gpu_layers", "ngl", "gpulayers", "gpu_layers"} {
		if text, _, ok := f.command.WithLess(func(v float64) float64 { return float64(int(v) * 2 / 3) }, option); ok {
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
