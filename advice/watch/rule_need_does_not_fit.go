package watch

import (
	"fmt"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleNeed = Rule{
	Code:  "need_does_not_fit",
	Level: sampler.LevelWarning,
	Reason: "What somebody typed, or an allocator was refused, is more than the least that was free in the last minute, " +
		"even with what the process can reuse.",
	HoldFor:    2 * time.Second,
	ClearAfter: 10 * time.Second,
	check:      checkNeed,
}

func checkNeed(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now {
		return nil
	}
	if _, ok := f.watch.needs.of(c); !ok {
		return nil
	}
	fit, w := f.watch.arithmetic(c), f.watch
	if fit.Short == 0 {
		return nil
	}
	pid := 0
	if n, _ := fit.Need.Value(); n.Source == NeedRefused {
		pid = n.PID.Or(0)
	}
	return []finding{{pid: pid, level: sampler.LevelWarning, say: func() saying { return sayNeed(c, w.fit(c)) }}}
}

func sayNeed(c *card, fit Fit) saying {
	need, _ := fit.Need.Value()
	worst := fit.WorstFree.Or(0)
	s := saying{
		text: fmt.Sprintf("GPU %d: %s needed (%s), %s free at worst: %s short", fit.GPU, need.Bytes, need.Source,
			worst, fit.Short),
		evidence: []string{fmt.Sprintf("need: %s, %s", need.Bytes, need.Source),
			fmt.Sprintf("least free of late: %s", worst)},
		numbers: map[string]float64{"need_bytes": float64(need.Bytes), "worst_free_bytes": float64(worst),
			"short_bytes": float64(fit.Short)},
	}
	if v, ok := fit.Free.Value(); ok {
		s.evidence = append(s.evidence, fmt.Sprintf("free now: %s", v))
		s.numbers["free_bytes"] = float64(v)
	}
	if v, ok := fit.Reusable.Value(); ok {
		s.evidence = append(s.evidence, fmt.Sprintf("free inside the allocator: %s", v))
		s.numbers["reusable_bytes"] = float64(v)
	}
	s.evidence = append(s.evidence, heldBy(fit.Holders)...)
	if big := c.others(need.PID.Or(0)); len(big) > 0 {
		if line, yes := c.preallocated(big[0]); yes {
			s.evidence = append(s.evidence, line)
		}
	}
	t := trouble{card: c, proc: c.withPID(need.PID.Or(0)), need: series.MiB(need.Bytes), free: series.MiB(worst), causes: sure(explain.CauseTooBig)}
	if way := fit.InTheWay(); len(way) > 0 {
		t.causes = sure(explain.CauseOtherProcess)
		if biggest := c.others(0); t.proc == nil && len(biggest) > 1 && way[0].PID != biggest[0].pid {
			t.proc = biggest[0] // most likely the one that will ask
		}
	}
	s.advice = t.remedies()
	return s
}

// heldBy is a line of evidence for each of the three largest holders.
func heldBy(list []Holder) []string {
	var out []string
	for _, h := range list[:min(3, len(list))] {
		if h.Kind == HolderUnattributed {
			out = append(out, fmt.Sprintf("%s are held by no process the driver names", h.Bytes))
			continue
		}
		out = append(out, fmt.Sprintf("pid %d (%s) holds %s", h.PID,
			who(&sampler.Process{Name: h.Name, User: h.User}), h.Bytes))
	}
	return out
}

// withPID is a process of the card; nil when there is none.
func (c *card) withPID(pid int) *proc {
	for _, p := range c.procs {
		if p.pid == pid {
			return p
		}
	}
	return nil
}

// others are the processes of a card but one, the largest first.
func (c *card) others(pid int) []*proc {
	var list []*proc
	for _, p := range c.procs {
		if p.pid != pid && p.tick == c.tick && p.series.Samples > 0 {
			list = append(list, p)
		}
	}
	sortBySize(list)
	return list
}
