package explain

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// Preallocation says that a process has taken its memory on purpose: a high level of it
// means nothing, and what it holds is not what it needs.
type Preallocation struct {
	ID      string // as the process list names the framework; "prealloc." and this is what it takes in package lang
	Program string // "JAX"
	Knob    string // what changes that
	Source  string // URL
}

// preallocators are the programs that take memory before they need it, with the words in
// a name, command line or environment that tell them.
var preallocators = []struct {
	Preallocation
	words []string          // of which one is in the name or the command line
	off   map[string]string // variables and values that turn it off
}{
	{words: []string{"vllm"}, Preallocation: Preallocation{"vllm", "vLLM",
		"--gpu-memory-utilization", "https://github.com/vllm-project/vllm/blob/main/vllm/config/cache.py"}},
	{words: []string{"sglang"}, Preallocation: Preallocation{"sglang", "SGLang",
		"--mem-fraction-static", "https://docs.sglang.io/advanced_features/hyperparameter_tuning.html"}},
	{words: []string{"jax", "flax"}, off: map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
		Preallocation: Preallocation{"jax", "JAX", "XLA_PYTHON_CLIENT_MEM_FRACTION",
			"https://docs.jax.dev/en/latest/gpu_memory_allocation.html"}},
	{words: []string{"tensorflow"}, off: map[string]string{"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
		Preallocation: Preallocation{"tensorflow", "TensorFlow", "TF_FORCE_GPU_ALLOW_GROWTH=true",
			"https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth"}},
	{words: []string{"paddle"}, off: map[string]string{"FLAGS_allocator_strategy": "auto_growth"},
		Preallocation: Preallocation{"paddle", "PaddlePaddle", "FLAGS_allocator_strategy=auto_growth",
			"https://github.com/PaddlePaddle/PGL/issues/26"}},
	{words: []string{"ollama", "llama-server", "llama.cpp"}, Preallocation: Preallocation{"ollama", "llama.cpp",
		"context length, --n-gpu-layers", "https://github.com/ggml-org/llama.cpp"}},
}

// withoutOptions is a command without the names of its options: who has one to use a server, such as --use_vllm, need not be one. Where that shares the
// process (https://huggingface.co/docs/trl/main/en/vllm_integration), it is.
func withoutOptions(command string) string {
	if strings.Contains(command, "colocate") {
		return command
	}
	words := strings.Fields(command)
	for i, word := range words {
		if strings.HasPrefix(word, "--") {
			_, words[i], _ = strings.Cut(word, "=")
		}
	}
	return strings.Join(words, " ")
}

// Preallocates says whether a process is of a program that takes memory on purpose and
// has not been told otherwise.
func Preallocates(p sampler.Process) (pre Preallocation, yes bool) {
	text := strings.ToLower(p.Name + " " + p.Command)
	for i := range preallocators {
		row := &preallocators[i]
		known := strings.EqualFold(p.Framework.Or(""), row.ID)
		for _, word := range row.words {
			known = known || strings.Contains(text, word) && strings.Contains(withoutOptions(text), word)
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

// Spills says whether a program of XLA was told to go on in the memory of the machine where the GPU is full
// (https://github.com/google-deepmind/alphafold/blob/main/docker/run_docker.py): it may take more than there is, by unified memory.
func Spills(p sampler.Process) bool {
	unified := p.Environment["TF_FORCE_UNIFIED_MEMORY"]
	for _, name := range []string{"XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"} {
		share, err := strconv.ParseFloat(p.Environment[name], 64)
		if err == nil && share > 1 && (unified == "1" || strings.EqualFold(unified, "true")) {
			return true
		}
	}
	return false
}
