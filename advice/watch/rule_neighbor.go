package watch

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleNeighbor = Rule{
	Code:  sampler.AlertNeighbor,
	Level: sampler.LevelWarning,
	Reason: "A process has shown of late that it takes more at times, and beside what others hold now, who have taken memory since, that " +
		"does not fit any more.",
	HoldFor:    10 * time.Second, // longer than repeat_spike, which says more
	ClearAfter: 60 * time.Second,
	check:      checkNeighbor,
}

func checkNeighbor(f *Facts) []finding {
	if !f.live() || !f.gpu.listed {
		return nil
	}
	g := f.gpu
	var out []finding
	for _, p := range g.procs {
		if !g.crowdsOut(p) {
			continue
		}
		most, others := p.peak.most(), g.besides(p)
		other := g.newest(p, f.now-most.time)
		if other == nil {
			continue
		}
		out = append(out, finding{pid: p.pid, level: sampler.LevelWarning,
			render: func(f *Facts) message { return renderNeighbor(f, p, other, most, others) }})
	}
	return out
}

// crowdsOut says whether what a process has reached of late does not fit beside what others have taken since.
func (g *gpu) crowdsOut(p *proc) bool {
	most, others := p.peak.most(), g.besides(p)
	return others-most.others >= max(neighborLeast, g.total*series.EdgeShare) && most.value+others > g.usable+g.total*neighborSlack &&
		!p.peak.turns(others) && g.comesBack(p, most.value)
}

// comesBack says whether a process that is below its peak may come to it again.
func (g *gpu) comesBack(p *proc, peak float64) bool {
	if p.tick != g.tick || !(peak > p.series.Value) || p.idle(peak) {
		return false
	}
	_, preallocates := explain.Preallocates(*p.process)
	return !preallocates
}

// besides is what others hold beside a process.
func (g *gpu) besides(p *proc) float64 { return max(0, g.used-p.series.Value) }

// idleOf its peak or less is no work: who has given all back may be done, or waits for its turn.
const idleOf = 0.12

// idle says whether the process holds next to nothing after its peak; one that is started again
// has not come to that of its last run.
func (p *proc) idle(peak float64) bool {
	return p.series.Value < idleOf*peak && p.series.Peak >= peakAgain*peak
}

// neighborSlack, of the GPU: readings are not exact.
const neighborSlack = 0.001

func renderNeighbor(f *Facts, p, other *proc, most peakAt, others float64) message {
	words, now := f.words, p.series.Value
	need, free := most.value-now, max(0, f.gpu.usable-others-now)
	return message{
		text: words.Say("alert.neighbor", "gpu", f.gpu.last.Label(), "other", f.pid(other), "held", size(other.series.Value),
			"pid", p.pid, "need", sizeNeeded(need), "ago", words.Span(f.now-most.time), "free", sizeFree(free)),
		evidence: []string{
			words.Say("alert.neighbor.peak", "process", f.pid(p), "peak", size(most.value), "now", size(now)),
			words.Say("alert.neighbor.others", "before", size(most.others), "now", size(others)),
			words.Say("alert.neighbor.since", "process", f.pid(other), "span", words.Span(f.now-other.first)),
		},
		numbers: map[string]float64{"need_bytes": bytesOf(need), "free_bytes": bytesOf(free),
			"short_bytes": bytesOf(need - free), "neighbour_bytes": bytesOf(other.series.Value)},
		advice: hypothetical{gpu: f.gpu, proc: p, need: need, free: free, phase: sampler.PhaseValidation,
			causes: certain(explain.CauseOtherProcess, explain.CauseValidationSpike)}.fixes(words),
	}
}
