package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// language is that of a program in which nothing is called as in Python with PyTorch, by its name in package post; "" for none.
func (f *facts) language() string {
	for _, what := range f.context.Told {
		if name, is := strings.CutPrefix(what, sampler.ToldLanguage); is {
			return name
		}
	}
	return ""
}

// ofTorch are fixes that are calls of PyTorch.
var ofTorch = []string{FixNoGradValidation, FixNoGradInference, FixGradientCheckpointing, FixAMPBF16, FixExpandableSegments, FixExpandableSegmentsOff, FixCuDNNBenchmark, FixLoadOnCPU, FixSaveOnCPU}

// collectors give back what a program of that language no longer uses: https://cuda.juliagpu.org/stable/usage/memory/,
// https://github.com/dotnet/TorchSharp/wiki/Memory-Management, https://torch.mlverse.org/docs/articles/memory-management
var collectors = map[string]string{"julia": "GC.gc(); CUDA.reclaim()", "csharp": "using var scope = torch.NewDisposeScope();", "r": "gc()", "ruby": "GC.start"}

var causesLanguage = []causeRow{
	{id: "told", cause: CauseUnknown, form: "collector", reason: "https://cuda.juliagpu.org/stable/usage/memory/",
		when:       func(f *failure) bool { return f.told(sampler.ToldCollected) && !f.onHost() },
		confidence: always(0.85),
		evidence:   func(f *failure) string { return f.words.Say("why.collector") }},
	{id: "told", cause: CauseUnknown, form: "collector", reason: "https://cuda.juliagpu.org/stable/usage/memory/",
		when:       func(f *failure) bool { return f.waitsForCollector() },
		confidence: always(0.72),
		evidence:   func(f *failure) string { return f.words.Say("why.collector_next") }},
}

var fixesLanguage = []fixRow{
	{id: FixLeak, source: "https://cuda.juliagpu.org/stable/usage/memory/",
		kinds: ownCode, cost: 0.01,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.5, CauseLeak: 0.97, CauseValidationSpike: 0.5, CauseFragmentation: 0.6},
		when: func(f *failure) bool {
			return !f.onHost() && (f.told(sampler.ToldCollected) || collectors[f.language()] != "")
		},
		reach: func(f *failure) float64 {
			if f.told(sampler.ToldCollected) || f.waitsForCollector() {
				return 1
			}
			return 0.7
		},
		variant: func(f *failure) string {
			switch {
			case f.told(sampler.ToldCollected):
				return "collecting"
			case f.told(sampler.ToldTriedCollect):
				return "in_vain"
			}
			return "collector"
		},
		do: func(f *failure) []string {
			if f.told(sampler.ToldCollected) { // it is called
				return []string{f.comment("do.newest_library"), f.comment("do.free_by_hand")}
			}
			if f.told(sampler.ToldTriedCollect) {
				list := []string{f.comment("do.newest_library"), f.comment("do.free_by_hand")}
				if f.language() == "julia" { // its pool keeps what was collected, and other libraries allocate beside it
					list[1] = f.comment("do.reclaim")
				}
				return list
			}
			lines := []string{f.comment("do.collect"), f.comment("do.free_by_hand")}
			if call := collectors[f.language()]; call != "" {
				lines[0] = call + "  " + f.comment("do.collect")
			}
			return lines
		}},
}

// waitsForCollector: the same ran once, and what it used then is given back by a collector that does not know how full the GPU is.
func (f *facts) waitsForCollector() bool {
	return f.told(sampler.ToldNext) && collectors[f.language()] != "" && !f.onHost() && !f.numbers()
}

// callsTorch: a fix can be typed in the language of the program.
func (f *facts) callsTorch(id string) bool {
	return f.language() == "" || !slices.Contains(ofTorch, id)
}
