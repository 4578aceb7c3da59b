package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleFlush = Rule{
	Code:  "flush",
	Level: sampler.LevelWarning,
	Reason: "At the limit of the card the allocator gives its cache back and asks again, before it gives up: " +
		"https://docs.pytorch.org/docs/stable/notes/cuda.html",
	HoldFor:    0,
	ClearAfter: 30 * time.Second,
	check:      checkFlush,
}

// flushesNeeded within ten minutes; one may be a program that cleans up once.
const flushesNeeded = 2

func checkFlush(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now {
		return nil
	}
	var out []finding
	for _, p := range c.procs {
		if f.now-p.retried <= flushSpan && p.retryRun >= flushesNeeded {
			n := p.retryRun
			out = append(out, finding{pid: p.pid, level: sampler.LevelWarning, say: func() saying { return sayRetries(c, p, n) }})
		}
	}
	if len(out) > 0 {
		return out
	}
	n, since, largest := c.flush.recent(f.now)
	if n < flushesNeeded {
		return checkRising(c, f.now)
	}
	now := f.now
	return []finding{{level: sampler.LevelWarning, say: func() saying {
		return saying{
			text: fmt.Sprintf("GPU %d: at its limit, memory was given back and taken again %d times in %s: the next request may be refused",
				c.gpu.Index, n, spanOf(now-since)),
			evidence: []string{
				fmt.Sprintf("%d falls from the limit, up to %s, each filled up again within a minute", n, size(largest)),
				fmt.Sprintf("worst free memory of the last minute: %s", size(math.Max(0, c.worst.last(now, worstSeconds)))),
			},
			numbers: map[string]float64{"flushes": float64(n), "largest_bytes": float64(series.Bytes(largest))},
			advice: trouble{card: c, proc: c.only(), free: c.free, need: c.free + largest, phase: explain.PhaseTraining,
				causes: sure(explain.CauseFragmentation, explain.CauseTooBig)}.remedies(),
		}
	}}}
}

// checkRising: the cache gives back less each time, because more and more of its segments
// are partly in use.
func checkRising(c *card, now float64) []finding {
	if !c.flush.rising(now) {
		return nil
	}
	fl := c.flush
	return []finding{{id: 1, level: sampler.LevelWarning, say: func() saying {
		bottom, before := fl.bottoms[len(fl.bottoms)-1], fl.bottoms[len(fl.bottoms)-2]
		return saying{
			text: fmt.Sprintf("GPU %d: at its limit %d times, and less is given back each time: the next request may be refused",
				c.gpu.Index, fl.falls),
			evidence: []string{fmt.Sprintf("the last falls from the limit ended at %s, then at %s", size(before), size(bottom)),
				"segments of a cache that are partly in use cannot be given back"},
			numbers: map[string]float64{"falls": float64(fl.falls), "bottom_bytes": float64(series.Bytes(bottom))},
			advice: trouble{card: c, proc: c.only(), free: c.usable - bottom, need: c.usable - before, phase: explain.PhaseTraining,
				causes: sure(explain.CauseFragmentation)}.remedies(),
		}
	}}}
}

func sayRetries(c *card, p *proc, n int) saying {
	return saying{
		text: fmt.Sprintf("GPU %d: the allocator of pid %d (%s) emptied its cache %d times to go on: the next request may be refused",
			c.gpu.Index, p.pid, who(p.process), n),
		evidence: []string{fmt.Sprintf("its counter of allocation retries is at %d, %d of them of late", p.retries, n)},
		numbers:  map[string]float64{"retries": float64(n)},
		advice:   trouble{card: c, proc: p, free: c.free, need: c.free + flushLeast, phase: explain.PhaseTraining, causes: sure(explain.CauseFragmentation, explain.CauseTooBig)}.remedies(),
	}
}
