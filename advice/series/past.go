package series

import (
	"math"

	"nvpeak/sampler"
)

// Before is the floor of the series up to a moment: its settled level if no bucket
// since then has closed above it.
func (s *Series) Before(t float64) float64 {
	last := int64(math.Floor(t/BucketSeconds)) - 1
	for j := last; j > last-ringBuckets; j-- {
		if v := s.lows.at(0, j); !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// Peaks are the largest values of equal stretches since the first plateau, oldest first.
func (s *Series) Peaks() []sampler.Bytes {
	for scale := range ringScales {
		head := s.highs.heads[scale]
		if head == NoBucket || scale < ringScales-1 && s.oldest(scale) <= head-ringBuckets {
			continue // older ones have left the ring: a coarser one reaches back
		}
		var list []sampler.Bytes
		for j := max(head-ringBuckets+1, s.oldest(scale)); j <= head; j++ {
			if v := s.highs.at(scale, j); v == v {
				list = append(list, Bytes(v))
			}
		}
		return list
	}
	return nil
}

// flatShare: a holder is flat when it has moved by no more than that part of the GPU
// since its first plateau.
const flatShare = 0.01

// Flat says whether the series has stood still since its first plateau.
func (s *Series) Flat(limit float64) bool {
	return s.plateau >= 0 && s.Peak-s.Base <= flatShare*limit
}

// Risen is how much higher the newest value is than the oldest known one of about the last
// seconds; 0 when nothing is known of then.
func (s *Series) Risen(seconds float64) float64 {
	const scale = 4 // buckets of 64 s
	head := s.lows.heads[scale]
	if head == NoBucket {
		return 0
	}
	back := int64(math.Ceil(seconds / float64(int64(BucketSeconds)<<scale)))
	for j := head - back; j <= head; j++ {
		if v := s.lows.at(scale, j); v == v { // not a gap
			return max(0, s.Value-v)
		}
	}
	return 0
}

// Levelled says whether the first plateau was reached: the start-up is over.
func (s *Series) Levelled() bool { return s.plateau >= 0 }
