package watch

import (
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleSteps = Rule{
	Code:  "steps",
	Level: sampler.LevelCritical,
	Reason: "The memory has risen by equal steps, at equal intervals, that were never given back, and the next one, or one of the next few, " +
		"does not fit: a leak under a caching allocator, outputs that are kept, a schedule of larger and larger inputs.",
	HoldFor:    2 * time.Second,
	ClearAfter: 60 * time.Second,
	check:      checkSteps,
}

const (
	// Steps that still fit are foreseen as far as two fifths of the time that they took so
	// far, and when there were five of them.
	stepsAhead  = 0.4
	stepsForFit = 5
	// stepsSoon is when steps become critical.
	stepsSoon = 300
)

func checkSteps(f *Facts) []finding {
	if !f.live() {
		return nil
	}
	g := f.gpu
	var out []finding
	look := func(s *series.Series, p *proc) {
		flight, ok := s.Stairs.Flight(f.now)
		if !ok {
			return
		}
		room := max(0, g.available(s, f.now)-s.Value)
		n, eta := flight.Fit(f.now, room)
		if n > 0 && (flight.Steps < stepsForFit || eta > stepsAhead*(f.now-flight.Since)) {
			return
		}
		found := finding{level: sampler.LevelWarning, eta: sampler.Some(math.Round(eta))}
		if eta <= stepsSoon {
			found.level = sampler.LevelCritical
		}
		if p != nil {
			found.pid = p.pid
		}
		found.render = func(f *Facts) message { return renderSteps(f, p, flight, room, eta) }
		out = append(out, found)
	}
	for _, p := range g.procs {
		if p.tick == g.tick {
			look(&p.series, p)
		}
	}
	look(&g.rest, nil)
	return out
}

func renderSteps(f *Facts, p *proc, s series.Flight, room, eta float64) message {
	g, words := f.gpu, f.words
	return message{
		text: words.Say("alert.steps", "gpu", g.last.Index, "process", holder(f, p), "n", s.Steps, "size", size(s.Size), "eta", words.Span(eta)),
		evidence: []string{words.Say("alert.steps.every", "span", words.Span(s.Interval), "size", size(s.Size)),
			words.Say("alert.growth.room", "free", size(room))},
		numbers: map[string]float64{"steps": float64(s.Steps), "step_bytes": bytesOf(s.Size), "interval_s": s.Interval, "free_bytes": bytesOf(room)},
		advice:  hypothetical{gpu: g, proc: p, free: room, need: s.Size, phase: explain.PhaseTraining, causes: certain("leak")}.fixes(words),
	}
}
