package series

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

func TestBytes(t *testing.T) {
	const one = 1 / float64(sampler.MiB)
	most := sampler.MaxPlausible.MiB()
	for m, want := range map[float64]sampler.Bytes{-1: 0, 0: 0, 0.45 * one: 0, 0.5 * one: 1, 1.5: 3 * sampler.MiB / 2,
		most / 2: sampler.MaxPlausible / 2, most: sampler.MaxPlausible - 1, 2 * most: sampler.MaxPlausible - 1, math.NaN(): 0} {
		if got := Bytes(m); got != want {
			t.Errorf("%v MiB are %d bytes, want %d", m, got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, v := range map[float64][]float64{7: {7}, 3: {5, 1}, 2: {3, 1, 2}, 2.5: {4, 1, 3, 2}} {
		if got := Median(v); got != want {
			t.Errorf("median of %v: %v, want %v", v, got, want)
		}
	}
}
