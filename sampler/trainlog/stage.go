package trainlog

import (
	"regexp"
	"strings"

	"nvpeak/sampler"
)

// stageForm is "level 5/16", "fp64 2/10:": which of a few parts a run is at. Steps and batches are more.
var stageForm = regexp.MustCompile(`(?i)\b([a-z][\w ]{1,24}?)[ :=#(\[]{0,3}\b(\d{1,2})\s?/\s?(\d{1,2})\b`)

// maxStageLabels are remembered; then they begin again.
const maxStageLabels = 64

// leastStages and mostStages are how many parts are told of.
const (
	leastStages = 4
	mostStages  = 64
)

// stageOf is the part that a line says the run is at.
func stageOf(line string) (m sampler.LogMark, ok bool) {
	at := strings.IndexByte(line, '/')
	if at < 2 || at+1 >= len(line) {
		return m, false
	}
	f := stageForm.FindStringSubmatch(line[:min(len(line), 160)])
	if f == nil {
		return m, false
	}
	n, of := number(f[2]), number(f[3])
	if of < leastStages || of > mostStages || n < 1 || n > of {
		return m, false
	}
	return sampler.LogMark{Kind: sampler.MarkStage, Label: strings.ToLower(strings.TrimSpace(f[1])), N: sampler.Some(n), Of: of}, true
}
