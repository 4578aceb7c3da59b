package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// fixesLarger are for jobs of which nothing is left that would make them small enough, as arithmetic says or whoever tried it.
var fixesLarger = []fixRow{
	{id: FixSmallerModel, source: sourceAnatomy,
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.72, CauseOtherProcess: 0.2},
		when:  func(f *failure) bool { return f.exhausted() && !f.splats() }, // of gaussians there can be fewer
		reach: always(1),
		variant: func(f *failure) string {
			if f.bitsLeft() {
				return "qlora"
			}
			return "larger"
		},
		do: func(f *failure) []string {
			if f.bitsLeft() {
				return []string{f.comment("do.say.four"), f.comment("do.say.checkpointing")}
			}
			list := []string{"nvidia-smi  " + f.comment("do.look_first"), f.comment("do.larger_or_variant")}
			if f.told(sampler.ToldAnySize) {
				list = append(list, f.comment("do.takes_effect"))
			}
			return list
		}},
	{id: FixSmallerModel, source: sourceAnatomy,
		kinds: training | undecided, cost: 0.1,
		lives:   map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65},
		when:    func(f *failure) bool { return f.onlyLayers() && !f.onHost() && !f.refusedThoughFree() },
		reach:   always(1),
		variant: func(f *failure) string { return "own" },
		do:      func(f *failure) []string { return []string{f.comment("do.smaller_model")} }},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/peft/developer_guides/quantization",
		kinds: training, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.75},
		when:    func(f *failure) bool { return f.weightsLead() },
		reach:   always(1),
		variant: func(f *failure) string { return "weights_lead" },
		pairs:   func(f *failure) []any { return []any{"need", gib(f.weightsIn(16))} },
		do: func(f *failure) []string {
			return []string{f.comment("do.adapters_on_four"), f.comment("do.more_gpu")}
		}},
	backTo(FixHalveBatchAccumulate, ownCode|imageTool, "batch"), backTo(FixSmallerInput, ownCode|imageTool, ""), backTo(FixShortenContext, server, "context", "len"),
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.75, CauseTooBig: 0.6, CauseOtherProcess: 0.95},
		when:    func(f *failure) bool { return f.exampleOnLarge() },
		reach:   always(1),
		variant: func(f *failure) string { return "unknown" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), f.comment("do.which_gpu")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.85, CauseOtherProcess: 0.95},
		when:    func(f *failure) bool { return f.littleAtOnce() },
		reach:   always(1),
		variant: func(f *failure) string { return "unknown" },
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), f.comment("do.which_gpu")}
		}},
	{id: FixSmallerInput, source: sourceAnatomy,
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.told(sampler.ToldAnySize) && !f.exhausted() && f.smallable() },
		reach:   always(1),
		variant: func(f *failure) string { return "effect" },
		do: func(f *failure) []string {
			return []string{f.comment("do.takes_effect"), f.comment("do.fewer_or_larger")}
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/diffusers/quantization/overview",
		kinds: evaluation | inference | imageTool | undecided, cost: 0.01,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.86},
		when: func(f *failure) bool {
			return f.runsWith() != "" && !f.onHost() && !f.numbers() && !f.told(sampler.ToldUpdate)
		},
		reach:   always(1),
		variant: func(f *failure) string { return "runs" },
		pairs:   func(f *failure) []any { return []any{"what", f.runsWith()} },
		do:      func(f *failure) []string { return []string{f.comment("do.runs", "what", f.runsWith())} }},
	{id: FixSmallerModel, source: sourceChatUI,
		kinds: server, cost: 0.1,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.8},
		when: func(f *failure) bool { // every prompt is too long for it
			return f.program.name == "chat-ui" && f.told(sampler.ToldTried+"context") && !f.onHost() && !f.numbers()
		},
		reach: always(1),
		variant: func(f *failure) string {
			if f.shows(sampler.ShowsFewBits) {
				return "few_bits"
			}
			return ""
		},
		do: func(f *failure) []string {
			if f.shows(sampler.ShowsFewBits) {
				return []string{f.comment("do.fewer_bits_still"), f.comment("do.layers_in_ram")}
			}
			return []string{f.comment("do.say.four"), f.comment("do.layers_in_ram")}
		}},
	{id: FixHalveBatchAccumulate, source: "https://github.com/pkuliyi2015/multidiffusion-upscaler-for-automatic1111/issues/225",
		kinds: ownCode | imageTool, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.7},
		when: func(f *failure) bool {
			return f.told(sampler.ToldTriedCut) && !f.oneSample() && f.smallable() && f.tiled()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "tiles" },
		pairs:   halvedBatch,
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_tiles"), f.comment("do.tile_decoder")}
		}},
	{id: FixSmallerModel, source: sourceLlama,
		kinds: server | inference, cost: 0.02,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8},
		when: func(f *failure) bool {
			return f.program.name == "llama-reference" && f.overweight() && !f.shows(sampler.ShowsFewBits)
		},
		reach:   always(1.5),
		variant: func(f *failure) string { return "sixteen" },
		pairs: func(f *failure) []any {
			return []any{"need", gib(f.namedWeights())}
		},
		do: func(f *failure) []string {
			return []string{f.comment("do.larger_for_weights"), f.comment("do.other_loader")}
		}},
	{id: FixShardOrOffload, source: "https://www.deepspeed.ai/docs/config-json/#zero-optimizations-for-fp16-training",
		kinds: training | undecided, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.92, CauseUnknown: 0.75},
		when:    func(f *failure) bool { return f.told(sampler.ToldBuckets) && !f.onHost() && !f.numbers() },
		reach:   always(1),
		variant: func(f *failure) string { return "buckets" },
		do: func(f *failure) []string {
			return []string{`"reduce_bucket_size": 5e7, "stage3_prefetch_bucket_size": 5e7, "stage3_max_live_parameters": 1e8  ` + f.comment("do.buckets"), f.comment("do.without_zero")}
		}},
	{id: FixShardOrOffload, source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		kinds: training, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.toldStates() > partOf(f.saidTotal(), mostlyStates) },
		reach:   always(1.2),
		variant: func(f *failure) string { return "states" },
		pairs:   func(f *failure) []any { return []any{"states", gib(f.toldStates()), "total", gib(f.saidTotal())} },
		do: func(f *failure) []string {
			line, _, _ := strings.Cut(doShard(f)[0], "  # ")
			return []string{line, f.comment("do.with_offload")}
		}},
	{id: FixShardOrOffload, source: "https://huggingface.co/docs/bitsandbytes/fsdp_qlora",
		kinds: training, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85},
		when:    func(f *failure) bool { return f.fourBitsOutgrow() },
		reach:   always(1.2),
		variant: func(f *failure) string { return "qlora" },
		pairs:   func(f *failure) []any { return []any{"need", gib(f.fourBits()), "total", gib(f.saidTotal())} },
		do: func(f *failure) []string {
			return []string{f.comment("do.fsdp_qlora"), f.comment("do.larger_for_weights")}
		}},
}

