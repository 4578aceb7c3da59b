package trainlog

import (
	"strings"

	"nvpeak/sampler"
)

// stageForm is "level 5/16", "fp64 2/10:": which of a few parts a run is at. Steps and batches are more.
var stageForm = sampler.Pattern{Source: `(?i)\b([a-z][\w ]{1,24}?)[ :=#(\[]{0,3}\b(\d{1,2})\s?/\s?(\d{1,2})\b`}

// maxStageLabels are remembered; then they begin again.
const maxStageLabels = 64

// leastStages and mostStages are how many parts are told of.
const (
	leastStages = 4
	mostStages  = 64
)

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
	n, of := number(f[2]), number(f[3])
	if of < leastStages || of > mostStages || n < 1 || n > of {
		return m, false
	}
	return sampler.LogMark{Kind: sampler.MarkStage, Label: strings.ToLower(strings.TrimSpace(f[1])), N: sampler.Some(n), Of: of}, true
}

// hasStage says whether a slash stands between two short numbers: most lines with one are paths and progress bars,
// and the pattern is slow.
func hasStage(line string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(line[at:], '/')
		if i < 0 {
			return false
		}
		at += i
		before := strings.TrimSuffix(line[:at], " ")
		after := strings.TrimPrefix(line[at+1:], " ")
		n := len(before) - len(strings.TrimRight(before, "0123456789"))
		of := len(after) - len(strings.TrimLeft(after, "0123456789"))
		if n >= 1 && n <= 2 && of >= 1 && of <= 2 {
			return true
		}
	}
}
