package watch

import (
	"math"

	"nvpeak/advice/series"
)

// lowestFree is the least free memory of the last window and of all time.
type lowestFree struct {
	window [lowestBuckets]float64
	bucket [lowestBuckets]int64
	ever   float64
}

const lowestBuckets = 16 // of 4 s

func (w *lowestFree) reset() {
	for i := range w.bucket {
		w.bucket[i] = series.NoBucket
	}
	w.ever = math.NaN()
}

func (w *lowestFree) add(t, free float64) {
	b := int64(math.Floor(t / series.BucketSeconds))
	i := b & (lowestBuckets - 1)
	if w.bucket[i] != b || free < w.window[i] {
		w.window[i], w.bucket[i] = free, b
	}
	if !(free >= w.ever) {
		w.ever = free
	}
}

// last is the least free memory of the last seconds, at most a minute; NaN: none known.
func (w *lowestFree) last(t, seconds float64) float64 {
	b := int64(math.Floor(t / series.BucketSeconds))
	from := b - min(int64(seconds/series.BucketSeconds), lowestBuckets-1)
	least := math.NaN()
	for i, j := range w.bucket {
		if j >= from && j <= b && !(w.window[i] >= least) {
			least = w.window[i]
		}
	}
	return least
}
