package explain

import (
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesHost = []fixRow{
	{id: FixSmallerModel, source: "https://docs.nvidia.com/jetson/archives/r36.3/DeveloperGuide/index.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.98},
		when:    func(f *failure) bool { return f.sharesRAM() },
		reach:   always(1.2),
		variant: func(f *failure) string { return "soc" },
		do: func(f *failure) []string {
			lines := []string{f.comment("do.say.soc"), f.comment("do.soc_less")}
			if f.event.Framework == "tensorrt" || f.command.Runs("trtexec") || f.command.HasPlain("onnx") || strings.Contains(strings.ToLower(f.command.Text), "tensorrt") {
				lines = []string{"trtexec --onnx=MODEL.onnx --fp16 --memPoolSize=workspace:256  " + f.comment("do.workspace"), f.comment("do.say.soc")}
			}
			return append(lines, f.comment("do.soc_free"))
		}},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/jetson/archives/r36.3/DeveloperGuide/index.html",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8, CauseOtherProcess: 0.98, CauseMemoryLimit: 0.97},
		when: func(f *failure) bool {
			return f.gpu.soc && !f.onHost() && !f.numbers() && f.history == nil && !f.told(sampler.ToldUpdate)
		},
		reach:   always(1),
		variant: func(f *failure) string { return "soc" },
		do: func(f *failure) []string {
			return []string{f.comment("do.say.soc") + "\n" + f.comment("do.soc_free"), f.comment("do.soc_swap"), f.comment("do.soc_less")}
		}},
	{id: FixLeak, source: "https://docs.rapids.ai/api/dask-cuda/stable/spilling/",
		kinds: ownCode | running, cost: 0.01,
		lives:   map[string]float64{CauseHostMemory: 0.97},
		when:    func(f *failure) bool { return f.onHost() && f.context.Spilled.Or(0) > sampler.GiB },
		reach:   always(1),
		variant: func(f *failure) string { return "spilled" },
		pairs:   func(f *failure) []any { return []any{"size", gib(f.context.Spilled.Or(0))} },
		do: func(f *failure) []string {
			return []string{"LocalCUDACluster(memory_limit=\"48GB\", local_directory=\"/fast/disk\")  " + f.comment("do.spill_to_disk"), f.comment("do.spill_less")}
		}},
	{id: FixLeak, source: "https://docs.ultralytics.com/modes/train/",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseHostMemory: 0.97},
		when:    func(f *failure) bool { return f.onHost() && f.told(sampler.ToldCaches) },
		reach:   always(1),
		variant: func(f *failure) string { return "cached" },
		do:      func(f *failure) []string { return []string{f.comment("do.no_cache"), f.comment("do.cache_on_disk")} }},
	{id: FixLeak, source: "https://huggingface.co/docs/transformers/main_classes/trainer",
		kinds: training | evaluation | undecided, cost: 0.03,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when: func(f *failure) bool {
			return f.class.class == classHost && f.phase() == sampler.PhaseValidation && (!f.reported() || f.told(sampler.ToldResults) || f.inTrainerEvaluation() || f.command.Style() == command.StyleTrainer)
		},
		reach:   always(1),
		variant: func(f *failure) string { return "host_results" },
		do: func(f *failure) []string {
			return []string{"Trainer(…, preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))  " + f.comment("do.transformers"), f.comment("do.metric_per_batch")}
		}},
	{id: FixShrinkValidationBatch, source: "https://docs.pytorch.org/docs/stable/data.html",
		kinds: training | evaluation | undecided, cost: 0.03,
		lives:   map[string]float64{CauseHostMemory: 0.9},
		when:    func(f *failure) bool { return f.class.class == classHost && f.phase() == sampler.PhaseValidation },
		reach:   always(1),
		variant: func(f *failure) string { return "host" },
		do: func(f *failure) []string {
			return []string{"DataLoader(val_dataset, batch_size=1, num_workers=0)  " + f.comment("do.val_loader"), f.comment("do.metric_per_batch")}
		}},
	{id: FixSmallerInput, source: "https://docs.pytorch.org/docs/stable/data.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.93},
		when:    func(f *failure) bool { return f.class.class == classHost && f.told(sampler.ToldFewer) },
		reach:   always(1),
		variant: func(f *failure) string { return "pieces" },
		do:      func(f *failure) []string { return append([]string{f.comment("do.read_in_turn")}, f.lessInput()[0]) }},
	{id: FixSmallerInput, source: "https://docs.nerf.studio/quickstart/data_conventions.html",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseHostMemory: 0.96},
		when:    func(f *failure) bool { return f.holdsScene() },
		reach:   always(1),
		variant: func(f *failure) string { return "scene" },
		do:      func(f *failure) []string { return []string{f.comment("do.scene_smaller"), f.comment("do.scene_bytes")} }},
	{id: FixSmallerInput, source: "https://pytorch.org/audio/stable/tutorials/audio_io_tutorial.html",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.93},
		when:  func(f *failure) bool { return f.class.class == classHost && !f.program.is(training) && f.longOnHost() },
		reach: always(1),
		variant: func(f *failure) string {
			if !f.lasts() {
				return "batch"
			}
			return "long"
		},
		do: func(f *failure) []string { return f.lessInput() }},
	{id: FixSmallerInput, source: "https://github.com/google/sentencepiece/blob/master/doc/options.md",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.95},
		when:    func(f *failure) bool { return f.class.class == classHost && f.told(sampler.ToldVocabulary) },
		reach:   always(1),
		variant: func(f *failure) string { return "vocabulary" },
		do: func(f *failure) []string {
			return []string{"--input_sentence_size=1000000 --shuffle_input_sentence=true  " + f.comment("do.sample_lines"), f.comment("do.more_ram")}
		}},
	{id: FixCapSampleSize, source: "https://docs.scipy.org/doc/scipy/reference/sparse.html",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.95},
		when:    func(f *failure) bool { return f.densePairs() },
		reach:   always(1),
		variant: func(f *failure) string { return "dense" },
		do: func(f *failure) []string {
			return []string{f.comment("do.sparse_pairs"), f.comment("do.pairs_of_part")}
		}},
	{id: FixCapSampleSize, source: "https://docs.scipy.org/doc/scipy/reference/sparse.html",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.95},
		when:    func(f *failure) bool { return f.pairsOfAll() > 0 && !f.beyondRAM() },
		reach:   always(1),
		variant: func(f *failure) string { return "pairs" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0)), "n", f.pairsOfAll()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.sparse_pairs"), f.comment("do.pairs_of_part")}
		}},
	{id: FixCapSampleSize, source: "https://docs.scipy.org/doc/scipy/reference/sparse.html",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.95},
		when:    func(f *failure) bool { return f.madeDense() && !f.beyondRAM() },
		reach:   always(1),
		variant: func(f *failure) string { return "counts" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do: func(f *failure) []string {
			return []string{f.comment("do.sparse_counts"), f.comment("do.part_of_rows")}
		}},
	{id: FixCapSampleSize, source: "https://numpy.org/doc/stable/reference/generated/numpy.memmap.html",
		kinds: ownCode, cost: 0.1,
		lives:   map[string]float64{CauseHostMemory: 0.92},
		when:    func(f *failure) bool { return f.bigArray() && f.pairsOfAll() == 0 && !f.longOnHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "ram" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do: func(f *failure) []string {
			return []string{`np.load(path, mmap_mode="r")  ` + f.comment("do.memmap"), f.comment(f.smallerArray())}
		}},
	{id: FixCapSampleSize, source: "https://numpy.org/doc/stable/reference/generated/numpy.memmap.html",
		kinds: ownCode, cost: 0.1,
		lives:   map[string]float64{CauseHostMemory: 0.92},
		when:    func(f *failure) bool { return f.makesArray() && !f.bigArray() },
		reach:   always(1),
		variant: func(f *failure) string { return "made" },
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_array_rows"), f.comment("do.array_on_disk")}
		}},
	{id: FixSmallerModel, source: "https://github.com/ollama/ollama/blob/main/docs/faq.mdx",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.95},
		when: func(f *failure) bool {
			_, _, ok := f.hostWants()
			return ok || f.event.Kind == sampler.KindGGML && f.onHost() && f.phase() == sampler.PhaseLoading && !f.refusedPinned()
		},
		variant: func(f *failure) string { return "ram" },
		do: func(f *failure) []string {
			return []string{f.comment("do.smaller_quant"), f.comment("do.shorter_context")}
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/quantization/overview",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when: func(f *failure) bool {
			return f.class.class == classHost && f.phase() == sampler.PhaseLoading && f.torchCode() && !f.loadsInRanks() && !quantized.Get().MatchString(f.command.Text)
		},
		variant: func(f *failure) string { return "host" },
		do: func(f *failure) []string {
			return []string{`from_pretrained(name, load_in_8bit=True, device_map="auto")  ` + f.comment("do.transformers"),
				`from_pretrained(name, torch_dtype="auto", low_cpu_mem_usage=True)  ` + f.comment("do.or")}
		}},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/transformers/big_models",
		kinds: server | inference | undecided, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.97},
		when: func(f *failure) bool {
			return f.class.class == classHost && f.phase() == sampler.PhaseLoading && (f.program.reserves() || f.told(sampler.ToldCured+"shards")) && !f.loadsInRanks()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "shards" },
		do: func(f *failure) []string {
			size := "5GB"
			if !f.program.reserves() {
				size = "2GB" // for a machine on which the usual ones are too large
			}
			return []string{`model.save_pretrained(path, max_shard_size="` + size + `", safe_serialization=True)  ` + f.comment("do.shards"), f.comment("do.sixteen_on_disk")}
		}},
	{id: FixShardOrOffload, source: "https://huggingface.co/docs/transformers/deepspeed",
		kinds: ownCode | server, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.97},
		when:    func(f *failure) bool { return f.loadsInRanks() },
		reach:   always(1),
		variant: func(f *failure) string { return "load_once" },
		do:      doLoadOnce},
	{id: FixShortenContext, source: sourceLlama,
		kinds: server, cost: 0.1,
		lives: map[string]float64{CauseHostMemory: 0.85}, // the layers that are not on the GPU have their cache in RAM
		when: func(f *failure) bool {
			return f.onHost() && f.event.Kind == sampler.KindGGML && f.hasKnob(FixShortenContext) && !f.refusedPinned() && !f.shortest()
		},
		do: func(f *failure) []string { return f.turnKnobs(FixShortenContext) }},
	{id: FixHalveBatchAccumulate, source: "https://www.tensorflow.org/guide/data_performance",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseHostMemory: 0.9},
		when: func(f *failure) bool {
			return f.onHost() && f.event.Framework == "tensorflow" && f.class.class == classAllocator && f.event.Extra["shape"] != nil
		},
		reach:   always(1),
		variant: func(f *failure) string { return "queues" },
		do: func(f *failure) []string {
			list := []string{f.comment("do.queues"), f.smallerSample()}
			switch b := f.context.BatchSize.Or(0); {
			case b > 1:
				return append([]string{f.comment("do.batch_plain", "before", b, "after", b/2)}, list...)
			case b == 0 && !f.told(sampler.ToldTried+"batch"):
				return append([]string{f.comment("do.batch_only", "k", 2)}, list...)
			}
			return list
		}},
	{id: FixReducePinnedMemory, source: "https://www.deepspeed.ai/docs/config-json/",
		kinds: ownCode | running, cost: 0.01,
		lives:   map[string]float64{CauseHostMemory: 0.98},
		when:    func(f *failure) bool { return f.swapsToDisk() && f.event.Kind == sampler.KindHostAlloc },
		reach:   always(1),
		variant: func(f *failure) string { return "swapper" },
		do: func(f *failure) []string {
			return []string{`{"offload_param": {"device": "nvme", "buffer_count": 5, "buffer_size": 3e8}}  ` + f.comment("do.swap_buffers"), f.comment("do.swap_largest")}
		}},
	{id: FixReducePinnedMemory, source: sourceLlama,
		kinds: server, cost: 0,
		lives: map[string]float64{CauseHostMemory: 0.95},
		when:  func(f *failure) bool { return (f.maybePinned() || f.refusedPin()) && f.layered() || f.refusedPinned() },
		do:    func(f *failure) []string { return []string{"export GGML_CUDA_NO_PINNED=1", f.comment("do.wslconfig")} }},
	{id: FixConfirmHostKill, source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		kinds: ownCode | running, cost: 0.3,
		lives: map[string]float64{CauseHostMemory: 0.75},
		when: func(f *failure) bool {
			return (f.class.kind == sampler.KindKilled || f.class.kind == sampler.KindWorkerKilled) && !f.onWindows()
		},
		do: func(f *failure) []string {
			return []string{"sudo dmesg -T | grep -i -E 'killed process|oom'", "cat /sys/fs/cgroup/memory.events"}
		}},
}

