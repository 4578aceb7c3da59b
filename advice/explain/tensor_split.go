package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// tensorSplit is how llama.cpp is told what each GPU gets: a number for each of them, in their order, of which only the proportion counts. Where none
// is given it divides by what is free. Empty: there is one GPU, or nothing tells.
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
func (f *failure) tensorSplit() string {
	full, known := f.event.GPUIndex.Value()
	parts := f.listedGiB()
	count := max(f.gpuCount(), len(parts), full+1)
	switch {
	case known && count > 1 && len(parts) == count && !slices.Contains(parts, "0"):
		parts[full] = halved(parts[full])
		return f.comment("do.tensor_split.parts", "parts", strings.Join(parts, ","), "gpu", full)
	case known && count > 2:
		return f.comment("do.tensor_split.count", "n", count, "gpu", full)
	case f.severalGPUs() || f.shows(sampler.ShowsSecondGPU) || count > 1:
		return f.comment("do.tensor_split")
	}
	return ""
}

// listedGiB is the memory of the GPUs that llama.cpp listed, in their order, "0" where their name does not tell it.
func (f *facts) listedGiB() (parts []string) {
	for _, what := range f.context.Told {
		line, is := strings.CutPrefix(what, sampler.ToldListed)
		number, name, _ := strings.Cut(line, " ")
		if !is || number != strconv.Itoa(len(parts)) {
			continue
		}
		parts = append(parts, strconv.FormatUint(uint64(soldWith(name)/sampler.GiB), 10))
	}
	return parts
}

// halved is half of such a number, and not nothing.
func halved(part string) string {
	n, _ := strconv.ParseFloat(part, 64)
	return plainNumber(max(1, n/2))
}
