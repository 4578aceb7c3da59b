package watch

import (
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
	if !f.live() {
		return nil
	}
	g := f.gpu
	var out []finding
	settled := math.NaN()
	look := func(growth *series.Growth, s *series.Series, p *proc) {
		if !growth.Found {
			return
		}
		if math.IsNaN(settled) {
			settled = g.settledFree(f.now)
		}
		tr, room := growth.Trend, g.room(s, f.now, settled)
		low, likely, high := tr.ETA(room)
		found := finding{level: sampler.LevelWarning, eta: sampler.Some(math.Round(likely))}
		if likely <= growthSoon {
			found.level = sampler.LevelCritical
		}
		if p != nil {
			found.pid = p.pid
		}
		found.render = func(f *Facts) message { return renderGrowth(f, p, tr, room, low, high) }
		out = append(out, found)
	}
	for _, p := range g.procs {
		if p.tick == g.tick {
			look(&p.growing, &p.series, p)
		}
	}
	look(&g.growing, &g.rest, nil)
	return out
}

func renderGrowth(f *Facts, p *proc, tr series.Trend, room, low, high float64) message {
	g, words := f.gpu, f.words
	rose := []any{"from", size(tr.From), "to", size(tr.To), "span", words.Span(tr.Until - tr.Since), "ago", words.Span(f.now - tr.Since)}
	line := words.Say("alert.growth.baseline", rose...)
	if tr.Peaks {
		line = words.Say("alert.growth.peaks", rose...)
	}
	return message{
		text: words.Say("alert.growth", "gpu", g.last.Index, "process", holder(f, p), "rate", size(tr.Slope*60), "eta", words.Spans(low, high)),
		evidence: []string{line,
			words.Say("alert.growth.halves", "early", size(tr.Early*60), "late", size(tr.Late*60)),
			words.Say("alert.growth.room", "free", size(room))},
		numbers: map[string]float64{"rate_bytes_per_second": tr.Slope * float64(sampler.MiB), "since_s": tr.Since,
			"free_bytes": bytesOf(room), "eta_low_s": math.Round(low), "eta_high_s": math.Round(high),
			"rise_bytes": bytesOf(tr.To - tr.From)},
		advice: hypothetical{gpu: g, proc: p, free: room, phase: explain.PhaseTraining, causes: certain("leak")}.fixes(words),
	}
}
