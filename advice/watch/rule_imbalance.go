package watch

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleImbalance = Rule{
	Code:  sampler.AlertImbalance,
	Level: sampler.LevelNotice,
	Reason: "One job on several GPUs holds much more on one of them, and that one is nearly full while the others have room: it will be " +
		"the one to fail.",
	HoldFor:    60 * time.Second,
	ClearAfter: 30 * time.Second,
	check:      checkImbalance,
}

const (
	// The fullest GPU has had less than 8 % free, and holds a fifth of its memory more than
	// the others.
	imbalanceTight = 0.08
	imbalanceGap   = 0.20
	// imbalanceLeast is 2 GiB more than the others: a context of each rank on GPU 0 and
	// its own buffers are less.
	imbalanceLeast = 2048
)

func checkImbalance(f *Facts) []finding {
	if !f.live() || f.gpu.total == 0 || len(f.gpus) < 2 {
		return nil
	}
	g := f.gpu
	lowest := g.lowest.last(f.now, lowestSeconds)
	if !(lowest < imbalanceTight*g.total) {
		return nil
	}
	for _, p := range g.procs {
		if p.tick != g.tick || !p.series.Levelled() {
			continue
		}
		others := ranks(f, p)
		if len(others) == 0 {
			continue
		}
		most, level := 0.0, p.series.Settled(f.now)
		for _, o := range others {
			most = max(most, o.Settled(f.now))
		}
		if level-most < max(imbalanceLeast, imbalanceGap*g.total) {
			continue
		}
		return []finding{{pid: p.pid, level: sampler.LevelNotice, render: func(f *Facts) message {
			return renderImbalance(f, p, len(others), level, most, lowest)
		}}}
	}
	return nil
}

// ranks are the series of the same job on other GPUs.
func ranks(f *Facts, p *proc) []*series.Series {
	var list []*series.Series
	for _, o := range f.gpus {
		if o == f.gpu || o.seen != f.now || o.total != f.gpu.total {
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

func renderImbalance(f *Facts, p *proc, others int, level, most, lowest float64) message {
	words := f.words
	return message{
		text: words.Say("alert.imbalance", "gpu", f.gpu.last.Label(), "process", f.pid(p), "level", size(level), "most", size(most)),
		evidence: []string{
			words.Say("alert.imbalance.others", "n", others, "most", size(most)),
			words.Say("alert.lowest_free", "free", sizeFree(lowest)),
		},
		numbers: map[string]float64{"rank_bytes": bytesOf(level), "other_ranks_bytes": bytesOf(most), "worst_free_bytes": bytesOf(lowest)},
		advice:  hypothetical{gpu: f.gpu, proc: p, free: lowest, need: lowest + level - most, causes: certain(explain.CauseImbalance)}.fixes(words),
	}
}
