package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

var fixesValidation = []fixRow{
	{id: FixShrinkValidationBatch, source: "https://huggingface.co/docs/transformers/main_classes/trainer",
		kinds: training | evaluation | undecided, cost: 0.05,
		lives: map[string]float64{CauseValidationSpike: 0.92, CauseOtherProcess: 0.3},
		when: func(f *failure) bool {
			return f.phase() == sampler.PhaseValidation && !f.failedBuilding() && !f.validatesBlindly() && !(f.testsOnly() && f.typesBatch())
		},
		variant: func(f *failure) string { return f.validationVariant() },
		saves: func(f *failure) (span, bool) {
			k := float64(f.validationFactor())
			low := partOf(f.requested.Or(0), 1-1/k)
			return span{low, low + partOf(f.footprint.activations.mid(), 1-1/k)}, f.requested.Known() && !f.scoresOutputs()
		},
		reach: func(f *failure) float64 {
			if f.slides() {
				return 0.9 // of the windows alone
			}
			if f.scoresOutputs() {
				return 1 // there is room in RAM for what lies on the GPU
			}
			if f.postProcesses() {
				return 0.4 // of one input, whatever the batch
			}
			if f.impossible() && f.program.is(evaluation) {
				return 0.4 // one input at a time is what most evaluate with
			}
			if f.batch() == 1 && (f.reported() || f.triedGPU()) {
				return 0.3
			}
			if f.history == nil && (f.creepsUp() || !f.numbers()) && f.torchCode() && !f.graphOff() {
				return 0.8 // the graph of half the batch may fill the GPU as well
			}
			if k := float64(f.validationFactor()); partOf(f.requested.Or(0), 1-1/k) < f.shortfallOr0() {
				return 0.9
			}
			return 0.97
		},
		pairs: func(f *failure) []any {
			s, _ := f.command.SmallerEvalBatch(f.validationFactor())
			return []any{"part", f.words.Say("part." + plainNumber(float64(f.validationFactor()))), "before", s.Before, "after", s.Batch}
		},
		do: doShrinkValidation},
	{id: FixNoGradValidation, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: training | evaluation | undecided, cost: 0.02,
		lives: map[string]float64{CauseValidationSpike: 0.95, CauseLeak: 0.9},
		when:  func(f *failure) bool { return f.validatesBlindly() },
		reach: func(f *failure) float64 {
			if f.told(sampler.ToldGrowth) {
				return 0.8 // a graph or a batch that is too large fails in the first validation; what grows is kept from one to the next
			}
			return 1
		},
		variant: func(f *failure) string { return "both" },
		do: func(f *failure) []string {
			return append(doNoGrad(f), doShrinkValidation(f)...)
		}},
	{id: FixNoGradValidation, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: training | evaluation | undecided, cost: 0,
		lives: map[string]float64{CauseValidationSpike: 0.8, CauseLeak: 0.9},
		when: func(f *failure) bool {
			return f.phase() == sampler.PhaseValidation && f.torchCode() && !f.graphOff() && !f.validatesBlindly()
		},
		saves: func(f *failure) (span, bool) {
			return span{0, f.footprint.activations.high}, f.allocated.Known()
		},
		reach: func(f *failure) float64 {
			if f.postProcesses() {
				return 0.2 // no layer asks for it
			}
			if f.told(sampler.ToldLate) {
				return 0.3 // a graph that is kept would have shown in the first validation
			}
			if f.asksLargeTest() {
				return 0.5
			}
			if f.domain() == sampler.DomainRays && !f.told(sampler.ToldTried+"chunks") {
				return 0.6 // what renders whole views keeps no graph in most programs
			}
			if f.history == nil && (f.creepsUp() || !f.numbers()) {
				return 1
			}
			return 0.7
		},
		do: doNoGrad},
}

