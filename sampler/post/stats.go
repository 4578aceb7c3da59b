package post

import (
	"strconv"

	"nvpeak/sampler"
)

// stats are figures that programs print beside a failure, in lines of their own before or after it.
var stats = []struct {
	kind  string // of the failure
	name  string // in Extra, in bytes
	words *lazy  // the number, and its unit where one is printed
}{
	// TensorFlow's allocator: what its pool may take, and what is taken of it.
	{sampler.KindTensorFlow, "pool_limit_bytes", lazily(`(?m)^Limit: +(\d{6,15})()\s*$`)},
	{sampler.KindTensorFlow, "pool_used_bytes", lazily(`(?m)^InUse: +(\d{6,15})()\s*$`)},
	// TensorFlow at start: what the GPU has in all.
	{sampler.KindTensorFlow, "gpu_total_bytes", lazily(`(?i)\btotal ?memory: (\d{1,4}(?:\.\d{1,3})?) ?([MG]iB)\b`)},
	{sampler.KindTensorFlow, "gpu_free_bytes", lazily(`(?i)\bfree ?memory: (\d{1,4}(?:\.\d{1,3})?) ?([MG]iB)\b`)},
	// CUDA.jl lists its devices with what is free of each; it takes the first unless told otherwise (https://cuda.juliagpu.org/stable/usage/multigpu/).
	{sampler.KindJulia, "gpu_free_bytes", lazily(`(?m)^\W*0: [^\n]*\(sm_\d+, (\d{1,5}(?:\.\d{1,3})?) ([MG]iB) / [\d.]+ GiB available\)`)},
	{sampler.KindJulia, "gpu_total_bytes", lazily(`(?m)^\W*0: [^\n]*\(sm_\d+, [\d.]+ [MG]iB / (\d{1,4}(?:\.\d{1,3})?) (GiB) available\)`)},
	// ollama: what it found free on the one GPU, and what it planned to take of it.
	{sampler.KindGGML, "planned_free_bytes", lazily(`\bmemory\.available="\[(\d{1,5}(?:\.\d{1,3})?) ([MG]iB)\]"`)},
	{sampler.KindGGML, "planned_bytes", lazily(`\bmemory\.required\.allocations="\[(\d{1,5}(?:\.\d{1,3})?) ([MG]iB)\]"`)},
}

// units of stats; without one they are bytes.
var units = map[string]float64{"": 1, "MiB": float64(sampler.MiB), "GiB": float64(sampler.GiB)}

// addStats puts into a failure the figures of its kind that the text has. The last of each counts: it is the newest.
func addStats(e *sampler.OOMEvent, text string) {
	for _, row := range stats {
		found := row.words.FindAllStringSubmatch(text, -1)
		if row.kind != e.Kind || len(found) == 0 {
			continue
		}
		last := found[len(found)-1]
		if n, err := strconv.ParseFloat(last[1], 64); err == nil {
			if e.Extra == nil {
				e.Extra = map[string]any{}
			}
			e.Extra[row.name] = n * units[last[2]]
		}
	}
}
