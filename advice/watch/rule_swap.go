package watch

import (
	"fmt"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleSwap = Rule{
	Code:  "swap",
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
	if f.card != nil || !h.known || h.total == 0 {
		return nil
	}
	left, grown := series.MiB(h.memory.Available), h.swapped()
	if left > swapAvailable*h.total || grown < max(swapLeast, swapShare*h.total) {
		return nil
	}
	return []finding{{level: sampler.LevelWarning, say: func() saying {
		return saying{
			text: fmt.Sprintf("host: %s were swapped out within five minutes, %s are available", size(grown), size(left)),
			evidence: append([]string{fmt.Sprintf("swap in use: %s; memory available: %s of %s", size(series.MiB(h.memory.SwapUsed)),
				size(left), size(h.total))}, f.hostHolders()...),
			numbers: map[string]float64{"swapped_bytes": float64(series.Bytes(grown)), "available_bytes": float64(series.Bytes(left))},
			advice:  hostRemedies(),
		}
	}}}
}
