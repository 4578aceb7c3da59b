package explain

import (
	"slices"
	"strings"
)

// kinds is a set of kinds of programs. What can be changed depends on the kind: who trains can
// halve a batch, who serves has the server's options only.
type kinds uint

const (
	training   kinds = 1 << iota
	evaluation       // own code that tests a model
	inference        // own code that runs a model
	imageTool        // ComfyUI, the web UIs of Stable Diffusion
	server           // an inference server with options of its own
	undecided        // nothing tells

	ownCode = training | evaluation | inference | undecided
	running = evaluation | inference | imageTool | server // a model that is not trained
)

// program is what failed. name is that of a known tool, else empty.
type program struct {
	name string
	kind kinds
}

func (p program) is(k kinds) bool { return p.kind&k != 0 }

// reserves: it takes a share of the GPU at start, for weights and KV cache.
func (p program) reserves() bool {
	return slices.Contains([]string{"vllm", "sglang", "tgi", "tensorrt-llm", "lmdeploy"}, p.name)
}

// programRow tells a program by what the log says of it, or by a word of its command.
type programRow struct {
	program
	words   []string // of the command: last parts of paths, or modules
	options []string // of the command, plain names that no other program has
}

// scriptWords tell by the name of a script what it does. A name with words of several kinds is
// decided by the first row.
var scriptWords = []struct {
	kind  kinds
	words []string
}{
	{training, []string{"train", "training", "trainer", "finetune", "finetuning", "tune", "tuning", "sft", "dpo", "ppo", "grpo", "pretrain", "pretraining", "fit", "dreambooth", "distill",
		"lora", "clm", "mlm", "glue", "ctc", "seq2seq", "inversion", "learn", "rl"}},
	{evaluation, []string{"eval", "evaluate", "evaluation", "test", "val", "validate", "benchmark", "bench"}},
	{inference, []string{"generate", "generation", "gen", "infer", "inference", "predict", "prediction", "demo", "sample", "sampling", "txt2img", "img2img", "chat", "cli", "translate",
		"transcribe", "detect", "app", "gradio", "serve", "server", "api", "upscale", "inpaint", "extract", "embed", "encode", "render", "webui", "interface", "whisper", "summarize", "run_inference"}},
}

// programOf decides from the tools that log and command name, then the traceback, the script's
// name, the phase and the options, in the order of what deceives least.
func programOf(f *job) program {
	for _, decide := range []func(*job) program{namedProgram, byBackward, byScript, byPhase, byOptions} {
		if p := decide(f); p.kind != 0 {
			return p
		}
	}
	return program{kind: undecided}
}

func namedProgram(f *job) program {
	words := f.command.Words()
	for _, row := range programRows {
		named := row.name == f.context.Server || row.name == f.event.Framework || slices.Contains(words, row.name) ||
			slices.ContainsFunc(row.words, func(w string) bool { return slices.Contains(words, w) }) || f.command.HasPlain(row.options...)
		if named {
			return row.program
		}
	}
	if f.class.class == classServing {
		return program{kind: server}
	}
	return program{}
}

func byBackward(f *job) program {
	if f.inBackward() || f.inFile("transformers/trainer.py", "trl/", "engine/trainer.py") && f.phase() != phaseInference {
		return program{kind: training}
	}
	return program{}
}

func byScript(f *job) program {
	for _, script := range f.command.Scripts() {
		words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(script, ".py")), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' })
		for _, row := range scriptWords {
			if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(row.words, strings.TrimRight(w, "0123456789")) }) {
				return program{kind: row.kind}
			}
		}
	}
	return program{}
}

func byPhase(f *job) program {
	switch f.phase() {
	case PhaseTraining, phaseSaving:
		return program{kind: training}
	case PhaseValidation:
		if f.context.Epoch.Known() || f.context.Step.Known() || f.inFunction("train", "fit") || f.context.BatchSize.Known() || !f.command.Known {
			return program{kind: training} // the validation of a run that trains
		}
		return program{kind: evaluation}
	case phaseInference:
		return program{kind: inference}
	}
	return program{}
}

func byOptions(f *job) program {
	switch {
	case f.context.Epoch.Known() || f.optimizer() != "" || f.command.HasPlain("epochs", "num_epochs", "max_epochs", "num_train_epochs", "lr", "learning_rate", "max_steps",
		"per_device_train_batch_size", "weight_decay", "warmup_steps", "do_train") || f.command.Runs("torchrun", "deepspeed", "fairseq-train", "axolotl"):
		return program{kind: training}
	case f.command.HasPlain("prompt", "max_new_tokens", "num_inference_steps", "ddim_steps", "n_samples", "guidance_scale", "input_image", "source", "checkpoint_path", "load_in_8bit", "load_in_4bit"):
		return program{kind: inference}
	}
	return program{}
}
