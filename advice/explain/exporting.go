package explain

import "nvpeak/sampler"

// exports: a model that was trained is written in another form, for which it is run once or copied in another precision, beside the
// gradients and the optimizer of the training.
func (f *facts) exports() bool {
	return !f.onHost() && f.torchCode() && (f.context.Step.Known() || f.context.Epoch.Known() || f.context.Phase == sampler.PhaseSaving) && !f.inFunction("train_step", "training_step") &&
		(f.inCode("torch.onnx.export(", "torch.export.export(", "torch.jit.trace(", "torch.jit.script(", "convert_fx(", "quantize_dynamic(") || f.inFile("onnx/utils.py", "jit/_trace.py", "export/_trace.py", "onnx/_internal"))
}

var causesExporting = []causeRow{
	{id: "export", cause: CauseTooBig, reason: "https://docs.pytorch.org/docs/stable/onnx.html",
		when:       func(f *failure) bool { return f.exports() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.85) },
		evidence:   func(f *failure) string { return f.words.Say("why.exporting") }},
}

// fixesExporting: nothing of an export needs a GPU.
var fixesExporting = []fixRow{
	{id: FixShardOrOffload, source: "https://docs.pytorch.org/docs/stable/onnx.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseFragmentation: 0.85, CauseLeak: 0.7, CauseDataSpike: 0.9, CauseOtherProcess: 0.5, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.exports() },
		reach:   always(1),
		variant: func(f *failure) string { return "export" },
		do: func(f *failure) []string {
			return []string{"model.zero_grad(set_to_none=True); del optimizer; torch.cuda.empty_cache()  " + f.comment("do.before_export"),
				"torch.onnx.export(model.cpu().float().eval(), dummy.cpu(), path)  " + f.comment("do.export_on_cpu")}
		}},
}
