package explain

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
)

// oomRule is one line of reasoning from the facts of a failure to a cause. Rules of one cause
// add their evidence; the surest of them gives the confidence.
type oomRule struct {
	id     string // R0 to R11 are the arithmetic of the message; the others read the run around it
	cause  string
	when   func(*failure) bool
	sure   func(*failure) float64 // 0..1
	say    func(*failure) string  // the evidence, with its numbers
	reason string                 // where the rule comes from
}

// oomRules is every rule there is. Order breaks ties between causes of one confidence.
var oomRules = slices.Concat(rulesHost, rulesElsewhere, rulesLimit, rulesFragmentation, rulesPhase, rulesCapacity, rulesUnknown)

// always is a confidence that does not depend on the failure.
func always(p float64) func(*failure) float64 { return func(*failure) float64 { return p } }

// causes applies the rules, surest cause first.
func (f *failure) causes() []sampler.Cause {
	var list []sampler.Cause
	for _, rule := range oomRules {
		if !rule.when(f) {
			continue
		}
		p := rule.sure(f)
		if p <= 0 {
			continue
		}
		i := slices.IndexFunc(list, func(c sampler.Cause) bool { return c.ID == rule.cause })
		if i < 0 {
			i = len(list)
			list = append(list, sampler.Cause{ID: rule.cause, Evidence: []string{}, Numbers: f.numbersFor(rule.cause)})
		}
		list[i].Confidence = max(list[i].Confidence, p)
		list[i].Evidence = append(list[i].Evidence, rule.say(f))
	}
	if len(list) == 0 {
		list = append(list, sampler.Cause{ID: "unknown", Confidence: 0.3, Evidence: []string{f.words.Say("why.unknown")}, Numbers: f.numbersFor("unknown")})
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return list
}

// numbersFor is the arithmetic behind a cause, in bytes unless the key says otherwise.
func (f *failure) numbersFor(cause string) map[string]float64 {
	n := map[string]float64{}
	put := func(key string, v amount) {
		if b, known := v.Value(); known {
			n[key] = float64(b)
		}
	}
	if f.onHost() {
		put("requested_bytes", f.requested)
		return n
	}
	put("requested_bytes", f.requested)
	put("total_bytes", f.total)
	put("free_bytes", f.free)
	put("allocated_bytes", f.allocated)
	put("holes_bytes", f.holes)
	put("outside_bytes", f.outside)
	put("elsewhere_bytes", f.elsewhere)
	if m, ok := f.missing(); ok {
		n["missing_bytes"] = float64(m)
		if f.holes.Known() {
			s, _ := f.short()
			n["short_bytes"] = float64(s)
		}
	}
	if f.footprint.known && (cause == "too_big" || cause == "validation_spike" || cause == "data_spike" || cause == "leak") {
		n["parameters"] = float64(f.footprint.parameters)
		n["states_bytes"] = float64(f.footprint.states.low)
		n["activations_bytes"] = float64(f.footprint.activations.mid())
		n["activations_percent"] = 100 * float64(f.footprint.activations.mid()) / float64(max(1, f.allocated.Or(0)))
	}
	if first, last, steady := f.growth(); steady && cause == "leak" {
		n["first_peak_bytes"], n["last_peak_bytes"] = first, last
	}
	return n
}

// TopCause is the id of the surest cause.
func TopCause(causes []sampler.Cause) string {
	if len(causes) == 0 {
		return "unknown"
	}
	return causes[0].ID
}
