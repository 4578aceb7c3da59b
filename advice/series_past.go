package advice

import (
	"math"

	"nvpeak/sampler"
)

// before is the floor of the series up to a moment: its settled level if no bucket
// since then has closed above it.
func (s *series) before(t float64) float64 {
	last := int64(math.Floor(t/bucketSeconds)) - 1
	for j := last; j > last-ringBuckets; j-- {
		if v := s.lows.at(0, j); !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// peaks are the largest values of equal stretches since the first plateau, oldest first.
func (s *series) peaks() []sampler.Bytes {
	for scale := range ringScales {
		head := s.highs.heads[scale]
		if head == noBucket || scale < ringScales-1 && s.oldest(scale) <= head-ringBuckets {
			continue // older ones have left the ring: a coarser one reaches back
		}
		var list []sampler.Bytes
		for j := max(head-ringBuckets+1, s.oldest(scale)); j <= head; j++ {
			if v := s.highs.at(scale, j); v == v {
				list = append(list, bytesOf(v))
			}
		}
		return list
	}
	return nil
}

// flat says whether the series has stood still since its first plateau.
func (s *series) flat(limit float64) bool {
	return s.plateau >= 0 && s.peak-s.base <= flatShare*limit
}

// risen is how much higher the newest value is than the oldest known one of about the last
// seconds; 0 when nothing is known of then.
func (s *series) risen(seconds float64) float64 {
	const scale = 4 // buckets of 64 s
	head := s.lows.heads[scale]
	if head == noBucket {
		return 0
	}
	back := int64(math.Ceil(seconds / float64(int64(bucketSeconds)<<scale)))
	for j := head - back; j <= head; j++ {
		if v := s.lows.at(scale, j); v == v { // not a gap
			return max(0, s.value-v)
		}
	}
	return 0
}

// levelled says whether the first plateau was reached: the start-up is over.
func (s *series) levelled() bool { return s.plateau >= 0 }
