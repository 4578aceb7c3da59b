package watch

import (
	"fmt"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleNeighbour = Rule{
	Code:  "neighbour",
	Level: sampler.LevelWarning,
	Reason: "A process has shown that it takes more at times, that fitted then, and does not any more because somebody else took " +
		"memory since.",
	HoldFor:    3 * time.Second,
	ClearAfter: 10 * time.Second,
	check:      checkNeighbour,
}

// neighbourLeast: others must have taken that much (and 2 % of the card) to be named.
const neighbourLeast = 256

func checkNeighbour(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now || !c.listed || c.blind(f.now) {
		return nil
	}
	var out []finding
	for _, p := range c.procs {
		if p.series.Count == 0 || p.tick != c.tick {
			continue
		}
		pt, ok := p.series.Pattern(f.now)
		if !ok || p.series.Spiking(f.now, pt.Low) {
			continue
		}
		free := c.settledFree(f.now)
		took := pt.Free - free // NaN when it is not known what was free then
		if pt.Low <= free || !(took >= max(neighbourLeast, c.total*series.EdgeShare)) || pt.Low > pt.Free {
			continue
		}
		other := c.newest(p, f.now-pt.Last)
		if other == nil {
			continue
		}
		out = append(out, finding{pid: p.pid, level: sampler.LevelWarning,
			say: func() saying { return sayNeighbour(c, p, other, pt, free, f.now) }})
	}
	return out
}

// newest is the largest process other than p that came or grew during the last seconds.
func (c *card) newest(p *proc, seconds float64) *proc {
	for _, q := range c.others(p.pid) {
		if c.lastSeen()-q.first <= seconds || q.series.Value-q.series.Base >= neighbourLeast {
			return q
		}
	}
	return nil
}

func (c *card) lastSeen() float64 { return c.seen }

func sayNeighbour(c *card, p, other *proc, pt series.Pattern, free, now float64) saying {
	return saying{
		text: fmt.Sprintf("GPU %d: pid %d (%s) holds %s; pid %d needed %s more %s ago, %s are free", c.gpu.Index, other.pid,
			who(other.process), size(other.series.Value), p.pid, size(pt.Low), spanOf(now-pt.Last), size(free)),
		evidence: []string{
			fmt.Sprintf("pid %d (%s) took and gave back %s at its last peak", p.pid, who(p.process), size(pt.Low)),
			fmt.Sprintf("%s were free before that peak, %s are now", size(pt.Free), size(free)),
			fmt.Sprintf("pid %d (%s) is on this card for %s", other.pid, who(other.process), spanOf(now-other.first)),
		},
		numbers: map[string]float64{"need_bytes": float64(series.Bytes(pt.Low)), "free_bytes": float64(series.Bytes(free)),
			"short_bytes": float64(series.Bytes(pt.Low - free)), "neighbour_bytes": float64(series.Bytes(other.series.Value))},
		advice: trouble{card: c, proc: p, need: pt.Low, free: free, phase: explain.PhaseValidation,
			causes: sure(explain.CauseOtherProcess, explain.CauseValidationSpike)}.remedies(),
	}
}
