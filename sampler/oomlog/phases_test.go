package oomlog

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Only a frame of one's own code, or a known loop of a library, says that a model was being validated.
func TestPhaseOfFrames(t *testing.T) {
	const venv = `/home/u/.venv/lib/python3.12/site-packages/`
	for frames, want := range map[string]string{
		"run.py main|" + venv + "linear_operator/operators/dense_linear_operator.py evaluate_kernel|" + venv + "torch/linalg/x.py f": "",
		"run.py main|jax/_src/core.py eval_jaxpr":                                                              "",
		"run.py main|" + venv + "jax/_src/core.py eval_jaxpr|" + venv + "jax/_src/dispatch.py apply_primitive": "",
		"run.py main|" + venv + "torch/distributions/distribution.py _validate_sample":                         "",
		"run.py main|" + venv + "transformers/generation/utils.py _validate_model_kwargs":                      "",
		"run.py main|" + venv + "torch/_dynamo/eval_frame.py eval_frame":                                       "",
		"run.py main|" + venv + "gpytorch/lazy/lazy_evaluated_kernel_tensor.py evaluate":                       "",
		`C:\u\run.py main|C:\u\env\Lib\site-packages\pydantic\main.py validate`:                                "",
		"pretrain.py validate_args|megatron/arguments.py validate_args":                                        "",
		"solve.py evaluate_residual": "",
		"run.py main|run.py validate|" + venv + "torch/nn/modules/module.py _call_impl":                                                                 sampler.PhaseValidation,
		"run.py main|bench.py run_bench|" + venv + "lm_eval/models/huggingface.py _loglikelihood_tokens|" + venv + "torch/nn/functional.py log_softmax": sampler.PhaseValidation,
		"run.py main|run.py evaluate_retrieval": sampler.PhaseValidation,
		"run.py main|run.py do_validation":      sampler.PhaseValidation,
		"run.py main|run.py perform_test":       sampler.PhaseValidation,
		"train.py main|" + venv + "speechbrain/core.py _fit_valid|" + venv + "speechbrain/core.py evaluate_batch|train.py compute_forward|" + venv + "speechbrain/decoders/seq2seq.py decode": sampler.PhaseValidation,
		"train_net.py main|" + venv + "detectron2/engine/hooks.py _do_eval|" + venv + "detectron2/evaluation/evaluator.py inference_on_dataset|" + venv + "torch/nn/modules/conv.py forward":  sampler.PhaseValidation,
		"run.py main|asr.py decode_dev|search.py score": sampler.PhaseValidation,
		"run.py main|run.py decode_devices":             sampler.PhaseInference,
		"run.py main|" + venv + "transformers/trainer.py evaluate|" + venv + "transformers/generation/utils.py _validate_model_kwargs": sampler.PhaseValidation,
		"run.py main|" + venv + "lightning/pytorch/loops/evaluation_loop.py _evaluation_step":                                          sampler.PhaseValidation,
		"run.py main|" + venv + "keras/src/backend/tensorflow/trainer.py evaluate":                                                     sampler.PhaseValidation,
		"run.py main|" + venv + "mmengine/model/base_model/base_model.py val_step":                                                     sampler.PhaseValidation,
		"run.py main|" + venv + "somebodys/model.py validation_step":                                                                   sampler.PhaseValidation,
		"run.py main|" + venv + "sentence_transformers/evaluation/TripletEvaluator.py __call__":                                        sampler.PhaseValidation,
	} {
		text := "Traceback (most recent call last):\n"
		for _, f := range strings.Split(frames, "|") {
			file, function, _ := strings.Cut(f, " ")
			text += "  File \"" + file + "\", line 12, in " + function + "\n    x = f(x)\n"
		}
		if got := phaseAt(t, text); got != want {
			t.Errorf("%s: %q, want %q", frames, got, want)
		}
	}
}

// What one's own code calls may have no frame of its own.
func TestPhaseOfCalls(t *testing.T) {
	const forward = "  File \"/home/u/.venv/lib/python3.12/site-packages/torch/nn/modules/linear.py\", line 125, in forward\n    return F.linear(input, self.weight, self.bias)\n"
	for call, want := range map[string]string{
		"k = evaluate(model, val_loader)":               sampler.PhaseValidation,
		"metrics = trainer.validate(net, self.test_dl)": sampler.PhaseValidation,
		"self.runner.test()":                            sampler.PhaseValidation,
		"out = self.runner.model.test_step(batch)":      sampler.PhaseValidation,
		"images = log_validation(pipeline, args, step)": sampler.PhaseValidation,
		"self.catalog_validation(args)":                 "",
		"ok = re.test(pattern)":                         "",
		"covar = kernel.evaluate()":                     "",
		"self._validate_model_kwargs(model_kwargs)":     "",
		"loss = criterion(model(x), y)":                 "",
	} {
		if got := phaseAt(t, "Traceback (most recent call last):\n  File \"run.py\", line 7, in main\n    "+call+"\n"+forward); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// What comes when the training is said to be over is none of its steps.
func TestPhaseAfterTraining(t *testing.T) {
	for line, want := range map[string]string{
		"training done, exporting encoder with dummy input of 480 s": sampler.PhaseSaving,
		"Training has finished. Quantizing to int8":                  sampler.PhaseSaving,
		"training done in 20 min":                                    sampler.PhaseTraining,
	} {
		if got := phaseAt(t, "step 1156/1164 loss 0.7095\n"+line+"\nTraceback (most recent call last):\n  File \"run.py\", line 7, in main\n    f(model)\n"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// phaseAt is the phase of a failure after a text.
func phaseAt(t *testing.T, text string) string {
	t.Helper()
	events, err := Scan(strings.NewReader(text + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 MiB is free.\n"))
	if err != nil || len(events) != 1 {
		t.Fatal(err, len(events))
	}
	return events[0].Context.Phase
}