// backTo is the value that a setting had while it ran: one with such a part in its name, or for "" one that has no row of its own.
func backTo(id string, of kinds, parts ...string) fixRow {
	is := func(before string) bool {
		return slices.ContainsFunc(parts, func(part string) bool {
			return part != "" && strings.Contains(before, part) || part == "" && !strings.Contains(before, "batch")
		})
	}
	return fixRow{id: id, source: sourceAnatomy,
		kinds: of, cost: 0.01, work: true,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85, CauseDataSpike: 0.9, CauseFragmentation: 0.9, CauseOversubscribed: 0.9, CauseMemoryLimit: 0.9, CausePreallocation: 0.6, CauseOtherProcess: 0.4},
		when: func(f *failure) bool {
			before := strings.ToLower(f.ranWith())
			return before != "" && is(before) && !f.told(sampler.ToldAsksMore) && !f.onHost() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
		},
		reach:   always(1.2),
		variant: func(f *failure) string { return "back" },
		pairs:   func(f *failure) []any { return []any{"before", f.ranWith()} },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.set_back", "before", f.ranWith()), f.comment("do.between")}
			if id == FixHalveBatchAccumulate && f.inTraining() && f.accumulates() {
				lines = append(lines, f.comment("do.add_up"))
			}
			return lines
		}}
}

