package explain

import (
	"fmt"
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// ipcHost is Docker's option by which a container has the /dev/shm of its machine.
const ipcHost = "--ipc=host"

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
	{id: FixShmSize, source: "https://docs.docker.com/engine/containers/run/",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseSharedMemory: 0.95},
		when: func(f *failure) bool {
			return f.class.class == classShm && !(f.told(sampler.ToldHosted) && !f.shows(sampler.ShowsKubernetes))
		},
		variant: func(f *failure) string {
			if f.inContainer() || f.atHand() {
				return ""
			}
			return "any"
		},
		do: func(f *failure) []string {
			if f.told(sampler.ToldInForce + ipcHost) { // it counts when a container is made, and with it /dev/shm is the machine's
				return []string{"df -h /dev/shm  " + f.comment("do.shm_of_host"), f.comment("do.new_container"), f.comment("do.any_workers")}
			}
			switch {
			case f.told(sampler.ToldNoContainer):
				return []string{"df -h /dev/shm", fmt.Sprintf("sudo mount -o remount,size=%dg /dev/shm  ", f.above("/dev/shm", 16)) + f.comment("do.shm_of_machine"), f.comment("do.any_workers")}
			case f.shows(sampler.ShowsKubernetes):
				return []string{f.comment("do.k8s_shm"), "df -h /dev/shm"}
			}
			return []string{"df -h /dev/shm", fmt.Sprintf("docker run --shm-size=%dg …  ", f.above("--shm-size", 16)) + f.comment("do.or_ipc"), f.comment("do.k8s_shm")}
		}},
	{id: FixReduceDataLoaderWorkers, source: "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseSharedMemory: 0.93},
		when: func(f *failure) bool {
			return f.class.class == classShm && f.told(sampler.ToldHosted) && !f.told(sampler.ToldWorkersOff) && f.workers() != 0
		},
		reach:   always(1),
		variant: func(f *failure) string { return "hosted" },
		do: func(f *failure) []string {
			return []string{f.comment("do.workers_or_none"), f.comment("do.less_between_processes"), "df -h /dev/shm"}
		}},
	{id: FixCheckFiles, source: sourceMapped,
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseSharedMemory: 0.99},
		when:  func(f *failure) bool { return f.mapsFile() },
		reach: always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.check_mapped"), "df -h  " + f.comment("do.full_disk")}
		}},
	{id: FixReduceDataLoaderWorkers, source: "https://github.com/pytorch/pytorch/issues/13246",
		kinds: ownCode, cost: 0.05,
		lives: map[string]float64{CauseHostMemory: 0.8, CauseSharedMemory: 0.6},
		when: func(f *failure) bool {
			return (f.program.kind != inference || f.told(sampler.ToldLoader)) && f.mayHaveWorkers() && !f.told(sampler.ToldVocabulary) && (f.onHost() || f.onWindows() || f.workersDecide()) && !f.tooManyMapsOnly() && f.workers() != 0 && !f.workersSpent() && !slices.Contains([]string{"llama.cpp", "ollama", "tensorflow"}, f.event.Framework)
		},
		reach: func(f *failure) float64 {
			if f.workersDecide() && f.onWindows() {
				return 0.6 // that it helps is known, and a larger page file lets them stay
			}
			if f.workersDecide() {
				return 1
			}
			if !f.onHost() && f.program.is(undecided) {
				return 0.5
			}
			if !f.onHost() {
				return 0.95
			}
			if f.told(sampler.ToldLoader) {
				return 1
			}
			if !f.loaderSeen() {
				return 0.5 // nobody knows of workers
			}
			if f.told(sampler.ToldOffload) {
				return 0.5 // states are kept there on purpose
			}
			return 0.85
		},
		variant: func(f *failure) string {
			if f.readsWithTensorFlow() {
				return "tfdata"
			}
			return ""
		},
		do: doFewerWorkers},
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
	{id: FixSmallerInput, source: "https://pytorch.org/audio/stable/tutorials/audio_io_tutorial.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.93},
		when:    func(f *failure) bool { return f.class.class == classHost && !f.program.is(training) && f.longOnHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "long" },
		do:      func(f *failure) []string { return f.lessInput() }},
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
		when:    func(f *failure) bool { return f.pairsOfAll() > 0 && !f.beyondRAM() },
		reach:   always(1),
		variant: func(f *failure) string { return "pairs" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0)), "n", f.pairsOfAll()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.sparse_pairs"), f.comment("do.pairs_of_part")}
		}},
	{id: FixCapSampleSize, source: "https://numpy.org/doc/stable/reference/generated/numpy.memmap.html",
		kinds: ownCode, cost: 0.1,
		lives:   map[string]float64{CauseHostMemory: 0.92},
		when:    func(f *failure) bool { return f.bigArray() && f.pairsOfAll() == 0 },
		reach:   always(1),
		variant: func(f *failure) string { return "ram" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do: func(f *failure) []string {
			return []string{`np.load(path, mmap_mode="r")  ` + f.comment("do.memmap"), f.comment("do.smaller_array")}
		}},
	{id: FixSmallerModel, source: "https://github.com/ollama/ollama/blob/main/docs/faq.mdx",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.95},
		when:    func(f *failure) bool { _, _, ok := f.hostWants(); return ok },
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
	{id: FixRaiseLimit, source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		kinds: ownCode | running, cost: 0.1,
		lives: map[string]float64{CauseHostMemory: 0.75},
		when: func(f *failure) bool {
			return (f.class.class == classHost || f.onHost() && f.event.Framework == "tensorflow") && f.requested.Or(0) < noMachineHas && !(f.refusedPin() && f.withinWSL())
		},
		variant: func(f *failure) string {
			switch f.event.Framework {
			case "slurm", "kubernetes", "ray":
				return f.event.Framework
			}
			if f.event.Kind == sampler.KindKernelKill || f.event.Framework == "tensorflow" {
				return "machine"
			}
			return "host"
		},
		do: doHostLimit},
	{id: FixRaiseLimit, source: "https://learn.microsoft.com/windows/win32/memory/memory-limits-for-windows-releases",
		kinds: ownCode | running, cost: 0.1,
		lives:   map[string]float64{CauseHostMemory: 0.8},
		when:    func(f *failure) bool { return f.refusedThoughFree() && f.onWindows() },
		variant: func(f *failure) string { return "pagefile" },
		do: func(f *failure) []string {
			list := []string{`systeminfo | findstr /C:"Memory"  ` + f.comment("do.commit"), "SystemPropertiesPerformance.exe  " + f.pageFile()}
			if f.torchCode() && f.program.is(training|undecided) && f.program.name == "" && !f.mayHaveWorkers() {
				list[1] += "\n" + f.comment("do.or_that", "what", f.words.Say("do.any_workers")) // each of them commits some
			}
			return list
		}},
	{id: FixRaiseLimit, source: "https://github.com/ethereum-mining/ethminer/issues/150",
		kinds: ownCode | running, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.9},
		when:    func(f *failure) bool { return f.pageFileShort() },
		reach:   always(1),
		variant: func(f *failure) string { return "gpus" },
		do: func(f *failure) []string {
			if f.onWindows() {
				return []string{"SystemPropertiesPerformance.exe  " + f.comment("do.pagefile_gpus"), f.comment("do.gpus_in_turn")}
			}
			return []string{f.comment("do.swap_gpus"), f.comment("do.gpus_in_turn")}
		}},
	{id: FixRaiseLimit, source: "https://github.com/kohya-ss/sd-scripts/issues/1790",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.97},
		when:    func(f *failure) bool { return f.class.class == classMaps },
		variant: func(f *failure) string { return "maps" },
		do: func(f *failure) []string {
			return []string{"cat /proc/sys/vm/max_map_count", "sudo sysctl -w vm.max_map_count=1048576",
				`torch.multiprocessing.set_sharing_strategy("file_system")  ` + f.comment("do.or")}
		}},
	{id: FixRaiseLimit, source: sourceWSL,
		kinds: ownCode | running, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.85},
		when:    func(f *failure) bool { return (f.maybePinned() || f.refusedPin() && f.withinWSL()) && !f.layered() },
		variant: func(f *failure) string { return "wsl" },
		do:      func(f *failure) []string { return []string{f.comment("do.wslconfig"), "free -g; ulimit -l"} }},
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

