package watch

import (
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// An alert is read while it changes: what it advises, and how urgent it is, must not jump.

const (
	// calmSeconds an alert has to deserve a lower level before it has it. A higher one it has at once.
	calmSeconds = 60
	// laterFixes that come first may join when there are already as many as an alert is raised with.
	laterFixes = 2
)

// calm keeps the level of an open alert up until it has deserved a lower one for a while.
func (in *incident) calm(now float64) {
	if urgency(in.found.level) >= urgency(in.now.Level) {
		in.calmSince = math.NaN()
		return
	}
	if math.IsNaN(in.calmSince) {
		in.calmSince = now
	}
	if now-in.calmSince < calmSeconds {
		in.found.level = in.now.Level
	}
}

// keepFixes brings the fixes of an open alert up to date: those it has stay in their order, with
// the figures of now; one that new facts bring joins, before the others where it decides, and stays. Only
// the advice to stop a process ends with the process, for good: its number may be another's next; and that of another GPU with the
// room there.
func (in *incident) keepFixes(g *gpu, fresh []sampler.Advice) []sampler.Advice {
	if len(in.now.Advice) == 0 {
		return fresh
	}
	kept := make([]sampler.Advice, 0, len(fresh)+laterFixes)
	for _, fix := range in.now.Advice {
		if pid, names := fix.PID.Value(); names && g != nil && g.withPID(pid) == nil {
			in.stopped = append(slices.Clone(in.stopped), pid)
			continue
		}
		at := slices.IndexFunc(fresh, func(a sampler.Advice) bool { return sameFix(a, fix) })
		if at < 0 && fix.ID == explain.FixOtherGPU {
			continue
		}
		if at >= 0 {
			fix = fresh[at]
		}
		kept = append(kept, fix)
	}
	for i, fix := range fresh {
		switch {
		case slices.ContainsFunc(kept, func(a sampler.Advice) bool { return sameFix(a, fix) }), slices.Contains(in.stopped, fix.PID.Or(0)):
		case i == 0 && len(kept) < maxFixes+laterFixes:
			kept = slices.Insert(kept, 0, fix)
		case len(kept) < maxFixes:
			kept = append(kept, fix)
		}
	}
	for i := range kept {
		kept[i].Rank = i + 1
	}
	return kept
}

// sameFix: the same thing is to be changed, to the same process where it is one.
func sameFix(a, b sampler.Advice) bool { return a.ID == b.ID && a.PID == b.PID }
