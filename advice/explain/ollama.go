package explain

import (
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// The contexts that Ollama takes by default, the shorter one before 0.6: https://docs.ollama.com/context-length
const (
	ollamaContext    = 4096
	oldOllamaContext = 2048
)

func (f *facts) usualContext() int {
	if f.told(sampler.ToldOldOllama) {
		return oldOllamaContext
	}
	return ollamaContext
}

// ollamaSets is how a parameter of Ollama is set, and the words for where: at its prompt only where a model answers already, as none comes before the
// model is loaded.
func (f *failure) ollamaSets() (set, where string) {
	if f.phase() == sampler.PhaseInference {
		return "/set parameter ", "do.num_gpu"
	}
	return "PARAMETER ", "do.num_gpu_modelfile"
}

func doFewerOllama(f *failure) []string {
	set, where := f.ollamaSets()
	lines := []string{set + "num_gpu " + strconv.Itoa(f.below("num_gpu", 30)*2/3) + "  " + f.comment(where)}
	usual := f.usualContext()
	switch longest := slices.Max(append(f.numbersInForce("num_ctx"), 0)); {
	case f.below("num_ctx", usual+1) > usual && longest > 0:
		lines = append(lines, set+"num_ctx "+strconv.Itoa(usual))
	case longest == 0 && !f.told(sampler.ToldOldOllama): // which has no more unless it is told so
		lines = append(lines, set+"num_ctx "+strconv.Itoa(usual)+"  "+f.comment("do.if_more_context"))
	}
	return lines
}

// misjudged: Ollama runs other models here. It puts as many layers on a GPU as fit by its own estimate, so the size of a model is not why one fails:
// the estimate for models of its kind is wrong, which later versions put right.
func (f *facts) misjudged() bool {
	return f.program.name == "ollama" && f.told(sampler.ToldOthersRun) && !f.onHost()
}