// validatesBlindly: nothing tells whether the graph of validation is kept or its batch is too large. Both are
// changed in the same lines, and of public threads each was what helped in half.
func (f *failure) validatesBlindly() bool {
	if f.samplesBetween() && f.leapt() && !f.graphOff() {
		return true // what runs a model without its graph needs less than a step of its training
	}
	if f.phase() != sampler.PhaseValidation || f.numbers() || f.history != nil || !f.torchCode() || f.graphOff() || f.isUltralytics() || f.failedBuilding() || f.keepsResults() || f.domain() == sampler.DomainRays && !f.told(sampler.ToldTried+"chunks") || f.scoresOutputs() || f.asksLargeTest() {
		return false
	}
	_, batch := f.command.EvalBatchArgument()
	return !batch
}

// largeTest is more than one layer of a graph takes (own threshold).
const largeTest = 4 * sampler.GiB

// asksLargeTest: a test asks for so much at once that its input is large, not that it keeps a graph.
func (f *failure) asksLargeTest() bool {
	return f.testsOnly() && f.requested.Or(0) >= largeTest
}

// creepsUp: all that was asked for is next to nothing of what is held already, as where each layer's activations
// are kept. One large tensor is the batch or the sample (own threshold: 2 %).
func (f *failure) creepsUp() bool {
	return f.numbers() && f.allocated.Known() && f.requested.Or(0) < partOf(f.allocated.Or(0), 0.02)
}

func doNoGrad(f *failure) []string {
	if f.shows(sampler.ShowsBeforeNoGrad) {
		return []string{f.comment("do.say.volatile")}
	}
	around := f.comment("do.around_forward")
	if f.phase() == sampler.PhaseValidation {
		around = f.comment("do.around_validation")
	}
	if f.program.is(inference) {
		around = f.comment("do.around_run")
	}
	if f.event.Framework == "" {
		around = f.comment("do.any_torch")
	}
	return []string{"model.eval()\nwith torch.no_grad():  " + around}
}

// scoreWords are of functions that judge what a model gave before.
var scoreWords = []string{"score", "scores", "scoring", "metric", "metrics", "accuracy", "accuracies", "acc", "recall", "auc", "mrr", "rank", "ranks", "ranking", "distance", "distances", "dist", "distmat", "similarity", "similarities", "topk"}

// scoresOutputs: a validation had its outputs, all of them, and died of what is computed from them on the GPU: the innermost
// functions are about scores, and no model runs.
func (f *failure) scoresOutputs() bool {
	names := f.context.Functions
	if f.onHost() || f.phase() != sampler.PhaseValidation || !f.torchCode() || f.inFunction("forward", "_call_impl") || f.inTrainerEvaluation() {
		return false
	}
	return slices.ContainsFunc(names[max(0, len(names)-2):], func(name string) bool { // PyTorch's own may stand below
		return slices.ContainsFunc(strings.Split(strings.ToLower(name), "_"), func(word string) bool { return slices.Contains(scoreWords, word) })
	})
}

// postWords are of functions that turn what a model gave for one whole input into what is judged or saved, without the model.
var postWords = []string{"_postprocessing", "postprocess", "post_process", "engine_post_transform", "one_hot", "onehot", "paste_masks", "paste_mask", "mask_iou", "masks_iou", "box_iou", "bbox_iou", "pairwise_iou"}

// postProcesses: it died of what is made of one prediction once it is whole: classes times all voxels or pixels of the input.
// Neither a batch nor a window of the model changes its size.
func (f *failure) postProcesses() bool {
	names := f.context.Functions
	if f.onHost() || len(names) == 0 || !f.torchCode() || !f.bigRequest() || f.inFunction("forward", "_call_impl", "backward", "sliding_window") {
		return false
	}
	return f.inFile("transforms/post/") || slices.ContainsFunc(names[max(0, len(names)-4):], func(name string) bool {
		return slices.ContainsFunc(postWords, func(word string) bool { return strings.HasPrefix(strings.ToLower(name), word) })
	})
}

// slides: a window slides over a volume, whose output MONAI puts together on the GPU unless it is told otherwise.
func (f *failure) slides() bool {
	return f.torchCode() && (f.inFunction("sliding_window_inference") || f.told(sampler.ToldSliding) || indexOf(f.event.Text, "sliding_window_inference") >= 0)
}