// ranWith is a setting with the value, or things with the number, with which it ran, where it failed with more; "" for none.
func (f *facts) ranWith() string {
	for _, what := range f.context.Told {
		if before, is := strings.CutPrefix(what, sampler.ToldRaised); is {
			return sampler.Clean(before)
		}
	}
	return ""
}

// ranWithLess: with less of something it ran, and nothing else is said to have changed.
func (f *facts) ranWithLess() bool {
	return f.ranWith() != "" && !f.onHost() && !f.numbers() && !f.told(sampler.ToldGrowth) && !f.told(sampler.ToldUpdate) && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving && f.history == nil
}

// runsWith is the kind of weights with which it is said to run; "" for none.
func (f *facts) runsWith() string {
	for _, what := range f.context.Told {
		if kind, is := strings.CutPrefix(what, sampler.ToldRuns); is {
			return sampler.Clean(kind)
		}
	}
	return ""
}

// choosesModel: a known program runs models, and all that can be set lower there is which one.
func (f *facts) choosesModel() bool {
	return f.only() && !slices.ContainsFunc(f.levers(), func(l tools.Lever) bool { return l.Of != tools.Model })
}

// onlyLayers: a known program trains on all at once, and what its authors make smaller is its model.
func (f *facts) onlyLayers() bool {
	return f.tool != nil && f.tool.Does == tools.Trains && !slices.ContainsFunc(f.tool.Levers, func(l tools.Lever) bool { return l.Of != tools.Model })
}

// largeEnough is a GPU on which examples run (own threshold).
const largeEnough = 16 * sampler.GiB

// exampleOnLarge: what its authors give to be tried ran out of memory on a large GPU, so that somebody else is likely to hold it, or
// another GPU was taken than was meant.
func (f *failure) exampleOnLarge() bool {
	return f.told(sampler.ToldExample) && f.saidTotal() >= largeEnough && f.smallable() && !f.told(sampler.ToldSized) && !f.told(sampler.ToldLarger) && f.batch() == 0
}

const (
	// bytesTrained is what a parameter takes with its gradient and what Adam keeps for it: https://arxiv.org/abs/1910.02054, section 3.1.
	bytesTrained = 16
	// mostlyStates of a GPU leave too little for activations and what is gathered for a layer (own threshold).
	mostlyStates = 0.6
)

// toldStates is what weights, gradients and Adam's states take of each GPU where all of a model is trained whose size is named and that is
// sharded over GPUs of which the number is said; 0: not told, or a part of it waits in RAM.
func (f *failure) toldStates() sampler.Bytes {
	all := f.told(sampler.ToldFull) || !f.shows(sampler.ShowsAdapters) && !f.shows(sampler.ShowsFewBits)
	if !all || !f.inTraining() || !f.told(sampler.ToldSharded) || f.told(sampler.ToldOffload) || f.usesLoRA() || f.onHost() || f.numbers() || f.saidTotal() == 0 {
		return 0
	}
	billions, gpus := 0.0, 0.0
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldModelSize); is {
			billions, _ = strconv.ParseFloat(n, 64)
		}
		if n, is := strings.CutPrefix(what, sampler.ToldGPUCount); is {
			gpus, _ = strconv.ParseFloat(n, 64)
		}
	}
	if gpus == 0 {
		return 0
	}
	return sampler.Bytes(billions * 1e9 * bytesTrained / gpus)
}

// littlePicture is a side of pictures of which one at a time fits into most GPUs (own threshold).
const littlePicture = 512

// detectsIn are the sides of pictures of which one at a time fits beside a detector of one stage, on a GPU of that size or a larger one (own
// thresholds: YOLOv5x trains so on 640 pixels in less than 6 GiB).
const (
	detectsIn = 640
	detectsOn = 8 * sampler.GiB
)

// littleAtOnce: a network for pictures learns from one of them at a time, and that is small, so that somebody else is likely to hold the GPU.
func (f *failure) littleAtOnce() bool {
	a, _ := f.command.Find("img", "imgsz", "img_size", "image_size", "crop_size", "resolution")
	side, err := strconv.ParseFloat(a.Value, 64)
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldSide); is && a.Value == "" {
			side, err = strconv.ParseFloat(n, 64)
		}
	}
	most := float64(littlePicture)
	if f.saidTotal() >= detectsOn && (f.isUltralytics() || f.command.Style() == command.StyleYOLOv5 || f.told(sampler.ToldYOLO)) {
		most = detectsIn
	}
	little := err == nil && side > 0 && side <= most
	flat := f.domain() != sampler.DomainVolumes && f.domain() != sampler.DomainVideo
	return little && flat && f.batch() == 1 && f.inTraining() && f.smallable() && f.anybodyElse() && !f.learnsPictures() && !f.told(sampler.ToldPictureSet) && !f.smallest()
}

