package trainlog

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"nvpeak/sampler"
)

// stageForm is "level 5/16", "layer 35 of 47", "fp64 2/10:", "cache 299/300", "cache 21.3/21.4 GiB": which of its parts a run is at, or how much is kept of
// what it may keep.
var stageForm = sampler.Pattern{Source: `(?i)\b([a-z][\w ]{1,24}?)[ :=#(\[]{0,3}\b(\d{1,6})(?:\.(\d)\d?)?(?:\s?/\s?| of )(\d{1,6})(?:\.(\d)\d?\s?[gm]i?b)?\b`}

// maxStageLabels are remembered; then they begin again.
const maxStageLabels = 64

// leastStages and mostStages are how many parts are told of, whatever they are called. More are those of a progress bar, which begins
// again with the next epoch, but for what is kept.
const (
	leastStages = 4
	mostStages  = 64
)

// manyWords are the last words of labels of which more are told: what is kept, and parts.
var manyWords = sync.OnceValue(func() []string {
	words := slices.Clone(sampler.PartNames)
	for _, kept := range sampler.KeptNames {
		words = append(words, kept.Word)
	}
	return slices.Compact(slices.Sorted(slices.Values(words)))
})

// stageOf is the part that a line says the run is at.
func stageOf(line string) (m sampler.LogMark, ok bool) {
	line = line[:min(len(line), 160)]
	if !hasStage(line) {
		return m, false
	}
	f := stageForm.Get().FindStringSubmatch(line)
	if f == nil {
		return m, false
	}
	n, of := number(f[2]), number(f[4])
	label := strings.ToLower(strings.TrimSpace(f[1]))
	if f[3] != "" || f[5] != "" { // an amount, in tenths
		if !many(label) {
			return m, false
		}
		n, of = number(f[2]+cmp.Or(f[3], "0")), number(f[4]+cmp.Or(f[5], "0"))
	}
	if word := lastWord(label); slices.Contains(sampler.PartNames, word) {
		label = word // what is done within the part may be named before it
	}
	if of < leastStages || of > mostStages && !many(label) || n < 1 || n > of {
		return m, false
	}
	return sampler.LogMark{Kind: sampler.MarkStage, Label: label, N: sampler.Some(n), Of: of}, true
}

// many says whether there may be many of what a label tells.
func many(label string) bool {
	_, found := slices.BinarySearch(manyWords(), lastWord(label))
	return found
}

func lastWord(label string) string { return label[strings.LastIndexByte(label, ' ')+1:] }

// stagesSeen are the newest stages of each label.
type stagesSeen map[string]int

// news says whether a stage is another than the one before with its label; of many, whether a 64th of them has been added.
func (s stagesSeen) news(m sampler.LogMark) bool {
	n := m.N.Or(0)
	if m.Of > mostStages && n < m.Of {
		n = n * mostStages / m.Of
	}
	if was, known := s[m.Label]; known && was == n {
		return false
	}
	if len(s) >= maxStageLabels {
		clear(s)
	}
	s[m.Label] = n
	return true
}

// hasStage says whether a slash, or "of", stands between two numbers, long ones only beside a word for what is kept or for parts: most lines with one are paths
// and progress bars, and the pattern is slow.
func hasStage(line string) bool {
	return numbersAround(line, "/") || numbersAround(line, " of ")
}

func numbersAround(line, between string) bool {
	longest, looked := 2, false
	for at := 0; ; at++ {
		i := strings.Index(line[at:], between)
		if i < 0 {
			return false
		}
		at += i
		before := strings.TrimSuffix(line[:at], " ")
		after := strings.TrimPrefix(line[at+len(between):], " ")
		n := len(before) - len(strings.TrimRight(before, "0123456789"))
		of := len(after) - len(strings.TrimLeft(after, "0123456789"))
		if max(n, of) > longest && !looked {
			looked = true
			if lower := strings.ToLower(line); slices.ContainsFunc(manyWords(), func(word string) bool { return strings.Contains(lower, word) }) {
				longest = 6
			}
		}
		if min(n, of) >= 1 && max(n, of) <= longest {
			return true
		}
	}
}
