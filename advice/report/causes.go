package report

import (
	"cmp"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

const (
	// alertedWeight: what was alerted before a failure is evidence beside the message, which
	// speaks of the failure itself.
	alertedWeight = 0.85
	maxSure       = 0.97
)

// mergeCauses joins the causes that a message gives with those that were alerted. Both
// saying the same makes it surer.
func mergeCauses(said, alerted []sampler.Cause) []sampler.Cause {
	list := slices.Clone(said)
	for _, a := range alerted {
		i := slices.IndexFunc(list, func(c sampler.Cause) bool { return c.ID == a.ID })
		if i < 0 {
			a.Confidence *= alertedWeight
			list = append(list, a)
			continue
		}
		c := &list[i]
		c.Confidence = min(maxSure, max(c.Confidence, 1-(1-c.Confidence)*(1-a.Confidence*0.5)))
		c.Evidence = slices.Concat(c.Evidence, a.Evidence[:min(1, len(a.Evidence))])
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return list
}

const (
	// foreseenWeight: an unusual batch is a surprise; what was alerted before was none.
	foreseenWeight = 0.6
	// holesWeight: growth that is mostly holes of the allocator is fragmentation, whatever
	// it looks like from outside.
	holesWeight = 0.5
	holesShare  = 0.5
)

// weighCauses lets the message and the recording correct each other. From outside a leak
// and fragmentation look the same; the message tells them apart. From the message a spike
// looks like an unusual batch; the recording tells whether it was.
func weighCauses(list []sampler.Cause, in explain.Incident, e sampler.OOMEvent) {
	foreseen, holed := false, holesExplain(in.History, e)
	for _, c := range list {
		foreseen = foreseen || c.Confidence >= 0.6 && (c.ID == "validation_spike" || c.ID == "leak" || c.ID == "other_process")
	}
	for i := range list {
		switch c := &list[i]; {
		case c.ID == "data_spike" && foreseen:
			c.Confidence *= foreseenWeight
		case c.ID == "leak" && holed:
			c.Confidence *= holesWeight
		}
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
}

// holesExplain says whether the request would have fitted into free memory and holes, and
// the holes are most of what the process grew by.
func holesExplain(h *explain.History, e sampler.OOMEvent) bool {
	holes, ok := sampler.Plausible(e.ReservedUnallocated)
	need, asked := sampler.Plausible(e.Requested)
	if !ok || !asked || h == nil || len(h.Peaks) < 2 || need > holes+e.GPUFree.Or(0) {
		return false
	}
	grown := h.Peaks[len(h.Peaks)-1].Less(h.Peaks[0])
	return float64(holes) >= holesShare*float64(grown) && float64(holes) >= 0.05*float64(holes+e.Allocated.Or(0))
}
