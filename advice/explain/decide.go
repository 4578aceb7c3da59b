package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// programOf decides from the tools that log and command name, then the traceback, the script's
// name, the phase and the options, in the order of what deceives least.
func programOf(f *job) program {
	for _, decide := range []func(*job) program{namedProgram, byBackward, byTask, byScript, byPipeline, byPicture, byTool, byRequests, byPhase, byQuantized, byTrainingOptions, byTold, byOptions, byCall} {
		if p := decide(f); p.kind != 0 {
			return p
		}
	}
	return program{kind: undecided}
}

func namedProgram(f *job) program {
	words := f.command.Words()
	for _, row := range programRows {
		if row.unlessTrains && (f.trains() || byScript(f).is(training)) {
			continue
		}
		if (row.name == "llama.cpp" || row.name == "ollama") && f.torchFills() {
			continue // whose message it is not
		}
		if row.name == "llama.cpp" && f.sharesGGML() {
			continue
		}
		if row.is(server) && row.name == f.context.Server && !slices.Contains(words, row.name) && (f.trains() || programNamed(f.command.Scripts()).is(training)) {
			continue // reinforcement learning, which runs a server of its own between its steps
		}
		named := row.name == f.context.Server || row.name == f.event.Framework || row.framework != "" && row.framework == f.event.Framework || slices.Contains(words, row.name) ||
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

// torchFills: PyTorch's own allocator tells of its tensors.
func (f *job) torchFills() bool { return f.event.Framework == "pytorch" && f.event.Allocated.Known() }

func byBackward(f *job) program {
	if f.trains() {
		return program{kind: training}
	}
	return program{}
}

// compiledStep is the name of a program of JAX that trains.
var compiledStep = sampler.Pattern{Source: `executable_name='[^']*(?:train|grad|update|loss)`}

// trains: the traceback is one of training.
func (f *job) trains() bool {
	return f.inBackward() || compiledStep.Get().MatchString(f.event.Text) || f.inFile("transformers/trainer.py", "trl/", "engine/trainer.py") && f.phase() != sampler.PhaseInference || f.context.Phase == sampler.PhaseTraining && f.inFunction("train", "fit")
}

// byTask: a script that can train is told to evaluate only.
func byTask(f *job) program {
	if f.command.HasPlain("do_eval", "do_predict", "eval_only", "evaluate_only", "test_only") && !f.command.HasPlain("do_train") {
		return program{kind: evaluation}
	}
	if a, found := f.command.Find("mode", "phase", "task", "stage"); found {
		return programNamed([]string{a.Value})
	}
	return program{}
}

// byPipeline: the pipelines of transformers only run models.
func byPipeline(f *job) program {
	if f.inFile("pipelines/") {
		return program{kind: inference}
	}
	return program{}
}

// byQuantized: weights of few bits are run, and trained by tools that say so.
func byQuantized(f *job) program {
	if slices.ContainsFunc(f.context.Files, func(file string) bool { return quantized.Get().MatchString(file) }) {
		return program{kind: inference}
	}
	return program{}
}

func byScript(f *job) program {
	switch p := programNamed(slices.Concat(f.command.Scripts(), f.script())); {
	case p.name == "ldm" && f.domain() == sampler.DomainVideo:
		return program{kind: imageTool} // a name that scripts for videos have, too, whose options are others
	case p.kind == inference && f.context.Epoch.Known() && byOptions(f).is(training):
		return program{} // it trains by sampling, or generates what it trains on
	case p == program{kind: inference} && f.countsEpochs():
		return program{kind: training} // "sampling" of what it trains on, whatever else the word means
	case p.kind != 0:
		return p
	}
	p := programNamed(f.context.Scripts)
	if p.name == "ldm" && f.domain() == sampler.DomainVideo {
		return program{kind: imageTool}
	}
	if p.is(running) && slices.ContainsFunc(f.context.Scripts, func(s string) bool { return programNamed([]string{s}).is(training) }) {
		return program{} // one that trains and one that does not, and nothing says which failed
	}
	if p == (program{kind: inference}) && f.context.Phase == sampler.PhaseValidation && f.told(sampler.ToldTraining) {
		return program{kind: training} // whose validation calls a function of that file
	}
	return p
}

// countsEpochs: the log counts epochs, and it came in one of them or in the validation after it.
func (f *job) countsEpochs() bool {
	return f.context.Epoch.Known() && (f.context.Phase == sampler.PhaseTraining || f.context.Phase == sampler.PhaseValidation)
}

// programNamed is what the first script is whose name tells.
func programNamed(scripts []string) program {
	for _, script := range scripts {
		words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(script, ".py")), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' })
		for _, row := range scriptWords {
			if slices.ContainsFunc(words, func(w string) bool {
				return slices.Contains(row.words, strings.TrimPrefix(strings.TrimRight(w, "0123456789"), "my"))
			}) {
				return row.program
			}
		}
	}
	return program{}
}

// launchers start a script and stand before it in a traceback.
var launchers = []string{"runpy.py", "spawn.py", "process.py", "popen_fork.py", "popen_spawn_posix.py", "popen_spawn_win32.py", "threading.py", "__main__.py", "launcher.py", "launch.py", "run.py"}

// script is the name of the file in which the traceback begins, if it begins in one that was started.
func (f *facts) script() []string {
	if !slices.Contains(f.context.Functions, "<module>") {
		return nil
	}
	for _, file := range f.context.Files {
		file = file[strings.LastIndexAny(file, `/\`)+1:]
		if !slices.Contains(launchers, file) {
			return []string{file}
		}
	}
	return nil
}

// byPicture: somebody makes pictures, in whatever function.
func byPicture(f *job) program {
	if f.told(sampler.ToldImages) {
		return program{kind: imageTool}
	}
	return program{}
}

// byRequests: it answers requests by way of a web framework, in code of its own.
func byRequests(f *job) program {
	if f.inFile("starlette/", "fastapi/", "uvicorn/", "flask/", "gunicorn/", "aiohttp/web", "tornado/web") && f.phase() != sampler.PhaseValidation && !f.countsEpochs() {
		return program{kind: inference}
	}
	return program{}
}

// byTold goes by the words of whoever wrote the text.
func byTold(f *job) program {
	switch {
	case f.told(sampler.ToldTraining), f.told(sampler.ToldPacks): // samples are packed to learn from them
		return program{kind: training}
	case f.told(sampler.ToldInference), f.told(sampler.ToldCured + "no_grad"): // which no training does without
		return program{kind: inference}
	}
	return program{}
}

// byCall: the line of the script that failed asks a model for its answer.
func byCall(f *job) program {
	if f.converses() {
		return program{kind: inference}
	}
	if len(f.context.Code) > 0 && f.script() != nil && asksModel.Get().MatchString(f.context.Code[0]) {
		return program{kind: inference}
	}
	return program{}
}

var asksModel = sampler.Pattern{Source: `\.(?:infer|predict|transcribe|translate)\(`}

func byPhase(f *job) program {
	switch f.phase() {
	case sampler.PhaseTraining, sampler.PhaseSaving:
		return program{kind: training}
	case sampler.PhaseValidation:
		if f.onTestData() {
			return program{kind: evaluation}
		}
		if f.context.Epoch.Known() || f.context.Step.Known() || f.inFunction("train", "fit") || f.context.BatchSize.Known() || !f.command.Known {
			return program{kind: training} // the validation of a run that trains
		}
		return program{kind: evaluation}
	case sampler.PhaseInference:
		return program{kind: inference}
	}
	return program{}
}

// testData is the loader of what a model is tested on.
var testData = sampler.Pattern{Source: `(?i)\btest_?(?:data_?)?loader\b`}

// onTestData: the traceback goes through the loader of the tests, and no training and no epoch stands in it.
func (f *job) onTestData() bool {
	return slices.ContainsFunc(f.context.Code, func(line string) bool { return testData.Get().MatchString(line) }) && !f.inCode("epoch") && !f.context.Epoch.Known() && !f.inFunction("train", "fit")
}

// byTrainingOptions: the command has options that only a training has, whatever is written beside it.
func byTrainingOptions(f *job) program {
	if p := byOptions(f); p.is(training) && f.command.Known {
		return p
	}
	return program{}
}

func byOptions(f *job) program {
	switch {
	case f.context.Epoch.Known() || f.optimizer() != "" || f.command.HasPlain("epochs", "num_epochs", "max_epochs", "num_train_epochs", "lr", "learning_rate", "max_steps",
		"per_device_train_batch_size", "weight_decay", "warmup_steps", "do_train", "train") || f.command.Runs("deepspeed", "fairseq-train", "axolotl"):
		return program{kind: training}
	case f.command.HasPlain("prompt", "max_new_tokens", "num_inference_steps", "ddim_steps", "n_samples", "guidance_scale", "input_image", "source", "checkpoint_path", "load_in_8bit", "load_in_4bit"):
		return program{kind: inference}
	}
	return program{}
}
