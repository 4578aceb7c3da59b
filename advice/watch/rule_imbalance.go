package watch

import (
	"fmt"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleImbalance = Rule{
	Code:  "imbalance",
	Level: sampler.LevelNotice,
	Reason: "One job on several cards holds much more on one of them, and that one is nearly full while the others have room: it will be " +
		"the one to fail.",
	HoldFor:    60 * time.Second,
	ClearAfter: 30 * time.Second,
	check:      checkImbalance,
}

const (
	// Ranks of one job start within seconds of each other.
	jobSeconds = 15
	// The fullest card has less than 8 % left at the worst, the others a quarter of the card more.
	imbalanceTight = 0.08
	imbalanceGap   = 0.20
	// imbalanceLeast is 2 GiB more than the others: a context of each rank on GPU 0 and
	// its own buffers are less.
	imbalanceLeast = 2048
)

func checkImbalance(f *Facts) []finding {
	c := f.card
	if c == nil || c.figures != f.now || c.total == 0 || len(f.cards) < 2 {
		return nil
	}
	worst := c.worst.last(f.now, worstSeconds)
	if !(worst < imbalanceTight*c.total) {
		return nil
	}
	for _, p := range c.procs {
		if p.tick != c.tick || !p.series.Levelled() {
			continue
		}
		others := f.ranks(c, p)
		if len(others) == 0 {
			continue
		}
		most, level := 0.0, p.series.Settled(f.now)
		for _, o := range others {
			most = max(most, o.Settled(f.now))
		}
		if level-most < max(imbalanceLeast, imbalanceGap*c.total) {
			continue
		}
		now := f.now
		return []finding{{pid: p.pid, level: sampler.LevelNotice, say: func() saying {
			return sayImbalance(c, p, len(others), level, most, worst, now)
		}}}
	}
	return nil
}

// ranks are the series of the same job on other cards: same user and command, started
// within seconds.
func (f *Facts) ranks(c *card, p *proc) []*series.Series {
	var list []*series.Series
	for _, o := range f.cards {
		if o == c || o.seen != f.now || o.total != c.total {
			continue
		}
		for _, q := range o.procs {
			if q.tick == o.tick && q.pid != p.pid && sameJob(p, q) {
				if !q.series.Levelled() {
					return nil
				}
				list = append(list, &q.series)
			}
		}
	}
	return list
}

func sameJob(p, q *proc) bool {
	a, b := p.process, q.process
	if a.User != b.User || a.Name != b.Name || a.Command != b.Command {
		return false
	}
	s, ok := p.start.Value()
	t, known := q.start.Value()
	if ok && known {
		return s.Sub(t).Abs() <= jobSeconds*time.Second
	}
	return p.first-q.first <= jobSeconds && q.first-p.first <= jobSeconds
}

func sayImbalance(c *card, p *proc, others int, level, most, worst, now float64) saying {
	return saying{
		text: fmt.Sprintf("GPU %d: pid %d (%s) holds %s here, its other ranks %s at most: this card will fail first", c.gpu.Index,
			p.pid, who(p.process), size(level), size(most)),
		evidence: []string{
			fmt.Sprintf("%d other ranks of the same job hold %s at most", others, size(most)),
			fmt.Sprintf("worst free memory of the last minute: %s", size(worst)),
		},
		numbers: map[string]float64{"rank_bytes": float64(series.Bytes(level)), "other_ranks_bytes": float64(series.Bytes(most)),
			"worst_free_bytes": float64(series.Bytes(worst))},
		advice: trouble{card: c, proc: p, free: worst, need: worst + level - most, causes: sure("imbalance")}.remedies(),
	}
}