// sourceMapped says which accesses to a mapped file end with SIGBUS.
const sourceMapped = "https://man7.org/linux/man-pages/man2/mmap.2.html"

// mapsFile: a bus error of a process without workers, which share nothing then: a file that it maps ends before where it reads, or no
// disk takes what it writes.
func (f *failure) mapsFile() bool {
	return f.class.class == classShm && (f.told(sampler.ToldWorkersOff) || f.workers() == 0)
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

// longOnHost: long recordings or films are told to be what fills the RAM of a program that runs a model.
func (f *failure) longOnHost() bool {
	return f.reported() && (f.told(sampler.ToldLong) || f.told(sampler.ToldLarger)) && (f.domain() == sampler.DomainAudio || f.domain() == sampler.DomainVideo) && !f.told(sampler.ToldGrowth) && f.phase() != sampler.PhaseLoading
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

// pairsOfAll is the number of things of which an array in RAM has a number for each pair; 0: it is another array.
func (f *facts) pairsOfAll() int {
	shape, _ := f.event.Extra["shape"].([]int)
	if f.event.Kind != sampler.KindHostAlloc || len(shape) != 2 || shape[0] != shape[1] || shape[0] < manyRows {
		return 0
	}
	return shape[0]
}

// mayHaveWorkers: it is a run of one's own, or the text shows data loader workers, or a training on Windows, where each takes some of the
// page file. Tools with a window and programs in C++ have none.
func (f *failure) mayHaveWorkers() bool {
	return f.atHand() || f.told(sampler.ToldLoader) || f.workersDecide() || f.shows(sampler.ShowsLoader) || f.loaderSeen() || f.readsWithTensorFlow() || !f.onHost() && f.program.is(training)
}

// loaderSeen: something shows that there are data loader workers, or a training that mostly has some.
func (f *failure) loaderSeen() bool {
	return f.workers() > 0 || f.event.Kind == sampler.KindWorkerKilled && (f.isPyTorch() || f.event.Framework == "paddle") || f.event.Kind == sampler.KindKilled && f.event.Framework != "deepspeed" && f.program.is(training) || f.inFunction("dataloader", "_try_get_data", "_next_data", "_worker_loop") || f.inFile("dataloader") ||
		f.program.is(training) && (f.context.Epoch.Known() || f.context.Step.Known()) && f.event.Kind != sampler.KindCgroupKill && f.event.Kind != sampler.KindKubernetes
}

// workersSpent: with no workers at all, or whatever their number, it ends the same way.
func (f *facts) workersSpent() bool { return f.told(sampler.ToldAnyWorkers) }

// workersMayNot: what grows in RAM need not be the data loader workers: none are spoken of, they were tried without effect, or the one that
// was killed is all there is of them.
func (f *failure) workersMayNot() bool {
	return !f.told(sampler.ToldLoader) || f.event.Kind == sampler.KindWorkerKilled || f.workersSpent()
}

// workersMayGrow: the machine's memory grows, as is said, in a program with data loader workers, and nothing tells which process it is:
// https://github.com/pytorch/pytorch/issues/13246
func (f *failure) workersMayGrow() bool {
	return f.onHost() && !f.hostGrew() && f.told(sampler.ToldGrowth) && (f.told(sampler.ToldLoader) || f.event.Kind == sampler.KindWorkerKilled) && !f.workersSpent()
}

// readsWithTensorFlow: the inputs come through tf.data, which has a buffer to shuffle and no workers.
func (f *failure) readsWithTensorFlow() bool {
	return f.event.Framework == "tensorflow" || f.told(sampler.ToldTFData)
}

func doFewerWorkers(f *failure) []string {
	half := func(v float64) float64 { return float64(int(v) / 2) }
	if text, _, ok := f.command.WithNumber(half, workerNames...); ok {
		return []string{text}
	}
	if f.workersDecide() {
		return []string{f.comment("do.one_worker"), f.comment("do.no_cuda_in_workers")}
	}
	if f.readsWithTensorFlow() {
		return []string{"dataset.shuffle(256).batch(…).prefetch(1)  " + f.comment("do.shuffle_buffer")}
	}
	if f.reported() && !f.told(sampler.ToldLoader) {
		return []string{f.comment("do.any_workers")}
	}
	return []string{"DataLoader(…, num_workers=2)  " + f.comment("do.no_workers")}
}

// pageFile is how large a page file of Windows has to be: larger than what it asked for in RAM, where that is known.
func (f *failure) pageFile() string {
	if need, known := f.requested.Value(); known && f.onHost() && need >= sampler.GiB {
		return f.comment("do.pagefile_need", "need", gib(need))
	}
	return f.comment("do.pagefile")
}

func doHostLimit(f *failure) []string {
	switch f.event.Framework {
	case "slurm":
		measure := "sacct -j JOBID --format=JobID,MaxRSS,ReqMem"
		if slices.Contains(f.numbersInForce("--mem"), 0) { // all that the node has
			return []string{measure, f.comment("do.machine_ram")}
		}
		return []string{fmt.Sprintf("#SBATCH --mem=%dG", f.above("--mem", 128)), measure}
	case "kubernetes":
		return []string{"resources: {limits: {memory: 128Gi}}"}
	case "ray":
		return []string{"@ray.remote(memory=32 * 1024**3)"}
	}
	if f.shows(sampler.ShowsColab) {
		return []string{"free -g", f.comment("do.say.colab")}
	}
	if f.onWindows() {
		return []string{`systeminfo | findstr /C:"Memory"  ` + f.comment("do.task_manager"), "SystemPropertiesPerformance.exe  " + f.pageFile()}
	}
	if f.withinWSL() {
		return []string{"free -g", f.comment("do.wslconfig")}
	}
	if f.shows(sampler.ShowsKubernetes) {
		return []string{"resources: {limits: {memory: 128Gi}}", "cat /sys/fs/cgroup/memory.max; free -g"}
	}
	if f.told(sampler.ToldNoContainer) {
		return []string{"free -g; ps aux --sort=-rss | head", f.comment("do.machine_ram")}
	}
	if f.event.Kind == sampler.KindKernelKill {
		return []string{"free -g; ps aux --sort=-rss | head", f.comment("do.machine_ram")}
	}
	return []string{"cat /sys/fs/cgroup/memory.max; free -g", fmt.Sprintf("docker run --memory=%dg …  ", f.above("--memory", 128)) + f.comment("do.if_container")}
}

// sharesRAM: a board whose GPU has no memory of its own ran out, and not a limit of a container, so that what is held for the GPU counts.
func (f *failure) sharesRAM() bool {
	return f.gpu.soc && f.class.class == classHost && slices.Contains([]string{sampler.KindKilled, sampler.KindKernelKill, sampler.KindHostAlloc}, f.event.Kind)
}
