package explain

import (
	"cmp"
	"slices"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// causeRow is one line of reasoning from the facts of a failure to a cause. Rules of one cause
// add their evidence; the surest of them gives the confidence.
type causeRow struct {
	id         string // R0 to R11 are the arithmetic of the message; the others read the run around it
	alert      string // kind of the alert that speaks for the cause; such a row has neither when nor evidence
	cause      string
	form       string // what the cause is here, where the row is the surest of it and that has a name of its own
	when       func(*failure) bool
	confidence func(*failure) float64 // 0..1
	evidence   func(*failure) string  // the evidence, with its numbers
	reason     string                 // where the rule comes from
}

// Title is the name of a cause in a language.
func Title(words lang.Catalog, c sampler.Cause) string {
	if id := "cause." + c.ID + "." + c.Form; c.Form != "" && words.Has(id) {
		return words.Say(id)
	}
	return words.Say("cause." + c.ID)
}

// always is a confidence that does not depend on the failure.
func always(p float64) func(*failure) float64 { return func(*failure) float64 { return p } }

func surestFirst(list []sampler.Cause) {
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
}
