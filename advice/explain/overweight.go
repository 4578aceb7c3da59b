package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

var (
	namedSize = sampler.Pattern{Source: `(?i)(?:^|[-_/ =.])(?:(\d{1,2})x)?(\d{1,3}(?:\.\d{1,2})?)b(?:[-_/ .]|$)`}
	quantized = sampler.Pattern{Source: `(?i)awq|gptq|gguf|ggml|int[48]|[48][-_]?bits?\b|load_in_|fp8|nf4|bnb|w[48]a|q[2-8]_|exl2|quantiz`}
)

// namedWeights is what the weights of the model take in 16 bits whose size its name in the command tells; 0: not told, or fewer bits.
func namedWeights(words []string) sampler.Bytes {
	var billions float64
	for _, word := range words {
		if quantized.Get().MatchString(word) {
			return 0
		}
		for _, m := range namedSize.Get().FindAllStringSubmatch(word, -1) {
			n, _ := strconv.ParseFloat(m[2], 64)
			if experts, _ := strconv.ParseFloat(m[1], 64); experts > 0 {
				n *= experts * 0.8 // experts share the rest of the model
			}
			billions = max(billions, n)
		}
	}
	return sampler.Bytes(billions * 2e9)
}

// overweight: one GPU runs the model, and its weights alone are more than the GPU has.
func (f *failure) overweight() bool {
	if !f.command.Known && f.toldWeights() == 0 || !f.total.Known() || !f.program.is(running) || f.program.is(imageTool) || f.layered() || f.context.Precision == "int8" || f.context.Precision == "nf4" || f.spread() {
		return false
	}
	return max(namedWeights(strings.Fields(f.command.Text)), f.toldWeights()) >= partOf(f.total.Or(0), 0.95)
}

// toldWeights is what the weights of the model take in 16 bits that whoever wrote the text names; 0: none.
func (f *failure) toldWeights() sampler.Bytes {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldWeights); is {
			billions, _ := strconv.ParseFloat(n, 64)
			return sampler.Bytes(billions * 2e9)
		}
	}
	return 0
}

// spreading are the options that divide a model over GPUs or put a part of it into RAM.
var spreading = []string{"tensor_parallel_size", "tp", "tp_size", "pipeline_parallel_size", "num_shard", "nproc_per_node", "cpu_offload_gb", "device_map", "gpu_memory", "auto_devices"}

func (f *failure) spread() bool {
	if f.context.WorldSize.Or(1) > 1 {
		return true
	}
	return slices.ContainsFunc(spreading, func(name string) bool {
		a, found := f.command.Find(name)
		return found && a.Value != "1"
	})
}
