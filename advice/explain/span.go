package explain

import (
	"math"

	"nvpeak/sampler"
)

// span is an amount between two bounds.
type span struct{ low, high sampler.Bytes }

func (s span) mid() sampler.Bytes { return s.low/2 + s.high/2 }

// times multiplies both bounds.
func (s span) times(low, high float64) span { return span{partOf(s.low, low), partOf(s.high, high)} }

// partOf is a part of an amount.
func partOf(b sampler.Bytes, part float64) sampler.Bytes {
	return sampler.Bytes(math.Max(0, float64(b)*part))
}

// covers is the chance that a saving between the bounds reaches an amount.
func (s span) covers(need sampler.Bytes) float64 {
	switch {
	case s.low >= need:
		return 1
	case s.high < need:
		return 0.25 * float64(s.high) / math.Max(1, float64(need))
	case s.high == s.low:
		return 1
	}
	return 0.3 + 0.65*float64(s.high-need)/float64(s.high-s.low)
}
