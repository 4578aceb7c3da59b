package explain

import (
	"slices"

	"nvpeak/sampler"
)

// climbsStairs: a program that only works through inputs rose in steps, the last of them in the later half, and never gave any of that back (own
// thresholds: two steps, 6 % of the GPU). Fragmentation comes up as well, and levels off.
func (f *failure) climbsStairs() bool {
	if !f.recorded() || f.onHost() || !f.program.is(running) || f.class.class != classAllocator || f.startingUp() || f.larger() || f.slower() || f.joinsTokens() || f.growsByDesign() || f.full() != nil {
		return false
	}
	g := riseOfLevels(f.history.Peaks)
	return g.steps >= 2 && g.lateSteps >= 1 && g.last.Less(g.first) >= partOf(f.total.Or(0), 0.06) && g.last == slices.Max(f.history.Peaks[g.levels/3:])
}

// packsBelow: what tensors held with what was refused is less than the process had held at a peak, and what lay in pieces is more than
// was refused: it was the pieces that went beyond.
func (f *facts) packsBelow(peaks []sampler.Bytes) bool {
	n := len(peaks)
	return n >= 5 && f.allocated.Known() && f.requested.Known() && f.fitsAfterReuse() && f.unallocatedShare() >= 0.1 && f.unallocated.Or(0) >= f.requested.Or(0) &&
		f.allocated.Or(0)+f.requested.Or(0)+ContextTypical < slices.Max(peaks[:n-2]) // the last ones may be of this climb
}

// leapt: within the last step the process went far beyond all its peaks (own threshold: 8 % of the GPU).
func (f *facts) leapt() bool {
	h := f.history
	if h != nil && f.packsBelow(h.Peaks) {
		return false
	}
	return h != nil && len(h.Peaks) >= 3 && f.total.Known() && h.Process.Or(0).Less(slices.Max(h.Peaks)) > partOf(f.total.Or(0), 0.08)
}
