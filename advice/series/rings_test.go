package series

import (
	"math"
	"math/rand"
	"testing"
)

// At every width a ring holds the least of each of its last 32 buckets, and NaN for a gap.
func TestRingsHoldTheLeastOfEachBucket(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var r rings
	r.reset()
	if !math.IsNaN(r.at(0, 0)) {
		t.Error("an empty ring holds a value")
	}
	filed := map[int64]float64{}
	for bucket, rounds := int64(5), 0; rounds < 1500; rounds++ {
		next := bucket + 1
		switch random.Intn(20) {
		case 0:
			next += random.Int63n(40)
		case 1:
			next = (bucket | 31) + 1 + 32*random.Int63n(2) // whole rings
		}
		v := float64(random.Intn(1000))
		filed[bucket] = v
		closed := r.put(bucket, next, v, lesser)
		for scale := range ringScales {
			if (bucket>>scale != next>>scale) != (scale < closed) {
				t.Fatalf("from %d to %d %d scales close", bucket, next, closed)
			}
			if scale < closed {
				compareRing(t, &r, scale, bucket>>scale, filed)
			}
		}
		bucket = next
	}
}

func compareRing(t *testing.T, r *rings, scale int, head int64, filed map[int64]float64) {
	t.Helper()
	for j := head - ringBuckets - 1; j <= head+1; j++ {
		want := math.NaN()
		for fine := j << scale; fine < (j+1)<<scale && j > head-ringBuckets && j <= head; fine++ {
			if v, ok := filed[fine]; ok && !(v >= want) {
				want = v
			}
		}
		if got := r.at(scale, j); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("scale %d, bucket %d of %d: %v, want %v", scale, j, head, got, want)
		}
	}
}
