package explain

import (
	"slices"

	"nvpeak/sampler"
)

// AlertCauses says what the alerts that were open at a moment tell of a failure then, the
// surest first: for a run that died without a message. None: nothing was to be seen.
func AlertCauses(alerts []sampler.Alert) []sampler.Cause {
	var list []sampler.Cause
	for _, a := range alerts {
		at := slices.IndexFunc(causesAlerts, func(r causeRow) bool { return r.alert == a.Kind })
		if at < 0 {
			continue
		}
		row := causesAlerts[at]
		c := sampler.Cause{ID: row.cause, Confidence: row.confidence(nil), Evidence: append([]string{a.Text}, a.Evidence...), Numbers: a.Numbers}
		// A spike that does not fit because another process came is the doing of the latter.
		if c.ID == CauseValidationSpike && len(a.Advice) > 0 && a.Advice[0].ID == FixStopOtherProcess {
			c.ID = CauseOtherProcess
		}
		if a.Numbers[Swell] > 0 { // a leak keeps the same each time
			c.ID, c.Confidence = CauseDataSpike, swellSure
		}
		i := slices.IndexFunc(list, func(o sampler.Cause) bool { return o.ID == c.ID })
		switch {
		case i < 0:
			list = append(list, c)
		case list[i].Confidence < c.Confidence:
			list[i] = c
		}
	}
	surestFirst(list)
	return list
}

// AlertKinds are the kinds of alerts that speak for a cause.
func AlertKinds() (kinds []string) {
	for _, r := range causesAlerts {
		kinds = append(kinds, r.alert)
	}
	return kinds
}

// Swell is, among the numbers of an alert of growth, by how much each step is larger than the one before; absent: they are equal.
const Swell = "step_factor"

const (
	// swellSure: what swells are inputs, or arrays that are made larger each time.
	swellSure = 0.5
	// alertedWeight: what was alerted before a failure is evidence beside the message, which
	// speaks of the failure itself.
	alertedWeight = 0.85
	maxConfidence = 0.97
)

// withAlerts joins the causes that a message gives with those that were alerted. Both saying
// the same makes it surer.
func withAlerts(said, alerted []sampler.Cause) []sampler.Cause {
	for _, a := range alerted {
		i := slices.IndexFunc(said, func(c sampler.Cause) bool { return c.ID == a.ID })
		if i < 0 {
			a.Confidence *= alertedWeight
			said = append(said, a)
			continue
		}
		c := &said[i]
		c.Confidence = min(maxConfidence, max(c.Confidence, 1-(1-c.Confidence)*(1-a.Confidence*0.5)))
		c.Evidence = slices.Concat(c.Evidence, a.Evidence[:min(1, len(a.Evidence))])
	}
	return said
}
