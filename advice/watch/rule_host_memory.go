package watch

import (
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleHostMemory = Rule{
	Code:  sampler.AlertHostMemory,
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
	if f.gpu != nil || !h.known || h.total == 0 {
		return nil
	}
	left := h.memory.Available.MiB()
	if h.growing.Found {
		tr := h.growing.Trend
		low, likely, high := tr.ETA(left)
		level := sampler.LevelWarning
		if likely <= hostSoon {
			level = sampler.LevelCritical
		}
		return []finding{{level: level, eta: sampler.Some(math.Round(likely)), render: func(f *Facts) message {
			return renderHostGrowth(f, tr, left, low, high)
		}}}
	}
	if left > hostLow*h.total || h.most-left < hostFall*h.total {
		return nil
	}
	level := sampler.LevelWarning
	if left <= hostVeryLow*h.total {
		level = sampler.LevelCritical
	}
	return []finding{{level: level, render: func(f *Facts) message { return renderHostLow(f, left) }}}
}

func renderHostLow(f *Facts, left float64) message {
	h, words := f.host, f.words
	return message{
		text:     words.Say("alert.host_memory.low", "free", sizeFree(left), "total", size(h.total)),
		evidence: append([]string{words.Say("alert.host_memory.most", "most", size(h.most))}, hostHolders(f)...),
		numbers:  map[string]float64{"available_bytes": bytesOf(left), "total_bytes": bytesOf(h.total)},
		advice:   hostFixes(f),
	}
}

func renderHostGrowth(f *Facts, tr series.Trend, left, low, high float64) message {
	words := f.words
	return message{
		text: words.Say("alert.host_memory", "rate", size(tr.Slope*60), "free", sizeFree(left), "eta", words.Spans(low, high)),
		evidence: append([]string{
			words.Say("alert.host_memory.rose", "from", size(tr.From), "to", size(tr.To), "span", words.Span(tr.Until-tr.Since)),
		}, hostHolders(f)...),
		numbers: map[string]float64{"rate_bytes_per_second": tr.Slope * float64(sampler.MiB), "available_bytes": bytesOf(left),
			"eta_low_s": math.Round(low), "eta_high_s": math.Round(high)},
		advice: hostFixes(f),
	}
}

// hostHolders names the process of a GPU that holds most host memory.
func hostHolders(f *Facts) []string {
	most, held := mostOnHost(f.gpus)
	if most == nil {
		return nil
	}
	if grown := held - most.hostFirst; grown > 256 {
		return []string{f.words.Say("alert.host_memory.grown", "process", f.pid(most), "held", size(held), "grown", size(grown))}
	}
	return []string{f.words.Say("alert.host_memory.held", "process", f.pid(most), "held", size(held))}
}

func hostFixes(f *Facts) []sampler.Advice {
	return hypothetical{host: true, phase: sampler.PhaseTraining, causes: certain(explain.CauseHostMemory)}.fixes(f.words)
}
