package watch

import (
	"fmt"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var ruleOOM = Rule{
	Code:  "oom",
	Level: sampler.LevelCritical,
	Reason: "An out-of-memory failure in the followed log, counted by the allocator inside a process, or to be guessed from " +
		"a process that ended at its peak with the card full.",
	HoldFor:    0,
	ClearAfter: time.Second,
	Silences:   []string{"flush"},
	check:      checkOOM,
}

// oom is a failure that was told to the Watch.
type oom struct {
	event  sampler.OOMEvent
	card   cardKey
	placed bool // card is known
	at     float64

	explained explain.Explanation // with what was known of the card at that moment
}

// oomSeconds is how long a failure stays open.
const oomSeconds = 600

func checkOOM(f *Facts) []finding {
	var out []finding
	for i := range f.watch.ooms {
		o := &f.watch.ooms[i]
		if f.now-o.at > oomSeconds || o.placed != (f.card != nil) || f.card != nil && f.card.key != o.card {
			continue
		}
		level := sampler.LevelCritical
		if o.event.Recovered {
			level = sampler.LevelNotice
		}
		c := f.card
		out = append(out, finding{pid: o.event.PID.Or(0), id: o.event.Line, level: level, say: func() saying { return sayOOM(o, c) }})
	}
	if f.card == nil {
		return out
	}
	if last, n := f.card.endings(f.now); n > 0 {
		c, level := f.card, sampler.LevelNotice
		if n > 1 {
			level = sampler.LevelWarning
		}
		out = append(out, finding{id: -2, level: level, say: func() saying { return sayEnding(c, last, n) }})
	}
	for _, p := range f.card.procs {
		if f.now-p.refused <= oomSeconds {
			c := f.card
			out = append(out, finding{pid: p.pid, id: -1, level: sampler.LevelWarning, say: func() saying { return sayCounted(c, p) }})
		}
	}
	return out
}

func sayOOM(o *oom, c *card) saying {
	where := "out of memory"
	switch {
	case c != nil:
		where = fmt.Sprintf("GPU %d: out of memory", c.gpu.Index)
	case o.event.MemoryKind == sampler.MemoryHost:
		where = "host: out of memory"
	}
	s := saying{numbers: map[string]float64{}}
	size, asked := sampler.Plausible(o.event.Requested)
	left, freed := sampler.Plausible(o.event.GPUFree)
	s.text = where
	if asked {
		s.text += fmt.Sprintf(": %s refused", size)
	}
	if asked && freed {
		s.text += fmt.Sprintf(" with %s free", left)
	}
	if o.event.Recovered {
		s.text += "; the program went on"
	}
	if asked {
		s.numbers["requested_bytes"] = float64(size)
	}
	if freed {
		s.numbers["free_bytes"] = float64(left)
	}
	if o.event.Line > 0 {
		s.evidence = append(s.evidence, fmt.Sprintf("line %d of the log", o.event.Line))
	}
	for _, e := range o.explained.Events {
		if e.Detail != "" {
			s.evidence = append(s.evidence, e.Detail)
		}
	}
	for _, cause := range o.explained.Causes[:min(1, len(o.explained.Causes))] {
		s.evidence = append(s.evidence, cause.Evidence...)
	}
	s.advice = o.explained.Advice[:min(maxRemedies, len(o.explained.Advice))]
	return s
}

func sayCounted(c *card, p *proc) saying {
	n := p.refusals
	return saying{
		text:     fmt.Sprintf("GPU %d: pid %d (%s) was refused memory by its allocator", c.gpu.Index, p.pid, who(p.process)),
		evidence: []string{fmt.Sprintf("its allocator counts %d out-of-memory failures", n)},
		numbers:  map[string]float64{"ooms": float64(n)},
	}
}
