package trainlog

import (
	"strings"

	"nvpeak/sampler"
)

// pairForm is one stage of a schedule that a log announces, as in "step 0 -> 8, step 150 -> 16, step 300 -> 24": where it begins, and how much there is of
// something from then on.
var pairForm = sampler.Pattern{Source: `(?i)(?:\b(?:steps?|iter(?:ation)?s?|epochs?)[ =:]{0,2})?\b(\d{1,7}) ?(?:->|=>|→|:) ?(\d{1,6})\b`}

// leastPairs make a schedule: of fewer nobody knows whether they are one.
const leastPairs = 3

// schedule is where the stages begin that a log announces. They end with the last one, as does what grows with them.
type schedule struct {
	begins []int
	epochs bool // they begin with epochs, not with steps
}

// scheduleOf is what a line announces: stages that begin later and later, each with more.
func scheduleOf(line string) (s schedule, ok bool) {
	line = line[:min(len(line), markBytes)]
	low := lower(line)
	at := -1
	for _, word := range []string{"schedule", "curriculum", "milestones", "ramp"} {
		at = max(at, strings.Index(low, word))
	}
	if at < 0 {
		return s, false
	}
	line, low = line[at:], low[at:] // there may be a time before it
	s.epochs = strings.Contains(low, "epoch")
	if !s.epochs && !strings.Contains(low, "step") && !strings.Contains(low, "iter") {
		return s, false
	}
	most := 0
	for _, f := range pairForm.Get().FindAllStringSubmatch(line, mostStages+1) {
		begin, size := number(f[1]), number(f[2])
		if n := len(s.begins); size <= most || n > 0 && begin <= s.begins[n-1] {
			return s, false
		}
		s.begins, most = append(s.begins, begin), size
	}
	return s, len(s.begins) >= leastPairs && len(s.begins) <= mostStages
}

// stage is the one in which a run is, by a line with its marks; of a schedule that it announces, the first.
func (s *schedule) stage(line string, marks []sampler.LogMark) (m sampler.LogMark, ok bool) {
	if announced, is := scheduleOf(line); is {
		*s = announced
		return s.mark(s.begins[0]), true
	}
	if len(s.begins) == 0 {
		return m, false
	}
	if !s.epochs {
		n, counts := stepOf(line)
		return s.mark(n), counts
	}
	for _, m := range marks {
		if n, counts := m.N.Value(); counts && m.Kind == sampler.MarkEpoch {
			return s.mark(n), true
		}
	}
	return m, false
}

// mark is the stage to which a step or an epoch belongs.
func (s *schedule) mark(at int) sampler.LogMark {
	n := 1
	for n < len(s.begins) && s.begins[n] <= at {
		n++
	}
	return sampler.LogMark{Kind: sampler.MarkStage, Label: "stage", N: sampler.Some(n), Of: len(s.begins)}
}