// swapsToDisk: DeepSpeed keeps parameters on a disk, and reads them into a pool of buffers in RAM that is as large as its configuration has it, whatever
// the batch: buffer_count times buffer_size values.
func (f *failure) swapsToDisk() bool {
	return f.deepspeed() && (f.command.HasPlain("disk_offload", "offload_dir", "nvme_path") || f.inFile("swap_tensor/") || f.inCode("nvme") || indexOf(f.event.Text, "nvme") >= 0)
}

// loadsInRanks: each process of a job puts all of the model into RAM: it is said, or a model that is to be sharded is loaded.
func (f *failure) loadsInRanks() bool {
	return f.class.class == classHost && (f.told(sampler.ToldCopies) || f.told(sampler.ToldSharded) && f.phase() == sampler.PhaseLoading)
}

func doLoadOnce(f *failure) []string {
	switch {
	case !f.told(sampler.ToldSharded):
		return []string{f.comment("do.load_in_turn")}
	case f.deepspeed():
		return []string{"dschf = HfDeepSpeedConfig(ds_config)  " + f.comment("do.before_from_pretrained"), f.comment("do.zero_init_own")}
	}
	return []string{"accelerate launch --fsdp_cpu_ram_efficient_loading true --fsdp_sync_module_states true …  " + f.comment("do.one_rank_reads"), f.comment("do.load_in_turn")}
}

