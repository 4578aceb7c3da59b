package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
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
	return (f.command.Known || f.toldWeights() > 0) && f.total.Known() && f.wholeOnOne() && f.namedWeights() >= partOf(f.total.Or(0), 0.95)
}

// wholeOnOne: a language model runs on one GPU with all of its weights, in 16 bits or more as far as is said.
func (f *failure) wholeOnOne() bool {
	return f.program.is(running) && !f.program.is(imageTool) && !f.layered() && f.context.Precision != "int8" && f.context.Precision != "nf4" && !f.spread()
}

// usable is the part of a GPU that weights can have: the rest are a context, what is kept of the tokens and activations (own threshold).
const usable = 0.9

// outweighs: by the size of the model and the GPU that a text without amounts names, the weights leave no room, and nothing in it speaks of several
// GPUs that share it, fewer bits or a run that went through.
func (f *failure) outweighs() bool {
	return f.wholeOnOne() && (f.isPyTorch() || f.program.reserves()) && f.saidTotal() > 0 && f.weightsIn(16) >= partOf(f.saidTotal(), usable) && !f.numbers() && !f.onHost() &&
		(!f.told(sampler.ToldGPUs) || f.command.Known && f.runsServer() && f.hasKnob(FixShardOrOffload) && !f.dividesModel()) && f.bitsInForce() >= 16 && !f.told(sampler.ToldWorked) && !f.told(sampler.ToldUpdate)
}

// smallerWouldFit: the weights of the named model leave no room on the GPU that is told, and the first that its program names is a smaller model.
func (f *failure) smallerWouldFit() bool {
	if f.tool == nil || f.saidTotal() == 0 || f.weightsIn(16) < partOf(f.saidTotal(), usable) || f.numbers() || f.onHost() || f.bitsInForce() < 16 {
		return false
	}
	list := f.levers()
	return len(list) > 0 && list[0].Of == tools.Model
}

// namedWeights is what the weights take in 16 bits as the command names the model, or whoever wrote the text; 0: neither does.
func (f *failure) namedWeights() sampler.Bytes {
	return max(namedWeights(strings.Fields(f.command.Text)), f.toldWeights())
}

// weightsPairs are what the weights take in different numbers of bits, for sentences about them.
func weightsPairs(f *failure) []any {
	return []any{"sixteen", gib(f.weightsIn(16)), "eight", gib(f.weightsIn(8)), "four", gib(f.weightsIn(4)), "total", gib(f.saidTotal())}
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

// weightsIn is what the weights of the model that the text names take in so many bits; 0: none is named.
func (f *facts) weightsIn(bits int) sampler.Bytes {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldModelSize); is {
			billions, _ := strconv.ParseFloat(n, 64)
			return sampler.Bytes(billions * 1e9 * float64(bits) / 8)
		}
	}
	return 0
}

// bitsInForce is in how many bits the weights are loaded, as far as is said.
func (f *failure) bitsInForce() int {
	switch {
	case f.shows(sampler.ShowsFourBits):
		return 4
	case f.shows(sampler.ShowsFewBits) || f.told(sampler.ToldTried+"bits8"):
		return 8
	case f.halfPrecision():
		return 16
	}
	return 32
}

// fewerBits are the numbers of bits below the one in force in which the weights fit the GPUs, the most first; all of them where the size of the model
// or of the GPUs is not said.
func (f *failure) fewerBits() (list []int) {
	room := partOf(f.saidTotal(), usable)
	if f.weightsIn(16) == 0 || f.spread() || f.told(sampler.ToldGPUs) {
		room = sampler.MaxPlausible
	}
	for _, bits := range []int{16, 8, 4} {
		if bits < f.bitsInForce() && (room == 0 || f.weightsIn(bits) <= room) {
			list = append(list, bits)
		}
	}
	return list
}

// unquantized: 8 bits are in force, and before anything ran the GPU held so much more than that (own threshold: half as much again) that the
// weights came to it as they were.
func (f *failure) unquantized() bool {
	begins := f.phase() == sampler.PhaseLoading || f.told(sampler.ToldAtStart) || f.nothingFreed()
	eight := f.weightsIn(8)
	return f.bitsInForce() == 8 && begins && !f.inTraining() && !f.onHost() && eight > 0 && f.allocated.Or(0) > eight*3/2
}

// spreading are the options that divide a model over GPUs or put a part of it into RAM.
var spreading = []string{"tensor_parallel_size", "tp", "tp_size", "pipeline_parallel_size", "num_shard", "nproc_per_node", "cpu_offload_gb", "device_map", "gpu_memory", "auto_devices"}

func (f *failure) spread() bool {
	if f.reported() && f.command.Known && f.runsServer() && f.hasKnob(FixShardOrOffload) && !f.dividesModel() && !f.command.HasPlain(spreading...) {
		return false // what a sentence says of its options need not be set
	}
	if set := f.numbersInForce(spreading...); f.context.WorldSize.Or(1) > 1 || len(set) > 0 && slices.Max(set) > 1 {
		return true
	}
	return slices.ContainsFunc(spreading, func(name string) bool {
		a, found := f.command.Find(name)
		return found && a.Value != "1"
	})
}
