package explain

import (
	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesValidation = []fixRow{
	{id: "shrink_validation_batch", source: "https://huggingface.co/docs/transformers/main_classes/trainer",
		fits:    map[string]float64{"validation_spike": 1},
		when:    func(f *failure) bool { return f.phase() == PhaseValidation },
		variant: func(f *failure) string { return f.validationVariant() },
		saves: func(f *failure) (span, bool) {
			k := float64(f.validationFactor())
			low := partOf(f.requested.Or(0), 1-1/k)
			return span{low, low + partOf(f.footprint.activations.mid(), 1-1/k)}, f.requested.Known()
		},
		reach: func(f *failure) float64 {
			if k := float64(f.validationFactor()); partOf(f.requested.Or(0), 1-1/k) < f.missingOr0() {
				return 0.8
			}
			return 0.97
		},
		pairs: func(f *failure) []any {
			s, _ := f.command.SmallerEvalBatch(f.validationFactor())
			return []any{"part", f.words.Say("part." + plainNumber(float64(f.validationFactor()))), "before", s.Before, "after", s.Batch}
		},
		do: doShrinkValidation},
	{id: "no_grad_validation", source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		fits: map[string]float64{"validation_spike": 0.8},
		when: func(f *failure) bool { return f.phase() == PhaseValidation && f.isPyTorch() && !f.graphOff() },
		saves: func(f *failure) (span, bool) {
			return span{0, f.footprint.activations.high}, f.allocated.Known()
		},
		reach: always(0.7),
		do: func(f *failure) []string {
			return []string{"model.eval()\nwith torch.inference_mode():  " + f.comment("do.around_validation")}
		}},
}

// validationFactor is by how much validation must shrink: the first of 2, 4, 8, 16 with which
// the refused request alone fits in what was free.
func (f *failure) validationFactor() int {
	missing, known := f.missing()
	for k := 2; known && k < 16; k *= 2 {
		gain := partOf(f.requested.Or(0), 1-1/float64(k))
		if f.requested.Or(0) < 256*sampler.MiB { // a small request: what fills the card is elsewhere
			gain += partOf(f.footprint.activations.low, 1-1/float64(k))
		}
		if gain >= missing {
			return k
		}
	}
	if known && missing > 0 {
		return 16
	}
	return 2
}

func (f *failure) validationVariant() string {
	if f.isUltralytics() {
		return "ultralytics"
	}
	if _, ok := f.command.SmallerEvalBatch(f.validationFactor()); ok {
		return "batch"
	}
	return ""
}

func doShrinkValidation(f *failure) []string {
	k := f.validationFactor()
	if s, ok := f.command.SmallerEvalBatch(k); ok {
		return append([]string{s.Text}, f.caveats(s)...)
	}
	if a, found := f.command.EvalBatchArgument(); found && a.Value == "1" {
		return []string{f.comment("do.tile", "k", k)}
	}
	return []string{"DataLoader(val_dataset, batch_size=1, …)  " + f.comment("do.val_loader"), f.comment("do.tile", "k", k)}
}

// graphOff: the traceback or the trainer shows that no graph is kept in validation.
func (f *failure) graphOff() bool {
	return f.isUltralytics() || f.command.Style() == command.StyleTrainer || f.command.Style() == command.StyleLightning ||
		f.inFunction("decorate_context", "no_grad", "inference_mode", "prediction_step", "evaluation_loop", "_run_evaluate", "_no_grad_context") ||
		f.inCode("no_grad", "inference_mode")
}