// smallable: less at once is what is spoken of, and no amounts say more than that.
func (f *failure) smallable() bool {
	return !f.numbers() && !f.onHost() && !f.refusedThoughFree() && f.history == nil && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving && !f.told(sampler.ToldGrowth) && !f.generatesText()
}

// triedParts: tiles or chunks are at work or were tried, and that was not enough.
func (f *facts) triedParts() bool {
	return f.told(sampler.ToldTiles) || f.told(sampler.ToldTriedCut) || f.told(sampler.ToldTried+"chunks")
}

// tiled: it is pictures or volumes that are cut.
func (f *facts) tiled() bool {
	return slices.Contains([]string{sampler.DomainPictures, sampler.DomainVideo, sampler.DomainVolumes}, f.domain()) || f.domain() == "" && f.told(sampler.ToldTriedCut)
}

// exhausted: fewer inputs and smaller ones were both tried, and a larger GPU was not.
func (f *failure) exhausted() bool {
	none := f.oneSample() && (f.triedSize() || f.triedParts()) || f.told(sampler.ToldAnySize) && f.smallest()
	return none && f.smallable() && !f.triedGPU() && !f.told(sampler.ToldNext) && !f.told(sampler.ToldUpdate) && !f.told(sampler.ToldWorked) && !f.toldLarger()
}

// weightsLead: a model is trained on one GPU that its weights in 16 bits all but fill, so that half a batch leaves nearly as much (own thresholds).
func (f *failure) weightsLead() bool {
	n := f.weightsIn(16)
	if n == 0 || !f.program.is(training) || f.program.is(running) || f.onHost() || !f.torchCode() || f.bitsInForce() < 16 || f.told(sampler.ToldTried+"bits") || f.spread() || f.sharded() || f.told(sampler.ToldSharded) || f.deepspeed() || f.fsdp() ||
		f.phase() == sampler.PhaseSaving || f.phase() == sampler.PhaseValidation {
		return false
	}
	if f.numbers() {
		held := f.allocated.Or(0)
		return held > partOf(f.total.Or(0), 0.7) && n > partOf(held, 0.8) && n < partOf(held, 1.1)
	}
	return n > partOf(f.saidTotal(), 0.7) && f.saidTotal() > 0
}

// bitsLeft: adapters are trained, and nothing says that the weights under them have few bits already.
func (f *failure) bitsLeft() bool {
	return f.shows(sampler.ShowsAdapters) && !f.shows(sampler.ShowsFewBits) && !f.told(sampler.ToldTried+"bits") && !f.told(sampler.ToldTried+"bits8")
}

// smallest: the GPU is one of those for which few models are made, as is said (own threshold: 4 GiB).
func (f *failure) smallest() bool {
	total := f.saidTotal()
	return (f.told(sampler.ToldSmallGPU) || total > 0 && total <= 4*sampler.GiB) && !f.total.Known() && !f.tinyGPU() && !f.triedGPU() && !f.onHost() && f.history == nil && !f.numbers() && !f.told(sampler.ToldGrowth) && !f.othersMatter()
}

// fourBits is what the weights of the model that is named take in 4 bits, with their scales; 0: not told.
func (f *facts) fourBits() sampler.Bytes {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldModelSize); is {
			b, _ := strconv.ParseFloat(n, 64)
			return sampler.Bytes(b * 0.5e9 * 1.05)
		}
	}
	return 0
}

// fourBitsOutgrow: adapters are trained on several GPUs, each of which is smaller than the weights in 4 bits.
func (f *failure) fourBitsOutgrow() bool {
	total := f.saidTotal()
	return f.shows(sampler.ShowsFourBits) && (f.told(sampler.ToldGPUs) || f.ranks()) && total > 0 && f.fourBits() >= partOf(total, 0.85) && !f.onHost()
}
