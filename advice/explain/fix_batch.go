package explain

import (
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// folds: a protein is folded, one at a time.
func (f *failure) folds() bool { return f.program.name == "alphafold" && f.program.is(running) }

var fixesBatch = []fixRow{
	{id: FixHalveBatchAccumulate, source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		kinds: ownCode, cost: 0.2,
		lives: map[string]float64{CauseTooBig: 0.95, CauseDataSpike: 0.88, CauseFragmentation: 0.95, CauseOtherProcess: 0.3, CauseUnattributed: 0.3, CauseImbalance: 0.4, CauseOversubscribed: 0.9, CauseMemoryLimit: 0.5, CausePreallocation: 0.2, CauseUnknown: 0.5, CauseLeak: 0.03, CauseValidationSpike: 0.05},
		when: func(f *failure) bool {
			return f.batch() != 1 && (f.phase() != sampler.PhaseValidation || f.testsOnly() && f.typesBatch()) && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving && !f.onHost() && !f.refusedThoughFree() && !f.notBegun() && !f.growsTrees() && !f.makesWeights() && !f.told(sampler.ToldTables) && f.event.Framework != "relion" && !f.folds() && !f.told(sampler.ToldInForce+"subdivisions=64") && !f.trainsWhole()
		},
		variant: func(f *failure) string {
			switch {
			case f.simulates():
				return "environments"
			case f.wholeGraph():
				return "graph"
			case f.told(sampler.ToldDarknet):
				return "darknet"
			case f.program.is(running):
				return "inference"
			case f.program.is(undecided) && !f.isUltralytics():
				return "either"
			case f.isUltralytics() || f.command.Style() == command.StyleYOLOv5:
				if _, _, ok := f.smallerPictures(); ok && f.batch() > 0 {
					return "ultralytics_size"
				}
				return "ultralytics"
			case f.batchUnsaid():
				return "sample"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			k := float64(f.batchFactor())
			return f.scaling().times(1-1/k, 1-1/k), f.allocated.Known()
		},
		reach: func(f *failure) float64 {
			if f.stateDominated() && !f.program.is(running) {
				return 0.1
			}
			if f.batchIsAuto() {
				return 0.95
			}
			if f.wantsBatch() {
				return 0.3 // that it runs with less is known, and not what is wanted
			}
			if f.told(sampler.ToldOutsized) || f.told(sampler.ToldFirstGPU) && !f.numbers() {
				return 0.3 // one GPU of several has too much, the others have room
			}
			if f.recorded() && f.lateTraining() && f.bigRequest() && f.unusualRequest() && !f.leapt() {
				return 0.85 // one sample may be all that was too large
			}
			if f.nothingFreed() {
				return 0.5
			}
			if f.program.is(running) && f.batch() == 0 && !f.takesBatches() && !f.told(sampler.ToldTiny) && (!f.told(sampler.ToldAsksBatch) || f.namesSize()) {
				return 0.5 // most run one input at a time
			}
			if f.toldSame() || f.toldLarger() {
				return 0.65 // half a batch may still hold the sample that is too large
			}
			if f.asksForStep() {
				return 0.9 // all but the weights is of the batch
			}
			if !f.numbers() {
				return 0.8
			}
			if f.requested.Or(0) > f.total.Or(0) {
				return 0.5 // helps only if that tensor has a batch dimension
			}
			gain := f.scaling().times(1-1/float64(f.batchFactor()), 1-1/float64(f.batchFactor()))
			chance := gain.covers(f.needed())
			if f.batchFactor() > 2 {
				chance *= 0.8 // dearer than halving, so other strong measures come first
			}
			return chance
		},
		pairs: halvedBatch,
		do:    doHalveBatch},
	{id: FixHalveBatchAccumulate, source: "https://huggingface.co/docs/transformers/main_classes/pipelines",
		kinds: evaluation | inference, cost: 0.05, // the answers are the same
		lives: map[string]float64{CauseTooBig: 0.9, CauseDataSpike: 0.9, CauseFragmentation: 0.9, CauseUnknown: 0.55},
		when: func(f *failure) bool {
			return (f.batch() > 1 || f.batch() == 0 && f.told(sampler.ToldAsksBatch) && !f.namesSize()) && (!f.numbers() || (f.recorded() || f.testsOnly()) && f.typesBatch()) && !f.impossible() && !f.onHost() && f.phase() != sampler.PhaseLoading
		},
		variant: func(f *failure) string { return "inference" },
		pairs:   halvedBatch,
		do:      doHalveBatch},
	{id: FixHalveBatchAccumulate, source: "https://github.com/ultralytics/yolov5/issues/1480",
		kinds: training | undecided, cost: 0.05,
		lives: map[string]float64{CauseHostMemory: 0.92, CauseMemoryLimit: 0.6, CauseUnknown: 0.6},
		when: func(f *failure) bool { // what is asked for at once must find pages too
			return f.refusedThoughFree() && f.onWindows() && f.bigRequest() && f.batch() != 1 && f.inTraining()
		},
		reach: func(f *failure) float64 {
			if f.requested.Or(0) >= f.total.Or(0)/3 {
				return 1
			}
			return 0.85
		},
		variant: func(f *failure) string { return "windows" },
		pairs:   halvedBatch,
		do:      doHalveBatch},
	{id: FixSmallerModel, source: "https://huggingface.co/docs/diffusers/training/lora",
		kinds: ownCode | imageTool, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9},
		when: func(f *failure) bool {
			return f.told(sampler.ToldThrifty) && !f.usesLoRA() && !f.onHost() && !f.refusedThoughFree()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "painter_lora" },
		do: func(f *failure) []string {
			return []string{f.comment("do.painter_lora"), f.comment("do.painter_one")}
		}},
	{id: FixSmallerOptimizer, source: "https://github.com/kohya-ss/sd-scripts/blob/main/docs/train_network_README-ja.md",
		kinds: training | undecided, cost: 0.08, // what is left of a picture at a time whose activations are computed again
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65},
		when: func(f *failure) bool {
			return f.shows(sampler.ShowsSDScripts) && f.batch() == 1 && f.checkpointing() && f.inTraining() && f.optimizer() != "adam8bit" && f.optimizer() != "adafactor" && !f.onHost() && !f.refusedThoughFree()
		},
		reach: always(1),
		do: func(f *failure) []string {
			lines := []string{"--optimizer_type AdamW8bit  " + f.comment("do.kohya")}
			if !slices.ContainsFunc(f.command.Scripts(), func(s string) bool { return strings.Contains(s, "train_network") }) {
				lines = append(lines, f.comment("do.lora_instead"))
			}
			return lines
		}},
	{id: FixSmallerOptimizer, source: "https://huggingface.co/docs/bitsandbytes/optimizers",
		kinds: training, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.7},
		when: func(f *failure) bool { // the gradients of one sample were there, and what the optimizer keeps was not
			return f.batch() == 1 && (f.inOptimizer() || f.inFile("optim/optimizer.py")) && f.isPyTorch() && f.optimizer() != "sgd" && f.optimizer() != "adam8bit" && f.optimizer() != "adafactor" && !f.numbers() && !f.onHost() && !f.usesLoRA()
		},
		reach: always(1),
		do: func(f *failure) []string {
			return withLine(doSmallerOptimizer(f), f.comment("do.or_adapters"))
		}},
}

