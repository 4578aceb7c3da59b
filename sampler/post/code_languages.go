package post

import (
	"slices"

	"nvpeak/sampler"
)

// codeLanguages are those of programs on GPUs beside Python, with what has no PyTorch.
var codeLanguages = []struct {
	name  string
	words *lazy
}{
	{"julia", lazily(`\b(?i:julia)\b|\w\.jl\b|\bCUDA\.@|\bCuArrays?\b|\busing (?:Flux|CUDA|Knet|Lux)\b|\busing Flux\b`)},
	{"csharp", lazily(`\bC#(?:\W|$)|\bTorchSharp\b|\bTensorFlow\.NET\b|\bML\.NET\b`)},
	{"r", lazily(`\blibrary\((?:torch|keras|tensorflow|tabnet|luz)\)|\bRStudio\b|\b[Ii]n R\b|\bR (?:session|package|script)\b`)},
	{"ruby", lazily(`\b(?i:ruby)\b|\bcumo\b`)},
	{"rust", lazily(`\bRust\b|\brustc\b|\bcargo (?:run|build|test)\b|\btch-rs\b`)},
	{"elixir", lazily(`\bElixir\b|\bEXLA\b|\bLivebook\b|\bNx\.Serving\b`)},
	{"java", lazily(`\b(?i:java|kotlin|scala)\b(?: |\W)|\b(?:DL4J|Deeplearning4j|ND4J)\b`)},
	{"matlab", lazily(`(?i)\bmatlab\b|\bgpuArray\b|\bgpuDevice\(`)},
	// A program, of which only its own .cfg is written by others.
	{"darknet", lazily(`(?i)\bdarknet(?:\.exe)?\s+detector\s+(?:train|test|demo|map|valid|recall)\b|\bsrc/(?:dark_)?cuda\.c\b`)},
	{"mlx", lazily(`\bmlx(?:[-_]\w+)?\b|\bMLX\b|\[METAL\]`)},
}

// ofPython shows that the program is written in it.
var ofPython = lazily(`(?i)\bpython\d?\b|\.py\b|\bimport (?:torch|tensorflow|jax)\b|\bFile "[^"\n]+", line \d|\bpytorch\b|\btorch\.(?:cuda|OutOf)`)

// beside says that a program in Python stands there for comparison with the one above it.
var beside = lazily(`(?i)\b(?:pytorch|python|tensorflow|keras|jax) (?:code |version |program |script )?(?:equivalent|counterpart)|` +
	`\b(?:equivalent|same|corresponding) (?:\w+ )?(?:in )?(?:pytorch|python|tensorflow|keras|jax)\b`)

// inPython: the program is written in it, and not another one above it.
func inPython(text string, other *lazy) bool {
	python := ofPython.FindStringIndex(text)
	return python != nil && !(beside.MatchString(text) && other.FindStringIndex(text)[0] < python[0])
}

// collected: calls of the garbage collector are what makes it go through.
var collected = lazily(`(?i)\b(?:unless|only (?:if|when|way)|without|explicit|manual(?:ly)?|periodic(?:ally)?|eliminat\w*|works? (?:if|when))\b[^.\n]{0,60}(?:\b(?:gc|garbage[- ]collect\w*)\b|\bGC\.(?:gc|start|Collect)\b)`)

// collectedInVain: the collector was called, and that did not help.
var collectedInVain = lazily(`(?i)\b(?:gc\(\w*\)|garbage[- ]collect\w*|GC\.(?:gc|start|Collect)\b)[^.\n]{0,60}(?:\b(?:does|do|did|has|is)(?: not|n['’]?t)|\b(?:no effect|nothing|in vain|useless|without success))\b|` +
	`\b(?:even (?:with|after|if)|although|though|despite|tried)\b[^.\n]{0,40}(?:\bgc\(|\bGC\.(?:gc|start|Collect)\b)`)

// addLanguage puts the language of a program into a context, where it is none in which PyTorch is called as in Python.
func addLanguage(c *sampler.LogContext, text string, all []sentence) {
	for _, row := range codeLanguages {
		if row.words.MatchString(text) && (row.name == "mlx" || !inPython(text, row.words)) {
			c.Told = append(c.Told, sampler.ToldLanguage+row.name)
			if row.name == "mlx" && largest(text) != "" && !slices.Contains(c.Told, sampler.ToldText) && !paintsVideo.MatchString(text) && !trains.MatchString(text) {
				c.Told = append(c.Told, sampler.ToldText, sampler.ToldInference) // a model of that size that is run there writes
			}
			if slices.ContainsFunc(all, func(s sentence) bool { return collected.MatchString(s.text) }) {
				c.Told = append(c.Told, sampler.ToldCollected)
			} else if slices.ContainsFunc(all, func(s sentence) bool { return collectedInVain.MatchString(s.text) }) {
				c.Told = append(c.Told, sampler.ToldTriedCollect)
			}
			return
		}
	}
}
