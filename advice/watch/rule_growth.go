package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleGrowth = Rule{
	Code:  "growth",
	Level: sampler.LevelCritical,
	Reason: "The memory has grown steadily since the first plateau, by the sequence of its peaks, both halves of the time agree, and at " +
		"this rate it is used up within as long as the growth has been watched.",
	HoldFor:    10 * time.Second,
	ClearAfter: 60 * time.Second,
	check:      checkGrowth,
}

// growthSoon is when growth becomes critical.
const growthSoon = 600

func checkGrowth(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now {
		return nil
	}
	var out []finding
	settled := math.NaN()
	look := func(g *series.Growth, s *series.Series, p *proc) {
		if !g.Found {
			return
		}
		if math.IsNaN(settled) {
			settled = c.settledFree(f.now)
		}
		tr, room := g.Trend, c.room(s, f.now, settled)
		low, likely, high := tr.ETA(room)
		found := finding{level: sampler.LevelWarning, eta: sampler.Some(math.Round(likely))}
		if likely <= growthSoon {
			found.level = sampler.LevelCritical
		}
		if p != nil {
			found.pid = p.pid
		}
		now := f.now
		found.say = func() saying { return sayGrowth(c, p, tr, now, room, low, likely, high) }
		out = append(out, found)
	}
	for _, p := range c.procs {
		if p.tick == c.tick {
			look(&p.growing, &p.series, p)
		}
	}
	look(&c.growing, &c.rest, nil)
	return out
}

func sayGrowth(c *card, p *proc, tr series.Trend, now, room, low, likely, high float64) saying {
	name := "memory"
	switch {
	case p != nil:
		name = fmt.Sprintf("pid %d (%s)", p.pid, who(p.process))
	case c.listed:
		name = "memory of no listed process"
	}
	what := "the level beneath its peaks"
	if tr.Peaks {
		what = "its peaks"
	}
	return saying{
		text: fmt.Sprintf("GPU %d: %s grows by %s a minute and will use up the card in ~%s (%s to %s)", c.gpu.Index, name,
			size(tr.Slope*60), spanOf(likely), spanOf(low), spanOf(high)),
		evidence: []string{
			fmt.Sprintf("%s rose from %s to %s in %s, steadily since %s ago", what, size(tr.From), size(tr.To),
				spanOf(tr.Until-tr.Since), spanOf(now-tr.Since)),
			fmt.Sprintf("%s a minute in the first half, %s in the second", size(tr.Early*60), size(tr.Late*60)),
			fmt.Sprintf("%s are left at the worst of late", size(room)),
		},
		numbers: map[string]float64{"rate_bytes_per_second": tr.Slope * float64(sampler.MiB), "since_s": tr.Since,
			"free_bytes": float64(series.Bytes(room)), "eta_low_s": math.Round(low), "eta_high_s": math.Round(high),
			"rise_bytes": float64(series.Bytes(tr.To - tr.From))},
		advice: trouble{card: c, proc: p, free: room, phase: explain.PhaseTraining, causes: sure(explain.CauseLeak)}.remedies(),
	}
}
