package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// concreteRow is a part of lines that can be typed only where something else is. Where the text does not show that, what is
// meant is said in words.
type concreteRow struct {
	part  string              // of the line, before its comment; or the id of a comment
	needs func(*failure) bool // the text shows that it exists there; nil: always
	words string              // id of what is said instead; empty: the line is left out
	bare  bool                // the part is how a program is called: what follows is said without it
}

// existing are the lines of advice of which the text shows that they exist where it is from, and words for the others. What
// is in force already is left out.
func (f *failure) existing(list []string) []string {
	out := []string{}
	for _, line := range list {
		if f.inForceAlready(line) {
			continue
		}
		line = f.onlyLess(line)
		row, found := f.rowOf(line)
		switch {
		case f.told(sampler.ToldOldLMDeploy) && strings.Contains(line, "lmdeploy serve"):
			line = f.comment("do.cache_entries") // the options came later
		case !found || row.needs == nil || f.atHand() || row.needs(f):
		case row.bare:
			line = f.withoutProgram(line, row)
		case row.words == "":
			continue
		default:
			line = f.comment(row.words)
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// atHand: it is a run of one's own, of which the text need not show everything: it was recorded, its command was given
// beside it, or the text is longer than what people write.
func (f *failure) atHand() bool {
	return f.history != nil || f.typed || !f.told(sampler.ToldShort)
}

// rowOf is the row of a line; none for words, and for what was typed by the user and only edited.
func (f *failure) rowOf(line string) (row concreteRow, found bool) {
	code, _, _ := strings.Cut(line, "  # ")
	words := strings.HasPrefix(line, "# ")
	if !words && (f.edited(code) || f.ofTool(code)) {
		return concreteRow{}, false
	}
	for _, row := range concreteRows {
		if id := strings.HasPrefix(row.part, "do."); id && line == f.comment(row.part) || !id && !words && strings.Contains(code, row.part) {
			return row, true
		}
	}
	return concreteRow{}, false
}

// ofTool: the line is an option of the program that the text names.
func (f *failure) ofTool(line string) bool {
	return f.tool != nil && slices.ContainsFunc(f.levers(), func(l tools.Lever) bool { return strings.TrimSpace(line) == l.Type })
}

// edited: the line is the user's command with a change.
func (f *failure) edited(line string) bool {
	if !f.command.Known {
		return false
	}
	words := strings.Fields(f.command.Text)
	return len(words) > 1 && strings.Contains(line, words[0]) && strings.Contains(line, words[1])
}

// inForceAlready: the line is about a setting that the text has.
func (f *failure) inForceAlready(line string) bool {
	code, _, _ := strings.Cut(line, "  # ")
	if strings.HasPrefix(line, "# ") || f.edited(code) {
		return false
	}
	if code != "" && f.withoutHigher(code) == "" {
		return true
	}
	return slices.ContainsFunc(f.context.Told, func(what string) bool {
		set, is := strings.CutPrefix(what, sampler.ToldInForce)
		return is && strings.Contains(code, set)
	}) || f.shows(sampler.ShowsFewBits) && (strings.Contains(code, "load_in_") || strings.Contains(code, "torch_dtype=torch.float16") || strings.Contains(code, ".half()")) ||
		f.shows(sampler.ShowsSixteenBits) && strings.Contains(code, "torch_dtype=torch.float16")
}

// onlyLess is a line without settings that are in force with no more than it says.
func (f *failure) onlyLess(line string) string {
	code, comment, is := strings.Cut(line, "  # ")
	if strings.HasPrefix(line, "# ") || f.edited(code) {
		return line
	}
	if code = f.withoutHigher(code); is {
		return code + "  # " + comment
	}
	return code
}

// allInForce: nothing of what could be typed is not set already.
func (f *failure) allInForce(list []string) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(line string) bool { return !f.inForceAlready(line) })
}

// withoutProgram leaves of a line what does not depend on how the program is called: options, or arguments where a script
// makes the engine itself.
func (f *failure) withoutProgram(line string, row concreteRow) string {
	code, comment, _ := strings.Cut(line, "  # ")
	options := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(code), row.part))
	if call := calls[f.program.name]; call != "" && f.shows(sampler.ShowsEngine, sampler.ShowsArguments) {
		if !f.shows(sampler.ShowsEngine) {
			call = "" // of a library that uses it
		}
		options = call + "(…, " + asArguments(options) + ")"
		if comment == "" {
			return options
		}
		return options + "  # " + comment
	}
	if comment == "" {
		comment = f.words.Say(row.words)
	}
	return options + "  # " + comment
}

