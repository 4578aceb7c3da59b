package watch

import (
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleRepeatSpike = Rule{
	Code:  "repeat_spike",
	Level: sampler.LevelCritical,
	Reason: "A process spikes again and again (validation, saving), and the next spike does not fit beside what is there now, or the spikes " +
		"vary or grow so much that one of the next will not.",
	HoldFor:    3 * time.Second,
	ClearAfter: 10 * time.Second,
	Silences:   []string{"neighbour"},
	check:      checkRepeatSpike,
}

const (
	// spikeSoon is when a spike that does not fit becomes critical.
	spikeSoon = 60
	// spikesVary: so many spikes are needed to say how much they vary; one that would be
	// two deviations above the mean and does not fit comes once in 40.
	spikesVary     = 5
	spikesTold     = 80 // after so many the rare one would have come: their size has a limit
	varyDeviations = 2.0
	variesPeriod   = 30   // seconds; what comes more often are the steps of a loop
	variesLeast    = 0.01 // of the GPU
)

func checkRepeatSpike(f *Facts) []finding {
	if !f.live() || f.gpu.blind(f.now) {
		return nil
	}
	g := f.gpu
	var out []finding
	free := math.NaN()
	look := func(s *series.Series, pid int) {
		if s.Count < series.SpikesNeeded {
			return
		}
		pt, ok := s.Pattern(f.now)
		if !ok || pt.Count < series.SpikesNeeded || s.Spiking(f.now, pt.Low) {
			return
		}
		if math.IsNaN(free) {
			free = g.settledFree(f.now)
		}
		if v, ok := expects(f.words, pt, free, g.total); ok {
			// In words, both are counted from the level there is now, as the screen shows it.
			above := max(0, s.Value-s.Settled(f.now))
			v.need -= above
			out = append(out, spikeFinding(f, pid, pt, v, max(0, free-above)))
		}
	}
	for _, p := range g.procs {
		if p.tick == g.tick {
			look(&p.series, p.pid)
		}
	}
	if !g.listed {
		look(&g.rest, 0)
	}
	return out
}

// expectation is why the next spike will not fit.
type expectation struct {
	need  float64 // MiB
	later int     // so many spikes fit before it
	how   string
}

// expects says whether one of the next spikes is larger than what is free.
func expects(words lang.Catalog, p series.Pattern, free, limit float64) (e expectation, ok bool) {
	slack := limit * 0.002
	switch {
	case p.Low > free+slack:
		return expectation{p.Low, 0, words.Say("alert.repeat_spike.last", "n", min(p.Count, 3), "low", size(p.Low), "high", size(p.High))}, true
	case p.Trend > 0:
		e = expectation{p.High + p.Trend, 0, words.Say("alert.repeat_spike.trend", "more", size(p.Trend), "high", size(p.High))}
		if e.need <= free { // one step further: there is time to act
			e.need, e.later = e.need+p.Trend, 1
		}
		return e, e.need > free
	case varies(p, limit) && p.Mean+varyDeviations*p.Deviation > free+slack:
		return expectation{p.Mean + varyDeviations*p.Deviation, 0,
			words.Say("alert.repeat_spike.vary", "mean", size(p.Mean), "deviation", size(p.Deviation))}, true
	}
	return e, false
}

// varies says whether the size of the spikes is a matter of chance, as that of a
// validation set's largest sample is, rather than of the moment it was read.
func varies(p series.Pattern, limit float64) bool {
	return p.Count >= spikesVary && p.Seen <= spikesTold && p.Period >= variesPeriod && p.Deviation > limit*variesLeast
}

func spikeFinding(f *Facts, pid int, pt series.Pattern, e expectation, free float64) finding {
	due := pt.Due(f.now) + float64(e.later)*pt.Period
	level := sampler.LevelWarning
	switch {
	case !pt.Regular: // when the next one comes, and whether at all, is a guess
		level = sampler.LevelNotice
	case due <= spikeSoon && pt.Low > free:
		level = sampler.LevelCritical
	}
	return finding{pid: pid, level: level, eta: sampler.Some(math.Round(max(0, due))),
		render: func(f *Facts) message { return renderSpike(f, pid, pt, e, free, due) }}
}

func renderSpike(f *Facts, pid int, pt series.Pattern, e expectation, free, due float64) message {
	g, words := f.gpu, f.words
	when := words.Say("alert.repeat_spike.now")
	if due > 5 {
		when = words.Say("alert.repeat_spike.in", "span", words.Span(due))
	}
	said := []any{"gpu", g.last.Index, "when", when, "need", size(e.need), "free", size(free), "short", size(e.need - free)}
	m := message{
		text: words.Say("alert.repeat_spike", said...),
		evidence: []string{
			words.Say("alert.repeat_spike.every", "n", pt.Count, "period", words.Span(pt.Period), "width", words.Span(pt.Width), "how", e.how),
			words.Say("alert.repeat_spike.short", "short", size(e.need-free)),
		},
		numbers: map[string]float64{"need_bytes": bytesOf(e.need), "free_bytes": bytesOf(free),
			"short_bytes": bytesOf(e.need - free), "period_s": pt.Period, "spikes": float64(pt.Count), "due_s": max(0, due)},
	}
	if e.later > 0 {
		m.text = words.Say("alert.repeat_spike.later", said...)
	}
	h := hypothetical{gpu: g, proc: g.withPID(pid), need: e.need, free: free, phase: explain.PhaseValidation, causes: certain(explain.CauseValidationSpike)}
	if pt.Free-free >= max(neighborLeast, g.total*series.EdgeShare) {
		m.evidence = append(m.evidence, words.Say("alert.repeat_spike.before", "free", size(pt.Free)))
	}
	for _, q := range g.others(pid) {
		if pid != 0 && q.series.Value >= (e.need-free)/2 {
			m.evidence = append(m.evidence, words.Say("alert.holds", "process", f.pid(q), "held", size(q.series.Value)))
			h.causes = certain(explain.CauseOtherProcess, explain.CauseValidationSpike)
			break
		}
	}
	m.advice = h.fixes(words)
	return m
}