// bigArray: one array of a size that stands out was refused in RAM, and no model was being loaded.
func (f *failure) bigArray() bool {
	return f.event.Kind == sampler.KindHostAlloc && f.requested.Or(0) >= sampler.GiB && f.phase() != sampler.PhaseLoading && !f.layered() &&
		f.event.Framework != "pytorch" && f.event.Framework != "tensorflow"
}

// longOnHost: long recordings or films, or large pictures, are told to be what fills the RAM of a program that runs a model, or one array of them was
// refused in a program whose code nobody who runs it changes.
func (f *failure) longOnHost() bool {
	if f.told(sampler.ToldGrowth) || f.phase() == sampler.PhaseLoading {
		return false
	}
	if f.bigArray() && f.only() {
		return f.lasts()
	}
	still := f.domain() == sampler.DomainPictures || f.domain() == sampler.DomainVolumes
	return f.reported() && !f.requested.Known() && (f.lasts() && (f.told(sampler.ToldLong) || f.told(sampler.ToldLarger)) || still && (f.told(sampler.ToldLarger) || f.namesSize()) && f.program.is(inference|evaluation))
}

// lasts: what it works on has a length in time.
func (f *facts) lasts() bool {
	return f.domain() == sampler.DomainAudio || f.domain() == sampler.DomainVideo
}

