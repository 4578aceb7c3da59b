package history

import (
	"math"
	"time"
)

// tiers are the resolutions of a Track: a minute to an hour by the second, six hours by
// ten seconds, a day by the minute. Together they keep 24 hours in fixed memory.
var tiers = [...]struct {
	step time.Duration
	keep int
}{
	{time.Second, 3600},
	{10 * time.Second, 2160},
	{time.Minute, 1440},
}

// processTiers are smaller, for there may be thousands of processes.
var processTiers = [len(tiers)]int{600, 360, 1440}

func gpuTiers() (keep [len(tiers)]int) {
	for i := range tiers {
		keep[i] = tiers[i].keep
	}
	return keep
}

var nan32 = float32(math.NaN())
