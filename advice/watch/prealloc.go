package watch

import (
	"strings"

	"nvpeak/sampler"
)

// Preallocation says that a process has taken its memory on purpose: a high level of it
// means nothing, and what it holds is not what it needs.
type Preallocation struct {
	Program string // "JAX"
	Takes   string // what it takes: "75 % of the card at first use"
	Knob    string // what changes that
	Source  string // URL
}

// preallocators are the programs that take memory before they need it, with the words in
// a name, command line or environment that tell them.
var preallocators = []struct {
	Preallocation
	framework string            // as the process list names it
	words     []string          // of which one is in the name or the command line
	off       map[string]string // variables and values that turn it off
}{
	{framework: "vllm", words: []string{"vllm"}, Preallocation: Preallocation{"vLLM", "90 to 92 % of the card for weights and cache",
		"--gpu-memory-utilization", "https://github.com/vllm-project/vllm/blob/main/vllm/config/cache.py"}},
	{framework: "sglang", words: []string{"sglang"}, Preallocation: Preallocation{"SGLang", "the card but for some GiB",
		"--mem-fraction-static", "https://docs.sglang.io/advanced_features/hyperparameter_tuning.html"}},
	{framework: "jax", words: []string{"jax", "flax"}, off: map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
		Preallocation: Preallocation{"JAX", "75 % of the card at first use", "XLA_PYTHON_CLIENT_MEM_FRACTION",
			"https://docs.jax.dev/en/latest/gpu_memory_allocation.html"}},
	{framework: "tensorflow", words: []string{"tensorflow"}, off: map[string]string{"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
		Preallocation: Preallocation{"TensorFlow", "nearly all free memory of all visible cards", "TF_FORCE_GPU_ALLOW_GROWTH=true",
			"https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth"}},
	{framework: "paddle", words: []string{"paddle"}, off: map[string]string{"FLAGS_allocator_strategy": "auto_growth"},
		Preallocation: Preallocation{"PaddlePaddle", "92 % of the card in older builds", "FLAGS_allocator_strategy=auto_growth",
			"https://github.com/PaddlePaddle/PGL/issues/26"}},
	{framework: "ollama", words: []string{"ollama", "llama-server", "llama.cpp"}, Preallocation: Preallocation{"llama.cpp", "weights and the whole cache at load",
		"context length, --n-gpu-layers", "https://github.com/ggml-org/llama.cpp"}},
}

// Preallocates says whether a process is of a program that takes memory on purpose and
// has not been told otherwise.
func Preallocates(p sampler.Process) (pre Preallocation, yes bool) {
	text := strings.ToLower(p.Name + " " + p.Command)
	for i := range preallocators {
		row := &preallocators[i]
		known := strings.EqualFold(p.Framework.Or(""), row.framework)
		for _, word := range row.words {
			known = known || strings.Contains(text, word)
		}
		if !known {
			continue
		}
		for name, value := range row.off {
			if strings.EqualFold(p.Environment[name], value) {
				return Preallocation{}, false
			}
		}
		return row.Preallocation, true
	}
	return Preallocation{}, false
}

// preallocated is a line of evidence about a process that took its memory on purpose.
func (c *card) preallocated(p *proc) (line string, yes bool) {
	pre, known := Preallocates(*p.process)
	if !known || !p.series.Flat(c.total) {
		return "", false
	}
	return "it is " + pre.Program + ", which takes " + pre.Takes + " (" + pre.Knob + ")", true
}