// halvedBatch is what a batch cut to a part of it brings.
func halvedBatch(f *failure) []any {
	k := f.batchFactor()
	s, _ := f.command.SmallerBatch(k)
	gain := f.scaling().times(1-1/float64(k), 1-1/float64(k))
	return []any{"cut", f.words.Say("cut." + plainNumber(float64(k))), "k", k, "before", s.Before, "after", s.Batch, "gain", f.gainText(gain, k),
		"need", gib(f.needed()), "states", f.statesText()}
}

// typesBatch: the command sets a batch that can be halved, and that is of what ran: not of the training of a script that was told to
// evaluate only.
func (f *failure) typesBatch() bool {
	s, ok := f.command.SmallerBatch(2)
	a, _, _ := f.command.BatchArgument()
	return ok && s.Batch < s.Before && !(f.program.is(running) && strings.Contains(a.Plain, "train"))
}

// smallerPictures is the command with pictures of two thirds of the side, where it names their size.
func (f *failure) smallerPictures() (text, name string, ok bool) {
	return f.command.WithLess(func(v float64) float64 { return max(32, float64(int(v*2/3)/32*32)) }, "img", "imgsz", "img_size", "image_size", "crop_size", "resolution")
}

// layerInPython: the script of Fast R-CNN, or of a program made from it, trains: its data come from a layer in Python, which no prototxt gives a batch.
// https://github.com/rbgirshick/py-faster-rcnn/blob/master/lib/fast_rcnn/config.py
func (f *failure) layerInPython() bool {
	return slices.ContainsFunc(slices.Concat(f.command.Scripts(), f.context.Scripts), func(s string) bool { return strings.HasSuffix(s, "train_net.py") })
}

