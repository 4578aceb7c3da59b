package watch

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleNeighbor = Rule{
	Code:  "neighbour",
	Level: sampler.LevelWarning,
	Reason: "A process has shown that it takes more at times, that fitted then, and does not any more because somebody else took " +
		"memory since.",
	HoldFor:    3 * time.Second,
	ClearAfter: 10 * time.Second,
	check:      checkNeighbor,
}

func checkNeighbor(f *Facts) []finding {
	if !f.live() || !f.gpu.listed || f.gpu.blind(f.now) {
		return nil
	}
	g := f.gpu
	var out []finding
	for _, p := range g.procs {
		if p.series.Count == 0 || p.tick != g.tick {
			continue
		}
		pt, ok := p.series.Pattern(f.now)
		if !ok || p.series.Spiking(f.now, pt.Low) {
			continue
		}
		free := g.settledFree(f.now)
		took := pt.Free - free // NaN when it is not known what was free then
		if pt.Low <= free || !(took >= max(neighborLeast, g.total*series.EdgeShare)) || pt.Low > pt.Free {
			continue
		}
		other := g.newest(p, f.now-pt.Last)
		if other == nil {
			continue
		}
		out = append(out, finding{pid: p.pid, level: sampler.LevelWarning,
			render: func(f *Facts) message { return renderNeighbor(f, p, other, pt, free) }})
	}
	return out
}

func renderNeighbor(f *Facts, p, other *proc, pt series.Pattern, free float64) message {
	words := f.words
	return message{
		text: words.Say("alert.neighbor", "gpu", f.gpu.last.Index, "other", f.pid(other), "held", size(other.series.Value),
			"pid", p.pid, "need", size(pt.Low), "ago", words.Span(f.now-pt.Last), "free", size(free)),
		evidence: []string{
			words.Say("alert.neighbor.took", "process", f.pid(p), "need", size(pt.Low)),
			words.Say("alert.neighbor.free", "before", size(pt.Free), "free", size(free)),
			words.Say("alert.neighbor.since", "process", f.pid(other), "span", words.Span(f.now-other.first)),
		},
		numbers: map[string]float64{"need_bytes": bytesOf(pt.Low), "free_bytes": bytesOf(free),
			"short_bytes": bytesOf(pt.Low - free), "neighbour_bytes": bytesOf(other.series.Value)},
		advice: hypothetical{gpu: f.gpu, proc: p, need: pt.Low, free: free, phase: explain.PhaseValidation,
			causes: certain(explain.CauseOtherProcess, explain.CauseValidationSpike)}.fixes(words),
	}
}
