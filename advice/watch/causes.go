package watch

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
)

// alertCauses are the causes that alerts speak for, and how surely, if the run died of
// what was alerted.
var alertCauses = map[string]struct {
	id   string
	sure float64
}{
	"growth":       {"leak", 0.85},
	"repeat_spike": {"validation_spike", 0.8},
	"neighbour":    {"other_process", 0.85},
	"flush":        {"fragmentation", 0.5},
	"imbalance":    {"imbalance", 0.6},
	"unattributed": {"unattributed", 0.5},
	"host_memory":  {"host_memory", 0.85},
	"swap":         {"host_memory", 0.5},
}

// Causes says what the alerts that were open at a moment tell of a failure then, the
// surest first: for a run that died without a message. None: nothing was to be seen.
func Causes(alerts []sampler.Alert) []sampler.Cause {
	var list []sampler.Cause
	for _, a := range alerts {
		row, ok := alertCauses[a.Kind]
		if !ok {
			continue
		}
		// A spike that does not fit because somebody else came is the doing of the latter.
		if a.Kind == "repeat_spike" && len(a.Advice) > 0 && a.Advice[0].ID == "stop_other_process" {
			row.id = "other_process"
		}
		c := sampler.Cause{ID: row.id, Confidence: row.sure, Evidence: append([]string{a.Text}, a.Evidence...), Numbers: a.Numbers}
		i := slices.IndexFunc(list, func(o sampler.Cause) bool { return o.ID == c.ID })
		switch {
		case i < 0:
			list = append(list, c)
		case list[i].Confidence < c.Confidence:
			list[i] = c
		}
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return list
}
