package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
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
	variesLeast    = 0.01 // of the card
)

func checkRepeatSpike(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now || c.blind(f.now) {
		return nil
	}
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
			free = c.settledFree(f.now)
		}
		if v, ok := expects(pt, free, c.total); ok {
			// In words, both are counted from the level there is now, as the screen shows it.
			above := max(0, s.Value-s.Settled(f.now))
			v.need -= above
			out = append(out, spikeFinding(f, c, pid, pt, v, max(0, free-above)))
		}
	}
	for _, p := range c.procs {
		if p.tick == c.tick {
			look(&p.series, p.pid)
		}
	}
	if !c.listed {
		look(&c.rest, 0)
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
func expects(p series.Pattern, free, limit float64) (e expectation, ok bool) {
	slack := limit * 0.002
	switch {
	case p.Low > free+slack:
		return expectation{p.Low, 0, fmt.Sprintf("the last %d took %s to %s", min(p.Count, 3), size(p.Low), size(p.High))}, true
	case p.Trend > 0:
		e = expectation{p.High + p.Trend, 0, fmt.Sprintf("each takes %s more than the one before; the last took %s", size(p.Trend), size(p.High))}
		if e.need <= free { // one step further: there is time to act
			e.need, e.later = e.need+p.Trend, 1
		}
		return e, e.need > free
	case varies(p, limit) && p.Mean+varyDeviations*p.Deviation > free+slack:
		return expectation{p.Mean + varyDeviations*p.Deviation, 0,
			fmt.Sprintf("they vary: %s on average, deviation %s", size(p.Mean), size(p.Deviation))}, true
	}
	return e, false
}

// varies says whether the size of the spikes is a matter of chance, as that of a
// validation set's largest sample is, rather than of the moment it was read.
func varies(p series.Pattern, limit float64) bool {
	return p.Count >= spikesVary && p.Seen <= spikesTold && p.Period >= variesPeriod && p.Deviation > limit*variesLeast
}

func spikeFinding(f *Facts, c *card, pid int, pt series.Pattern, e expectation, free float64) finding {
	due := pt.Due(f.now) + float64(e.later)*pt.Period
	level := sampler.LevelWarning
	switch {
	case !pt.Regular: // when the next one comes, and whether at all, is a guess
		level = sampler.LevelNotice
	case due <= spikeSoon && pt.Low > free:
		level = sampler.LevelCritical
	}
	found := finding{pid: pid, level: level, eta: sampler.Some(math.Round(max(0, due)))}
	found.say = func() saying { return saySpike(c, pid, pt, e, free, due) }
	return found
}

func saySpike(c *card, pid int, pt series.Pattern, e expectation, free, due float64) saying {
	when := "due now"
	if due > 5 {
		when = "~" + spanOf(due)
	}
	which := "the next spike"
	if e.later > 0 {
		which = "the spike after next"
	}
	s := saying{
		text: fmt.Sprintf("GPU %d: %s (%s) needs %s, %s will be free", c.gpu.Index, which, when, size(e.need), size(free)),
		evidence: []string{
			fmt.Sprintf("%d spikes like this, one every %s, %s wide; %s", pt.Count, spanOf(pt.Period), spanOf(pt.Width), e.how),
			fmt.Sprintf("%s short", size(e.need-free)),
		},
		numbers: map[string]float64{"need_bytes": float64(series.Bytes(e.need)), "free_bytes": float64(series.Bytes(free)),
			"short_bytes": float64(series.Bytes(e.need - free)), "period_s": pt.Period, "spikes": float64(pt.Count), "due_s": max(0, due)},
	}
	t := trouble{card: c, proc: c.withPID(pid), need: e.need, free: free, phase: explain.PhaseValidation, causes: sure(explain.CauseValidationSpike)}
	if pt.Free-free >= max(neighbourLeast, c.total*series.EdgeShare) {
		s.evidence = append(s.evidence, fmt.Sprintf("before the last one %s were free", size(pt.Free)))
	}
	for _, q := range c.others(pid) {
		if pid != 0 && q.series.Value >= (e.need-free)/2 {
			s.evidence = append(s.evidence, fmt.Sprintf("pid %d (%s) holds %s", q.pid, who(q.process), size(q.series.Value)))
			t.causes = sure(explain.CauseOtherProcess, explain.CauseValidationSpike)
			break
		}
	}
	s.advice = t.remedies()
	return s
}
