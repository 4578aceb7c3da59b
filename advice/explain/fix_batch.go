package explain

import (
	"slices"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// Shares of the activations that stay after a measure. Halving a batch is linear by formula;
// mixed precision saves up to half of the activations, not of the weights
// (https://huggingface.co/docs/transformers/model_memory_anatomy); checkpointing keeps 30 to 70 %
// in published cases and can keep less (https://arxiv.org/abs/2205.05198).
const (
	ampKeepsLow, ampKeepsHigh               = 0.5, 0.85
	checkpointKeepsLow, checkpointKeepsHigh = 0.3, 0.7
)

var fixesBatch = []fixRow{
	{id: "halve_batch_accumulate", source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		fits: map[string]float64{"too_big": 1, "data_spike": 0.6, "fragmentation": 0.35, "other_process": 0.3, "unattributed": 0.3,
			"imbalance": 0.3, "oversubscribed": 1, "memory_limit": 0.55, "preallocation": 0.2, "unknown": 0.45},
		when: func(f *failure) bool {
			return f.batch() != 1 && f.phase() != PhaseValidation && f.phase() != phaseLoading && f.phase() != phaseSaving && !(f.isServing()) && f.event.Kind != sampler.KindGGML && !f.refusedThoughFree()
		},
		variant: func(f *failure) string {
			switch {
			case f.phase() == phaseInference:
				return "inference"
			case f.isUltralytics() || f.command.Style() == command.StyleYOLOv5:
				return "ultralytics"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			k := float64(f.batchFactor())
			return f.scaling().times(1-1/k, 1-1/k), f.allocated.Known()
		},
		reach: func(f *failure) float64 {
			if f.stateDominated() && f.phase() != phaseInference {
				return 0.1
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
		pairs: func(f *failure) []any {
			k := f.batchFactor()
			s, _ := f.command.SmallerBatch(k)
			gain := f.scaling().times(1-1/float64(k), 1-1/float64(k))
			return []any{"cut", f.words.Say("cut." + plainNumber(float64(k))), "k", k, "before", s.Before, "after", s.Batch, "gain", f.gainText(gain, k),
				"need", gib(f.needed()), "states", f.statesText()}
		},
		do: doHalveBatch},
	{id: "gradient_checkpointing", source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		fits: map[string]float64{"too_big": 0.9, "data_spike": 0.45, "fragmentation": 0.2, "oversubscribed": 0.7, "memory_limit": 0.4, "unknown": 0.3},
		when: func(f *failure) bool {
			return f.inTraining() && f.isPyTorch() && !f.checkpointing() && !f.refusedThoughFree()
		},
		variant: func(f *failure) string {
			if f.withHalf() {
				return "half"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.scaling().times(1-f.checkpointKeeps(checkpointKeepsHigh), 1-f.checkpointKeeps(checkpointKeepsLow)), f.allocated.Known()
		},
		reach: func(f *failure) float64 {
			if f.stateDominated() {
				return 0.1
			}
			if !f.numbers() {
				return 0.7
			}
			if f.requested.Or(0) > f.total.Or(0) {
				return 0.3
			}
			gain := f.scaling().times(1-f.checkpointKeeps(checkpointKeepsHigh), 1-f.checkpointKeeps(checkpointKeepsLow))
			return gain.covers(f.needed())
		},
		do: doCheckpointing},
	{id: "amp_bf16", source: "https://docs.pytorch.org/docs/stable/amp.html",
		fits: map[string]float64{"too_big": 0.8, "data_spike": 0.35, "oversubscribed": 0.5, "memory_limit": 0.3, "unknown": 0.25},
		when: func(f *failure) bool {
			return f.isPyTorch() && f.event.Kind != sampler.KindMPS && !f.halfPrecision() && (f.inTraining() || f.phase() == phaseInference) && f.phase() != phaseSaving && !f.refusedThoughFree()
		},
		variant: func(f *failure) string {
			switch yes, known := f.gpu.bf16(); {
			case known && !yes:
				return "fp16"
			case !known:
				return "perhaps"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.footprint.activations.times(1-ampKeepsHigh, 1-ampKeepsLow), f.allocated.Known()
		},
		reach: func(f *failure) float64 {
			gain := f.footprint.activations.times(1-ampKeepsHigh, 1-ampKeepsLow)
			switch {
			case f.stateDominated() && f.phase() != phaseInference:
				return 0.05
			case !f.numbers():
				return 0.7
			}
			return gain.covers(f.needed())
		},
		pairs: func(f *failure) []any { return []any{"gpu", f.gpu.name} },
		do:    doMixedPrecision},
}

// scaling is the memory that follows the batch: the activations and the refused request.
func (f *failure) scaling() span {
	a := f.footprint.activations
	return span{a.low + f.requested.Or(0), a.high + f.requested.Or(0)}
}

// batchFactor is by how much the batch must shrink: the first of 2, 4, 8, 16 that frees enough
// by the middle of the estimate; 2 where the text has no numbers.
func (f *failure) batchFactor() int {
	batch := f.batch()
	best := 2
	for k := 2; k <= 16 && f.numbers(); k *= 2 {
		if batch > 0 && k > batch {
			break
		}
		best = k
		if partOf(f.scaling().mid(), 1-1/float64(k)) >= f.needed() {
			return k
		}
	}
	if best > 4 && batch == 0 {
		return 4 // no batch known: no invented precision
	}
	return best
}

// withHalf: checkpointing alone may not do, and the batch can be halved with it.
func (f *failure) withHalf() bool {
	alone := f.scaling().times(1-checkpointKeepsHigh, 1-checkpointKeepsLow)
	return f.numbers() && alone.covers(f.needed()) < 0.75 && f.batch() != 1 && f.batchFactor() > 2
}

// gainText is what a batch cut to 1/k gives back, as a share where the amounts are not known.
func (f *failure) gainText(gain span, k int) string {
	if !f.allocated.Known() {
		return f.words.Say("gain." + plainNumber(float64(k)))
	}
	return rangeText(gain)
}

// statesText is what does not follow the batch, in brackets; "" when it is not known.
func (f *failure) statesText() string {
	if !f.allocated.Known() {
		return ""
	}
	return f.words.Say("states.known", "states", rangeText(f.footprint.states))
}

// checkpointKeeps is the share of activations left, with the batch halved where it is advised.
func (f *failure) checkpointKeeps(alone float64) float64 {
	if f.withHalf() {
		return alone / 2
	}
	return alone
}

// checkpointing is in force already.
func (f *failure) checkpointing() bool {
	on, known := f.command.SwitchedOn("gradient_checkpointing", "activation_checkpointing", "use_checkpoint", "checkpoint_activations",
		"use_gradient_checkpointing", "recompute_activations", "recompute_granularity", "enable_gradient_checkpointing", "grad_checkpoint", "grad_checkpointing")
	return known && on || f.inFunction("checkpoint_wrapper", "checkpointfunction", "_checkpoint_without_reentrant", "unpack_hook") ||
		f.inCode("checkpoint(", "checkpoint.checkpoint", "gradient_checkpointing=True")
}

// halfPrecision is in force already: from the log, the command or the traceback.
func (f *failure) halfPrecision() bool {
	switch f.context.Precision {
	case "bf16", "fp16", "int8", "nf4":
		return true
	}
	if on, known := f.command.SwitchedOn("bf16", "fp16", "amp", "use_amp", "use_bf16", "use_fp16", "half", "pure_bf16", "bf16_full_eval"); known && on {
		return true
	}
	a, _ := f.command.Find("precision", "mixed_precision", "dtype", "torch_dtype", "param_dtype")
	if slices.ContainsFunc([]string{"16", "bf16", "fp16", "half", "bfloat16", "float16", "amp"}, func(p string) bool { return indexOf(a.Value, p) >= 0 }) {
		return true
	}
	if amp, known := f.command.SwitchedOn("amp"); f.isUltralytics() && (!known || amp) {
		return true // on by default there
	}
	return f.inCode("autocast", "bfloat16", ".half()", "float16") || f.inFunction("autocast")
}

// caveats are comments about an edited command: options nobody has seen the program take, and
// what is special about its style.
func (f *failure) caveats(s command.Suggestion) []string {
	var list []string
	for _, words := range s.Unsure {
		list = append(list, f.comment("do.if_script_has", "option", words))
	}
	if s.Note != "" {
		list = append(list, f.comment(s.Note))
	}
	return list
}

func doHalveBatch(f *failure) []string {
	k := f.batchFactor()
	if s, ok := f.command.SmallerBatch(k); ok {
		if f.phase() == phaseInference {
			a, _, _ := f.command.BatchArgument()
			return []string{f.command.Apply([]command.Edit{f.command.ReplaceValue(a, plainNumber(float64(s.Batch)))})}
		}
		lines := append([]string{s.Text}, f.caveats(s)...)
		if more, ok := f.command.SmallerBatch(2 * k); ok && f.context.FirstStep && !f.inBackward() && more.Batch < s.Batch {
			lines = append(lines, f.comment("do.then_more")+"\n"+more.Text)
		}
		return lines
	}
	if config := f.command.DeepspeedConfig(); config != "" {
		return []string{f.comment("do.deepspeed", "file", sampler.Clean(config), "k", k)}
	}
	if b := f.batch(); b > 1 {
		smaller, steps := command.SplitBatch(b, k)
		if f.phase() == phaseInference {
			return []string{f.comment("do.batch_plain", "before", b, "after", smaller)}
		}
		return []string{f.comment("do.batch_known", "before", b, "after", smaller, "steps", steps)}
	}
	return []string{f.comment("do.batch_unknown", "k", k)}
}

// checkpointSwitches is how styles that are known to have checkpointing turn it on.
var checkpointSwitches = map[string]string{command.StyleTrainer: "--gradient_checkpointing True", command.StyleFairseq: "--checkpoint-activations", command.StyleMegatron: "--recompute-activations"}

func doCheckpointing(f *failure) []string {
	c := f.command
	var list []string
	if f.withHalf() {
		if s, ok := c.SmallerBatch(2); ok {
			c = command.Parse(s.Text)
			list = f.caveats(s)
		} else {
			list = []string{f.comment("do.and_half")}
		}
	}
	if s, ok := c.WithSwitch(checkpointSwitches); ok {
		return append([]string{s.Text}, list...)
	}
	code := []string{"x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)  " + f.comment("do.each_block"),
		"model.gradient_checkpointing_enable()  " + f.comment("do.transformers")}
	if c.Text != f.command.Text {
		code = append([]string{c.Text}, code...)
	}
	return append(code, list...)
}

// precisionSwitches is how styles turn mixed precision on; %s is bf16 or fp16.
func precisionSwitches(kind string) map[string]string {
	return map[string]string{command.StyleTrainer: "--" + kind + " True", command.StyleFairseq: "--" + kind, command.StyleUltralytics: "amp=True", command.StyleMegatron: "--" + kind,
		command.StyleLightning: map[string]string{"bf16": "--trainer.precision=bf16-mixed", "fp16": "--trainer.precision=16-mixed"}[kind]}
}

func doMixedPrecision(f *failure) []string {
	kind, dtype := "bf16", "torch.bfloat16"
	var list []string
	switch yes, known := f.gpu.bf16(); {
	case known && !yes:
		kind, dtype = "fp16", "torch.float16"
	case !known:
		list = []string{f.comment("do.bf16_check"), `python -c "import torch; print(torch.cuda.get_device_capability())"`}
	}
	if s, ok := f.command.WithLauncherOption("--mixed_precision " + kind); ok {
		return append([]string{s.Text}, list...)
	}
	if s, ok := f.command.WithSwitch(precisionSwitches(kind)); ok && (f.command.Style() != command.StyleLightning || f.command.Prefixed("--trainer.")) {
		return append([]string{s.Text}, list...)
	}
	code := `with torch.autocast("cuda", dtype=` + dtype + `):  ` + f.comment("do.around_forward")
	if kind == "fp16" {
		list = append(list, `scaler = torch.amp.GradScaler("cuda")  `+f.comment("do.scaler"))
	}
	return append([]string{code}, list...)
}