// asArguments writes options as a call of Python has them.
func asArguments(options string) string {
	var list []string
	for _, word := range strings.Fields(options) {
		switch name, is := strings.CutPrefix(word, "--"); {
		case is:
			list = append(list, strings.ReplaceAll(name, "-", "_")+"=True")
		case len(list) > 0:
			list[len(list)-1] = strings.TrimSuffix(list[len(list)-1], "True") + word
		}
	}
	return strings.Join(list, ", ")
}

// shows says whether the text has one of these, by its sentences or its traceback.
func (f *facts) shows(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.told(sampler.ToldShows + name) })
}

// ownTorch: lines of code for PyTorch can be put somewhere: a traceback, a script, a command or code is shown, and the
// program is no tool.
func (f *failure) ownTorch() bool {
	if !f.torchCode() || f.program.is(imageTool|server) || f.program.name != "" {
		return false
	}
	return f.command.Known || len(f.context.Functions) > 0 || len(f.context.Scripts) > 0 || f.shows(sampler.ShowsTorch)
}

// ownLoop: the loop over the samples is at hand too, and not that of a library.
func (f *failure) ownLoop() bool {
	return f.ownTorch() && !f.shows(sampler.ShowsTrainer, sampler.ShowsLibrary) && !f.isUltralytics() && !f.inTrainerEvaluation() &&
		!f.inFile("mmdet/", "mmseg/", "mmcv/", "mmengine/", "detectron2/", "lightning/", "sentence_transformers/", "mteb/", "transformers/trainer.py")
}

func (f *failure) ownLoader() bool {
	return f.ownLoop() && (f.shows(sampler.ShowsLoader) || f.inTraining() || f.phase() == sampler.PhaseValidation)
}

func (f *failure) ownLoading() bool {
	if f.tool != nil && f.tool.Name == "NeMo" && !f.inFile("transformers/") {
		return false // which has a call of the same name, with other arguments
	}
	return f.shows(sampler.ShowsTransformers) || f.inFile("transformers/", "accelerate/", "peft/") || f.inFunction("from_pretrained") || f.inCode("from_pretrained")
}

// quantizesGPTQ: the library is AutoGPTQ, whose loading takes the bits as its second argument; AutoAWQ, LLM Compressor and others have other calls.
func (f *failure) quantizesGPTQ() bool {
	return f.tool != nil && f.tool.Name == "AutoGPTQ" || f.inFile("auto_gptq/") || f.inCode("AutoGPTQ", "BaseQuantizeConfig")
}

func (f *failure) ownPipe() bool {
	return f.program.name == "diffusers" || f.shows(sampler.ShowsDiffusers) || f.inFile("diffusers/", "pipeline_") || f.inCode("diffusers", "Pipeline")
}

func (f *failure) fsdp() bool {
	return f.shows(sampler.ShowsFSDP) || f.inFile("fsdp/") || f.inFunction("fsdp", "fully_shard") || f.command.HasPlain("fsdp", "use_fsdp")
}

func (f *failure) deepspeed() bool {
	return f.shows(sampler.ShowsDeepSpeed) || f.event.Framework == "deepspeed" || f.inFile("deepspeed/") || f.command.Runs("deepspeed") || f.command.HasPlain("deepspeed", "deepspeed_config", "zero_stage")
}

func (f *failure) ranks() bool {
	return f.shows(sampler.ShowsRanks) || f.event.Rank.Known() || f.context.WorldSize.Or(0) > 1 || f.command.Runs("torchrun", "deepspeed", "accelerate", "srun", "mpirun") || f.command.HasPlain("nproc_per_node") || len(f.siblings) > 1
}

// shardsItself: lines of one's own can shard the model. Under a launcher with a configuration it is set there.
func (f *failure) shardsItself() bool {
	return f.ownLoop() && f.ranks() && !strings.Contains(f.command.Text, "accelerate launch")
}

func (f *failure) checkpoints() bool {
	return f.torchCode() && (f.shows(sampler.ShowsCheckpoint, sampler.ShowsTorch) || f.ranks() || f.loadsOnGPU() || f.phase() == sampler.PhaseLoading || f.inFunction("load"))
}

