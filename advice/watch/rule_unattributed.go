package watch

import (
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var ruleUnattributed = Rule{
	Code:  sampler.AlertUnattributed,
	Level: sampler.LevelNotice,
	Reason: "A process ended and its memory stayed, or memory that no process holds is what a need lacks. Memory of nobody alone is " +
		"no alert: the driver hides the processes of other containers and users.",
	HoldFor:    30 * time.Second,
	ClearAfter: 10 * time.Second,
	check:      checkUnattributed,
}

// stopOnly: nothing but ending what holds it gives such memory back.
var stopOnly = []string{explain.FixStopOtherProcess}

func checkUnattributed(f *Facts) []finding {
	if !f.live() {
		return nil
	}
	if left := f.gpu.left(); left > 0 {
		o := f.gpu.orphan
		return []finding{{pid: o.pid, level: sampler.LevelNotice, render: func(f *Facts) message { return renderLeft(f, o, left) }}}
	}
	return nobodyHasIt(f)
}

func renderLeft(f *Facts, o orphan, left float64) message {
	g, words := f.gpu, f.words
	return message{
		text: words.Say("alert.unattributed.left", "gpu", g.last.Label(), "left", size(left), "pid", o.pid, "who", f.who(o.name, "")),
		evidence: []string{
			words.Say("alert.unattributed.held", "pid", o.pid, "held", size(o.bytes)),
			words.Say("alert.unattributed.rest", "before", size(o.rest), "now", size(g.rest.Settled(math.Inf(1)))),
			words.Say("alert.unattributed.child"),
		},
		numbers: map[string]float64{"left_bytes": bytesOf(left), "held_bytes": bytesOf(o.bytes)},
		advice:  hypothetical{gpu: g, free: g.free, need: g.free + left, causes: certain(explain.CauseUnattributed), only: stopOnly}.fixes(words),
	}
}

// nobodyHasIt: a need that was typed or refused would fit without the unattributed memory.
func nobodyHasIt(f *Facts) []finding {
	g := f.gpu
	u, ok := g.unattributed()
	if !ok || u < max(orphanLeast, orphanShare*g.total) {
		return nil
	}
	if _, ok := f.needs.of(g); !ok {
		return nil
	}
	fit := f.needs.arithmetic(g, f.now)
	if fit.Short == 0 || fit.Short.MiB() > u {
		return nil
	}
	return []finding{{id: 1, level: sampler.LevelNotice, render: func(f *Facts) message { return renderNobody(f, fit, u) }}}
}

func renderNobody(f *Facts, fit Fit, u float64) message {
	g, words := f.gpu, f.words
	need, _ := fit.Need.Value()
	return message{
		text: words.Say("alert.unattributed", "gpu", g.last.Label(), "held", size(u), "need", need.Bytes.Needed()),
		evidence: []string{words.Say("alert.unattributed.short", "short", fit.Short.Needed(), "need", need.Bytes.Needed(), "source", need.Source.In(words)),
			words.Say("alert.unattributed.hidden")},
		numbers: map[string]float64{"unattributed_bytes": bytesOf(u), "short_bytes": float64(fit.Short)},
		advice:  hypothetical{gpu: g, free: g.free, need: need.Bytes.MiB(), causes: certain(explain.CauseUnattributed), only: stopOnly}.fixes(words),
	}
}