// wholeGraph: a single graph is trained on as it is, which has no batch.
func (f *failure) wholeGraph() bool {
	return f.told(sampler.ToldWholeGraph) && f.domain() == sampler.DomainGraph
}

// batchUnsaid: no command tells the batch size, so that it may be small already, and what shrinks then are the samples.
func (f *failure) batchUnsaid() bool {
	_, ok := f.command.SmallerBatch(2)
	return !ok && !f.batchIsAuto() && f.command.DeepspeedConfig() == ""
}

// simulates: many copies of an environment live on the GPU, and their number is what a batch is elsewhere.
func (f *failure) simulates() bool {
	return f.inFile("isaacgym", "legged_gym", "isaaclab", "omni/isaac", "rsl_rl", "mani_skill", "brax") || f.command.HasPlain("num_envs")
}

func doHalveBatch(f *failure) []string {
	k := f.batchFactor()
	if f.simulates() {
		half := func(v float64) float64 { return float64(max(1, int(v)/k)) }
		if text, _, ok := f.command.WithLess(half, "num_envs"); ok {
			return []string{text}
		}
		return []string{"--num_envs 512 --headless  " + f.comment("do.fewer_envs")}
	}
	if f.wholeGraph() && f.told(sampler.ToldNoBatch) && !f.inFile("torch_geometric/") {
		return f.lessInput() // of a program whose author uses no loader
	}
	if f.wholeGraph() && f.usesDGL() {
		return []string{"dgl.dataloading.DataLoader(graph, train_ids, dgl.dataloading.NeighborSampler([15, 10]), batch_size=1024)"}
	}
	if f.wholeGraph() {
		return []string{"NeighborLoader(data, num_neighbors=[15, 10], batch_size=1024, input_nodes=data.train_mask)  " + f.comment("do.neighbors"), f.comment("do.sparse_edges")}
	}
	if f.told(sampler.ToldDarknet) {
		return []string{"subdivisions=64  " + f.comment("do.subdivisions")}
	}
	if f.event.Framework == "caffe" && f.layerInPython() {
		return []string{f.comment("do.config_py"), f.comment("do.config_py_rois")}
	}
	if f.event.Framework == "caffe" && !f.program.is(training) && f.batch() == 0 {
		return []string{f.smallerSample(), f.comment("do.prototxt")} // who runs a model of others has no prototxt to change
	}
	if f.event.Framework == "caffe" {
		return []string{f.comment("do.prototxt"), f.smallerSample()}
	}
	if s, ok := f.command.SmallerBatch(k); ok {
		if f.program.is(running) {
			a, _, _ := f.command.BatchArgument()
			return []string{f.command.Apply([]command.Edit{f.command.ReplaceValue(a, plainNumber(float64(s.Batch)))})}
		}
		lines := append([]string{s.Text}, f.caveats(s)...)
		if text, name, ok := f.smallerPictures(); ok && f.program.is(training) {
			lines = append(lines, text+"  "+f.comment("do.or_size", "name", name))
		}
		if more, ok := f.command.SmallerBatch(2 * k); ok && f.context.FirstStep && !f.inBackward() && more.Batch < s.Batch {
			lines = append(lines, f.comment("do.then_more")+"\n"+more.Text)
		}
		return lines
	}
	if f.batchIsAuto() {
		a, _ := f.command.Find(autoBatchNames...)
		return []string{f.command.Apply([]command.Edit{f.command.ReplaceValue(a, "4")})}
	}
	if config := f.command.DeepspeedConfig(); config != "" {
		return []string{f.comment("do.deepspeed", "file", sampler.Clean(config), "k", k)}
	}
	if b := f.batch(); b > 1 {
		smaller, steps := command.SplitBatch(b, k)
		if !f.program.is(training) || !f.accumulates() {
			plain := []string{f.comment("do.batch_plain", "before", b, "after", smaller)}
			if !f.program.is(running) {
				plain = append(plain, f.smallerSample())
			}
			return plain
		}
		return slices.Concat([]string{f.comment("do.batch_known", "before", b, "after", smaller, "steps", steps), f.smallerSample()}, f.orSmallerModel(), f.smallGPU())
	}
	if !f.program.is(training) {
		either := []string{f.comment("do.batch_either", "k", k)}
		if f.eachSample() != "" {
			only := "do.batch_where"
			if f.told(sampler.ToldBatch) || f.told(sampler.ToldAsksBatch) {
				only = "do.batch_only"
			}
			either = []string{f.comment(only, "k", k), f.smallerSample()}
		}
		return append(either, f.smallGPU()...)
	}
	unknown := "do.batch_unknown"
	if !f.accumulates() {
		unknown = "do.batch_only"
	}
	list := slices.Concat([]string{f.comment(unknown, "k", k)}, f.orFewerStates(), f.orSmallerModel(), []string{f.smallerSample()}, f.smallGPU())
	if f.class.class == classNoNumbers && f.inBackward() && f.ownLoop() && !f.context.FirstStep { // nothing tells in which step
		list = withLine(list, f.comment("do.if_later"))
	}
	return list
}

