package watch

import (
	"time"

	"nvpeak/sampler"
)

var ruleSwap = Rule{
	Code:  sampler.AlertSwap,
	Level: sampler.LevelWarning,
	Reason: "The machine is swapping out while little memory is available: training slows down by orders of magnitude, and the kernel may " +
		"kill a process next.",
	HoldFor:    20 * time.Second,
	ClearAfter: 60 * time.Second,
	check:      checkSwap,
}

const (
	// Swap has grown by 512 MiB and 1 % of the memory within five minutes while less than
	// a tenth is available: without the second, the kernel only tidies up.
	swapLeast     = 512
	swapShare     = 0.01
	swapAvailable = 0.10
)

func checkSwap(f *Facts) []finding {
	h := f.host
	if f.gpu != nil || !h.known || h.total == 0 {
		return nil
	}
	left, grown := h.memory.Available.MiB(), h.swapped()
	if left > swapAvailable*h.total || grown < max(swapLeast, swapShare*h.total) {
		return nil
	}
	return []finding{{level: sampler.LevelWarning, render: func(f *Facts) message { return renderSwap(f, left, grown) }}}
}

func renderSwap(f *Facts, left, grown float64) message {
	h, words := f.host, f.words
	return message{
		text: words.Say("alert.swap", "grown", size(grown), "free", sizeFree(left)),
		evidence: append([]string{words.Say("alert.swap.used", "used", h.memory.SwapUsed, "free", sizeFree(left), "total", size(h.total))},
			hostHolders(f)...),
		numbers: map[string]float64{"swapped_bytes": bytesOf(grown), "available_bytes": bytesOf(left)},
		advice:  hostFixes(f),
	}
}
