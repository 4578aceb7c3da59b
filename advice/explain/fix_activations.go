package explain

import (
	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// fixesActivations make what a step keeps for its way back smaller.
var fixesActivations = []fixRow{
	{id: FixGradientCheckpointing, source: "https://huggingface.co/docs/transformers/perf_train_gpu_one",
		kinds: training | undecided, cost: 0.25,
		lives: map[string]float64{CauseTooBig: 0.8, CauseDataSpike: 0.95, CauseFragmentation: 0.95, CauseOtherProcess: 0.3, CauseImbalance: 0.4, CauseOversubscribed: 0.7, CauseMemoryLimit: 0.4, CauseUnknown: 0.35, CauseLeak: 0.15, CauseValidationSpike: 0.3},
		when: func(f *failure) bool {
			return f.inTraining() && f.isPyTorch() && !f.splats() && !f.checkpointing() && !f.inFile("generation/utils.py") && // which keeps no graph
				f.phase() != sampler.PhaseSaving && !f.refusedThoughFree()
		},
		variant: func(f *failure) string {
			if f.withHalf() {
				return "half"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.scaling().times(1-f.checkpointKeeps(checkpointKeepsHigh), 1-f.checkpointKeeps(checkpointKeepsLow)), f.allocated.Known() && !f.oneTensor()
		},
		reach: func(f *failure) float64 {
			if f.stateDominated() {
				return 0.1
			}
			if f.recorded() && f.total.Known() && f.requested.Or(0) > partOf(f.total.Or(0), 0.4) {
				return 0.5 // one tensor, which it leaves as it is
			}
			if f.oneTensor() {
				return 0.3
			}
			if f.batchRose() {
				return 0.8 // what ran before is sure to run
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
	{id: FixGradientCheckpointing, source: "https://github.com/kohya-ss/sd-scripts/blob/main/docs/train_network_README-ja.md",
		kinds: ownCode, cost: 0.08, // options of the tool, whose batch is mostly one
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65, CauseFragmentation: 0.9, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return f.told(sampler.ToldPictureSet) && !f.told(sampler.ToldCaching) && !f.program.is(running) && f.batch() <= 1 && f.inTraining() && !f.checkpointing() && f.phase() != sampler.PhaseSaving && !f.onHost() && !f.refusedThoughFree()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "pictures" },
		do: func(f *failure) []string {
			return []string{"--gradient_checkpointing --cache_latents --cache_text_encoder_outputs  " + f.comment("do.kohya"), f.kohyaMore() + "  " + f.comment("do.if_not_enough")}
		}},
	{id: FixGradientCheckpointing, source: "https://github.com/deepspeedai/DeepSpeed/issues/2797",
		kinds: training, cost: 0.1, // all that is left on the GPU are activations
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.65, CauseFragmentation: 0.9},
		when: func(f *failure) bool {
			return f.told(sampler.ToldSharded) && f.told(sampler.ToldOffload) && f.oneSample() && f.inTraining() && !f.checkpointing() && !f.onHost() && !f.refusedThoughFree()
		},
		reach: always(1),
		do:    doCheckpointing},
	{id: FixAMPBF16, source: "https://docs.pytorch.org/docs/stable/amp.html",
		kinds: training, cost: 0, // the program does it unless it is told not to
		lives:   map[string]float64{CauseTooBig: 0.97, CauseDataSpike: 0.8, CauseFragmentation: 0.8, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.ampTurnedOff() != "" && f.inTraining() && !f.onHost() },
		saves:   ampSaves,
		reach:   ampReaches,
		variant: func(f *failure) string { return "option" },
		pairs:   func(f *failure) []any { return []any{"option", f.ampTurnedOff()} },
		do: func(f *failure) []string {
			text, _ := f.command.WithoutFlag(f.ampTurnedOff())
			return []string{text}
		}},
	{id: FixAMPBF16, source: "https://docs.pytorch.org/docs/stable/amp.html",
		kinds: training | undecided, cost: 0.23,
		lives: map[string]float64{CauseTooBig: 0.85, CauseDataSpike: 0.8, CauseFragmentation: 0.8, CauseOtherProcess: 0.3, CauseImbalance: 0.3, CauseOversubscribed: 0.5, CauseMemoryLimit: 0.3, CauseUnknown: 0.3, CauseValidationSpike: 0.3},
		when: func(f *failure) bool {
			return f.isPyTorch() && !f.splats() && f.event.Kind != sampler.KindMPS && !f.halfPrecision() && f.inTraining() && f.phase() != sampler.PhaseSaving && !f.refusedThoughFree()
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
		saves: ampSaves,
		reach: ampReaches,
		pairs: func(f *failure) []any { return []any{"gpu", f.gpu.name} },
		do:    doMixedPrecision},
}

// checkpointSwitches is how styles that are known to have checkpointing turn it on.
var checkpointSwitches = map[string]string{command.StyleTrainer: "--gradient_checkpointing True", command.StyleFairseq: "--checkpoint-activations", command.StyleMegatron: "--recompute-activations"}

func ampSaves(f *failure) (span, bool) {
	return f.footprint.activations.times(1-ampKeepsHigh, 1-ampKeepsLow), f.allocated.Known()
}

func ampReaches(f *failure) float64 {
	switch {
	case f.stateDominated() && !f.program.is(running):
		return 0.05
	case !f.numbers() && f.usesLoRA() && f.oneSample():
		return 0.5 // frozen weights are mostly loaded in 16 bits; what is left are the activations of one sample
	case !f.numbers():
		return 0.7
	}
	gain, _ := ampSaves(f)
	return gain.covers(f.needed())
}

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