// largestGPUs have so much that of what people train on one of them mostly a large model is what does not fit (own threshold).
const largestGPUs = 75 * sampler.GiB

// orFewerStates says of how large a model such a GPU holds what is trained, where nothing tells what it is.
func (f *failure) orFewerStates() []string {
	if f.saidTotal() < largestGPUs || f.severalGPUs() || f.numbers() || f.batch() > 0 || f.told(sampler.ToldBatch) || f.domain() != "" && f.domain() != sampler.DomainText || f.usesLoRA() || f.event.Framework == "tensorflow" || f.event.Framework == "jax" {
		return nil
	}
	return []string{f.comment("do.or_states", "billions", int(float64(f.saidTotal())/bytesTrained/1e9))}
}

// orSmallerModel names the model where whoever writes asks for that, or where the batch is small already.
func (f *failure) orSmallerModel() []string {
	if f.told(sampler.ToldSmallerModel) || f.batch() > 0 && f.batch() <= largeBatch {
		return []string{f.comment("do.or_smaller_model")}
	}
	return nil
}

// largeBatch can be halved more than once (own threshold).
const largeBatch = 8

// kohyaMore are further options of sd-scripts, as far as its script has them: only that for networks can leave out the text encoder, and only those
// for transformers can swap blocks. https://github.com/kohya-ss/sd-scripts/blob/main/library/train_util.py
func (f *failure) kohyaMore() string {
	line := "--optimizer_type AdamW8bit"
	scripts := append(f.command.Scripts(), f.context.Scripts...)
	of := func(part string) bool {
		return slices.ContainsFunc(scripts, func(s string) bool { return strings.Contains(s, part) })
	}
	if !of("train") || of("train_network") {
		line += " --network_train_unet_only"
	}
	if f.told(sampler.ToldLargePainter) || of("flux_") || of("sd3_") || of("lumina_") {
		line += " --blocks_to_swap 16"
	}
	return line
}