// adapts: the model is of a kind for which adapters are trained instead, and nothing shows that they are already.
func (f *failure) adapts() bool {
	of := f.domain() == sampler.DomainText || f.told(sampler.ToldText) || f.told(sampler.ToldBillions) || f.told(sampler.ToldLargePainter) || f.told(sampler.ToldPictureSet) || f.ownLoading()
	return of && !f.shows(sampler.ShowsAdapters) && !f.usesLoRA()
}

// countsTokens: what the program reads are tokens, whose number has one of the usual names.
func (f *failure) countsTokens() bool {
	return f.domain() == sampler.DomainText || f.domain() == "" || f.ownLoading()
}

// accumulates: gradients of several steps can be added up by lines of one's own or by an option.
func (f *failure) accumulates() bool {
	return !f.told(sampler.ToldTried+"accumulation") && f.has(aTraining) && (f.torchCode() || f.atHand())
}

// attends: attention is computed there, in a PyTorch that can do without its matrix.
func (f *failure) attends() bool {
	if f.saysCached() || f.program.is(imageTool) {
		return false
	}
	return f.ownTorch() && (f.shows(sampler.ShowsAttention) || f.inFunction("attn", "attention") || f.inCode("attn", "attention", "softmax(", "bmm(", "@"))
}

// reportsNative: the driver of Linux keeps a part of the GPU from what it reports, that of Windows reports it whole (own
// thresholds). https://docs.nvidia.com/deploy/nvidia-smi/index.html
func (f *failure) reportsNative() bool {
	part := f.total.Or(0) % sampler.GiB
	return f.isPyTorch() && f.total.Known() && part > sampler.GiB/50 && part < sampler.GiB-sampler.GiB/50
}

// linux: something shows that system. A process that is killed by a signal shows it too.
func (f *failure) linux() bool {
	return !f.onWindows() && (f.onLinux() || f.reportsNative() || f.shows(sampler.ShowsLinux, sampler.ShowsContainer) || f.deepspeed() || f.program.reserves() || f.command.Known && f.class.class == classHost || f.event.Kind == sampler.KindKilled || f.event.Kind == sampler.KindKernelKill ||
		f.event.Kind == sampler.KindCgroupKill || f.event.Kind == sampler.KindWorkerKilled || f.event.Kind == sampler.KindKubernetes || f.class.class == classShm || f.class.class == classMaps || f.event.Kind == sampler.KindHIP || f.event.Kind == sampler.KindNPU)
}

func (f *failure) inContainer() bool {
	return !f.shows(sampler.ShowsColab) && !f.told(sampler.ToldNoContainer) && (f.shows(sampler.ShowsContainer) || f.event.Kind == sampler.KindCgroupKill || f.event.Kind == sampler.KindKubernetes)
}

func (f *failure) secondGPU() bool {
	if f.sole() {
		return f.event.GPUIndex.Or(0) > 0
	}
	return f.shows(sampler.ShowsSecondGPU) || f.told(sampler.ToldGPUs) || f.told(sampler.ToldWrongGPU) || f.event.GPUIndex.Or(0) > 0 || f.chosenGPUs() > "0" && f.chosenGPUs() != anyGPU || f.atHand()
}

func (f *facts) notebook() bool {
	return f.told(sampler.ToldNotebook) || f.shows(sampler.ShowsNotebook) || f.inFile("ipykernel", "<ipython-input", "IPython")
}

func (f *failure) withinWSL() bool {
	_, wsl := f.environment["WSL_DISTRO_NAME"]
	return wsl || indexOf(f.event.Text, "/mnt/c/") >= 0 || indexOf(strings.ToLower(f.event.Text), "wsl") >= 0
}

// runsTool: the command is that of the tool itself, so it takes the options that the tool has.
func (f *failure) runsTool(names ...string) bool {
	return slices.ContainsFunc(f.command.Words(), func(w string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(w), name) })
	})
}

// showing is for rows that need one of these to be shown.
func showing(names ...string) func(*failure) bool {
	return func(f *failure) bool { return f.shows(names...) }
}

// startedBy is for rows with the command of one.
func startedBy(f *failure) bool {
	return f.shows(sampler.ShowsServe) || f.command.Known && f.runsServer()
}