func (f *failure) validationVariant() string {
	if f.scoresOutputs() {
		return "scores"
	}
	if f.drawsAlone() {
		return "draws"
	}
	if f.slides() {
		return "sliding"
	}
	if f.inDecoder() {
		return "decoding"
	}
	if f.isUltralytics() {
		return "ultralytics"
	}
	if f.domain() == sampler.DomainRays {
		return "rays"
	}
	if f.testsOnly() {
		return "test"
	}
	if _, ok := f.command.SmallerEvalBatch(f.validationFactor()); ok {
		return "batch"
	}
	if f.writesBetween() {
		return "writing"
	}
	return ""
}

// smallerWriting is the command with fewer answers written at once, or with fewer beams for each; nil: it does not write, or the Trainer has a batch that is not typed.
func (f *failure) smallerWriting(k int) []string {
	s, ok := f.command.LowerEvalBatch(k)
	if ok = ok && s.Text != ""; !f.writesInEvaluation() || !ok && !f.writesBetween() {
		return nil
	}
	lines := []string{s.Text}
	if !ok {
		lines[0] = "DataLoader(val_dataset, batch_size=1, …)  " + f.comment("do.val_loader")
	}
	half := func(v float64) float64 { return max(1, float64(int(v/2))) }
	if text, _, ok := f.command.WithLess(half, "num_beams", "generation_num_beams"); ok {
		lines = append(lines, text+"  "+f.comment("do.fewer_beams"))
	}
	if f.writesBetween() {
		lines = append(lines, f.comment("do.shorter_answers"))
	}
	return lines
}

// evaluatesOneByOne: the command sets a batch of one for validation, and there is nothing below it.
func (f *failure) evaluatesOneByOne() bool {
	a, found := f.command.EvalBatchArgument()
	return found && a.Value == "1"
}

func doShrinkValidation(f *failure) []string {
	k := f.validationFactor()
	if f.scoresOutputs() {
		return []string{"outputs.append(out.detach().cpu())  " + f.comment("do.score_on_cpu"), f.comment("do.score_in_parts")}
	}
	if f.drawsAlone() {
		return []string{f.comment("do.draw_few"), f.comment("do.draw_elsewhere")}
	}
	if f.inDecoder() {
		return []string{"pipe.vae.enable_tiling()\npipe.vae.enable_slicing()  " + f.comment("do.val_decode"), f.comment("do.val_smaller")}
	}
	if f.domain() == sampler.DomainRays && f.told(sampler.ToldTried+"chunks") {
		return []string{f.comment("do.val_views")}
	}
	if f.domain() == sampler.DomainRays {
		return []string{f.comment("do.less.rays"), f.comment("do.val_view")}
	}
	if lines := f.smallerWriting(k); lines != nil {
		return lines
	}
	if f.slides() {
		return f.fewerWindows()
	}
	if s, ok := f.command.SmallerEvalBatch(k); ok {
		return append([]string{s.Text}, f.caveats(s)...)
	}
	if f.evaluatesOneByOne() {
		return []string{f.comment("do.tile", "k", k)}
	}
	if !f.torchCode() {
		return []string{f.comment("do.tile", "k", k)}
	}
	if f.inTrainerEvaluation() {
		return []string{"TrainingArguments(…, per_device_eval_batch_size=1, eval_accumulation_steps=8)"}
	}
	if f.program.is(running) {
		return []string{"outputs.append(out.detach().cpu())  " + f.comment("do.results"), f.comment("do.tile", "k", k)} // whose loader is not at hand
	}
	shorter := f.comment("do.tile", "k", k)
	if d := f.domain(); d == sampler.DomainAudio || d == sampler.DomainText || d == sampler.DomainVideo {
		shorter = f.comment("do.val_piece")
	} else if d == "" && !f.onPixels() && !f.told(sampler.ToldPixels) {
		shorter = f.comment("do.say.val_parts", "k", k)
	}
	return []string{"DataLoader(val_dataset, batch_size=1, …)  " + f.comment("do.val_loader"), shorter}
}
