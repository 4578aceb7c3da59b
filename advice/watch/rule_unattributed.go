package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleUnattributed = Rule{
	Code:  "unattributed",
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
	c := f.card
	if c == nil || c.figures != f.now {
		return nil
	}
	if left := c.left(); left > 0 {
		o := c.orphan
		return []finding{{pid: o.pid, level: sampler.LevelNotice, say: func() saying { return sayLeft(c, o, left) }}}
	}
	return nobodyHasIt(f)
}

func sayLeft(c *card, o orphan, left float64) saying {
	name := sampler.Clip(o.name)
	if name == "" {
		name = "process"
	}
	return saying{
		text: fmt.Sprintf("GPU %d: %s of pid %d (%s) are still in use though it has ended", c.gpu.Index, size(left), o.pid, name),
		evidence: []string{
			fmt.Sprintf("pid %d held %s when it was last listed", o.pid, size(o.bytes)),
			fmt.Sprintf("memory of no listed process: %s before, %s now", size(o.rest), size(c.rest.Settled(math.Inf(1)))),
			"a child of it, often a data loader or another rank, may still have the card open",
		},
		numbers: map[string]float64{"left_bytes": float64(series.Bytes(left)), "held_bytes": float64(series.Bytes(o.bytes))},
		advice:  trouble{card: c, free: c.free, need: c.free + left, causes: sure("unattributed"), only: stopOnly}.remedies(),
	}
}

// nobodyHasIt: a need that was typed or refused would fit without the unattributed memory.
func nobodyHasIt(f *Facts) []finding {
	c := f.card
	u, ok := c.nobody()
	if !ok || u < max(orphanLeast, orphanShare*c.total) {
		return nil
	}
	if _, ok := f.watch.needs.of(c); !ok {
		return nil
	}
	fit := f.watch.arithmetic(c)
	if fit.Short == 0 || series.MiB(fit.Short) > u {
		return nil
	}
	return []finding{{id: 1, level: sampler.LevelNotice, say: func() saying {
		need, _ := fit.Need.Value()
		return saying{
			text: fmt.Sprintf("GPU %d: %s are held by no process the driver names; the need of %s would fit without", c.gpu.Index,
				size(u), need.Bytes),
			evidence: []string{fmt.Sprintf("%s short of %s (%s)", fit.Short, need.Bytes, need.Source),
				"processes of other containers and users, or ones just ended, are not listed"},
			numbers: map[string]float64{"unattributed_bytes": float64(series.Bytes(u)), "short_bytes": float64(fit.Short)},
			advice:  trouble{card: c, free: c.free, need: series.MiB(need.Bytes), causes: sure("unattributed"), only: stopOnly}.remedies(),
		}
	}}}
}