// refusedPinned: llama.cpp could not pin host memory, which it can do without.
func (f *facts) refusedPinned() bool {
	return f.event.Kind == sampler.KindGGML && f.onHost() && indexOf(f.event.Text, "pinned memory") >= 0
}

const (
	// noMachineHas is more RAM than somebody can add to a machine (own threshold).
	noMachineHas = 1024 * sampler.GiB
	// manyRows are more rows than a picture has: an array with as many columns is of all pairs of something (own threshold).
	manyRows = 50000
)

// manyColumns of as many rows are counts of genes, words or categories, of which nearly all are zero (own threshold).
const manyColumns = 10000

// madeDense: an array of that many columns and more rows was refused in RAM, which a sparse matrix holds in a small part of it.
func (f *facts) madeDense() bool {
	shape, _ := f.event.Extra["shape"].([]int)
	return f.event.Kind == sampler.KindHostAlloc && f.pairsOfAll() == 0 && len(shape) == 2 && min(shape[0], shape[1]) >= manyColumns && max(shape[0], shape[1]) >= manyRows
}

// pairsOfAll is the number of things of which an array in RAM has a number for each pair; 0: it is another array.
func (f *facts) pairsOfAll() int {
	shape, _ := f.event.Extra["shape"].([]int)
	if f.event.Kind != sampler.KindHostAlloc || len(shape) != 2 || shape[0] != shape[1] || shape[0] < manyRows {
		return 0
	}
	return shape[0]
}

// sharesRAM: a board whose GPU has no memory of its own ran out, and not a limit of a container, so that what is held for the GPU counts.
func (f *failure) sharesRAM() bool {
	return f.gpu.soc && f.class.class == classHost && slices.Contains([]string{sampler.KindKilled, sampler.KindKernelKill, sampler.KindHostAlloc}, f.event.Kind)
}

// holdsScene: a scene is fitted to photos, of which most such programs read all at the start, as floats of four times their bytes, and a killed
// process is told without a word of workers or of memory that grew.
func (f *failure) holdsScene() bool {
	return f.class.class == classHost && (f.splats() || f.domain() == sampler.DomainRays) && f.workers() <= 0 && f.event.Kind != sampler.KindWorkerKilled && !f.told(sampler.ToldGrowth) && !f.hostGrew()
}
