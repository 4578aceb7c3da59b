package watch

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// Levels are from how many percent of used memory on there is a notice, a warning, and a critical alert. Zero: a level alone is no
// alert.
type Levels struct{ GPU, Host [3]float64 }

var ruleLevel = Rule{
	Code:  sampler.AlertLevel,
	Level: sampler.LevelCritical,
	Reason: "More memory is used than somebody has set as a level. Nobody is told unasked: full memory is how many programs work, and the " +
		"other rules say when it is about to end.",
	HoldFor:    10 * time.Second,
	ClearAfter: 60 * time.Second,
	check:      checkLevel,
}

func checkLevel(f *Facts) []finding {
	if f.gpu == nil && f.host.known && f.host.total > 0 {
		h := f.host
		used := h.total - h.memory.Available.MiB()
		return reached(f.levels.Host, used, h.total, func(f *Facts, m message) message {
			m.text = f.words.Say("alert.level.host", "percent", m.numbers["used_percent"], "level", m.numbers["level_percent"])
			m.evidence = hostHolders(f)
			return m
		})
	}
	if !f.live() || f.gpu.total == 0 || math.IsNaN(f.gpu.used) {
		return nil
	}
	return reached(f.levels.GPU, f.gpu.used, f.gpu.total, func(f *Facts, m message) message {
		m.text = f.words.Say("alert.level", "gpu", f.gpu.last.Label(), "percent", m.numbers["used_percent"], "level", m.numbers["level_percent"])
		m.evidence = heldBy(f, Holders(*f.gpu.last, sampler.Opt[int]{}))
		return m
	})
}

// reached is the highest of three levels that so much memory reaches.
func reached(levels [3]float64, used, total float64, say func(*Facts, message) message) []finding {
	names := [3]string{sampler.LevelNotice, sampler.LevelWarning, sampler.LevelCritical}
	share := 100 * used / total
	for i := len(levels) - 1; i >= 0; i-- {
		if level := levels[i]; level > 0 && share >= level {
			return []finding{{level: names[i], render: func(f *Facts) message {
				return say(f, message{numbers: map[string]float64{"used_bytes": bytesOf(used), "total_bytes": bytesOf(total),
					"used_percent": math.Floor(share), "level_percent": level}})
			}}}
		}
	}
	return nil
}
