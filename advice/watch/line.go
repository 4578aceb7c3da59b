package watch

import (
	"math"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// maxLines is how many lines are looked through for one to join.
const maxLines = 64

// apartSeconds: what stands in one line stays there until it has differed for so long. The figures of GPUs alike
// are not of the same second, and a line that splits and joins again is not read.
const apartSeconds = 15

// joinLines says which open incidents are one line of a text: those that were stay together, others join them at once.
func (w *Watch) joinLines(open []*incident) {
	words := lang.For(w.lang)
	lines := map[string]*incident{} // the first of each
	var order []string
	for _, in := range open {
		line := in.now.ID
		if _, ok := withoutGPU(in.now, words); ok {
			line = in.lineAmong(lines, order, w.clock.Now)
		}
		if lines[line] == nil {
			lines[line] = in
			if len(order) < maxLines {
				order = append(order, line)
			}
		}
		if line != in.line {
			in.line, in.apartSince = line, math.NaN()
		}
		in.now.Line = line
	}
}

// lineAmong is the line for an incident: its own of before, or else one that says the same.
func (in *incident) lineAmong(lines map[string]*incident, order []string, now float64) string {
	before := lines[in.line]
	if before != nil && sameFinding(before.now, in.now) && in.near(before.now, now) {
		return in.line
	}
	for _, line := range order {
		if first := lines[line].now; sameFinding(first, in.now) && near(first, in.now) {
			return line
		}
	}
	if in.line != "" && before == nil {
		return in.line
	}
	return in.now.ID
}

// near says whether an incident is near the first of its line, or was until lately.
func (in *incident) near(first sampler.Alert, now float64) bool {
	if near(first, in.now) {
		in.apartSince = math.NaN()
		return true
	}
	if math.IsNaN(in.apartSince) {
		in.apartSince = now
	}
	return now-in.apartSince < apartSeconds
}
