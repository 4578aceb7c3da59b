package explain

import (
	"slices"

	"nvpeak/sampler"
)

// What stood for long at one height and then rose until it died, at the same work.

const (
	// lateRises at least are no chance, each of them riseLeast of the GPU (own thresholds).
	lateRises, riseLeast = 2, 1.0 / 512
	// pinnedShare is less unallocated memory than runs have that die of fragmentation (own threshold): of 19 simulated ones the least was 8.7 %.
	pinnedShare = 0.08
)

// risesLate: for most of the run the process stood at one height, with room for what was kept in its cache, and then rose again and again until it died, at
// the same work. What is unallocated then is what the tensors that stay do not leave whole.
func (f *failure) risesLate() bool {
	if !f.recorded() || !f.lateTraining() || f.bigRequest() || f.larger() || f.slower() || f.changed() || f.startingUp() || f.heldMore() || f.unallocatedShare() >= pinnedShare || f.class.class != classAllocator {
		return false
	}
	stood, rises := f.stoodUntil()
	return stood > 0 && rises >= lateRises
}

// stoodUntil is the height at which the process stood for most of its stretches, and how often it rose after the last of these; 0: it did not.
func (f *facts) stoodUntil() (height sampler.Bytes, rises int) {
	peaks := f.history.Peaks
	n := len(peaks)
	if n < 8 {
		return 0, 0
	}
	least := sampler.Bytes(riseLeast * float64(f.total.Or(0)))
	k := n - 1
	for k > 0 && peaks[k] > peaks[k-1]+least {
		k--
	}
	height = slices.Max(peaks[:k+1])
	stood := 0
	for _, p := range peaks[:k+1] {
		if height.Less(p) <= least {
			stood++
		}
	}
	if stood < n/2 || height.Less(peaks[k]) > least {
		return 0, 0
	}
	return height, n - 1 - k
}
