package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleHostMemory = Rule{
	Code:  "host_memory",
	Level: sampler.LevelCritical,
	Reason: "The machine runs out of memory: what is available has fallen and is nearly gone, or falls steadily and will be. The kernel " +
		"then kills a process, most often the training or one of its data loaders.",
	HoldFor:    10 * time.Second,
	ClearAfter: 30 * time.Second,
	check:      checkHostMemory,
}

const (
	// Less than 5 % available after a fall by as much; 2 % is critical.
	hostLow     = 0.05
	hostVeryLow = 0.02
	hostFall    = 0.05
	hostSoon    = 300
)

func checkHostMemory(f *Facts) []finding {
	h := f.host
	if f.card != nil || !h.known || h.total == 0 {
		return nil
	}
	left := series.MiB(h.memory.Available)
	if h.growing.Found {
		tr := h.growing.Trend
		low, likely, high := tr.ETA(left)
		level := sampler.LevelWarning
		if likely <= hostSoon {
			level = sampler.LevelCritical
		}
		return []finding{{level: level, eta: sampler.Some(math.Round(likely)), say: func() saying {
			return f.sayHostGrowth(h, tr, left, low, likely, high)
		}}}
	}
	if left > hostLow*h.total || h.most-left < hostFall*h.total {
		return nil
	}
	level := sampler.LevelWarning
	if left <= hostVeryLow*h.total {
		level = sampler.LevelCritical
	}
	return []finding{{level: level, say: func() saying {
		return saying{
			text:     fmt.Sprintf("host: %s of %s memory are available: the kernel will soon kill a process", size(left), size(h.total)),
			evidence: append([]string{fmt.Sprintf("%s were available at most since watching began", size(h.most))}, f.hostHolders()...),
			numbers:  map[string]float64{"available_bytes": float64(series.Bytes(left)), "total_bytes": float64(series.Bytes(h.total))},
			advice:   hostRemedies(),
		}
	}}}
}

func (f *Facts) sayHostGrowth(h *host, tr series.Trend, left, low, likely, high float64) saying {
	return saying{
		text: fmt.Sprintf("host: memory in use grows by %s a minute; the %s available last ~%s (%s to %s)", size(tr.Slope*60), size(left),
			spanOf(likely), spanOf(low), spanOf(high)),
		evidence: append([]string{
			fmt.Sprintf("it rose from %s to %s in %s, in both halves alike", size(tr.From), size(tr.To), spanOf(tr.Until-tr.Since)),
		}, f.hostHolders()...),
		numbers: map[string]float64{"rate_bytes_per_second": tr.Slope * float64(sampler.MiB), "available_bytes": float64(series.Bytes(left)),
			"eta_low_s": math.Round(low), "eta_high_s": math.Round(high)},
		advice: hostRemedies(),
	}
}

// hostHolders names the process of a GPU that holds most host memory.
func (f *Facts) hostHolders() []string {
	var most *proc
	held := 0.0
	for _, c := range f.cards {
		for _, p := range c.procs {
			if m, ok := sampler.Plausible(p.process.HostMemory); ok && series.MiB(m) > held {
				most, held = p, series.MiB(m)
			}
		}
	}
	if most == nil {
		return nil
	}
	line := fmt.Sprintf("pid %d (%s) holds %s of host memory", most.pid, who(most.process), size(held))
	if grown := held - most.hostFirst; grown > 256 {
		line += fmt.Sprintf(", %s more than when first seen", size(grown))
	}
	return []string{line}
}

func hostRemedies() []sampler.Advice {
	return trouble{host: true, phase: explain.PhaseTraining, causes: sure("host_memory")}.remedies()
}
