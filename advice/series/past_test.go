package series

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

// counted is a series whose buckets hold 1 MiB more each; samples are one bucket apart.
func counted(buckets int) *Series {
	s := established()
	for i := range buckets + 1 {
		v := float64(1000 + i)
		s.Add(float64(i*BucketSeconds), v, v, v, 1e6)
	}
	return s
}

func TestBefore(t *testing.T) {
	s := counted(100) // the last closed bucket, 99, ends at 400
	for at, want := range map[float64]float64{399: 1098, 400: 1099, 520: 1099, 524: 1099, 528: math.NaN(), 276: 1068, 272: math.NaN()} {
		if got := s.Before(at); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("before %v: %v, want %v", at, got, want)
		}
	}
}

// The peaks reach back to the first plateau, in wider stretches when there are many.
func TestPeaks(t *testing.T) {
	for buckets, want := range map[int]struct {
		count       int
		first, last float64
	}{1: {1, 1000, 1000}, 32: {32, 1000, 1031}, 33: {16, 1001, 1031}, 64: {32, 1001, 1063}, 100: {25, 1003, 1099}, 8448: {32, 1511, 9447}} {
		got := counted(buckets).Peaks()
		if len(got) != want.count || got[0] != Bytes(want.first) || got[len(got)-1] != Bytes(want.last) {
			t.Errorf("%d buckets: %d peaks, from %v to %v", buckets, len(got), got[0], got[len(got)-1])
		}
	}
	if established().Peaks() != nil {
		t.Error("a series without samples has peaks")
	}
	s := counted(10)
	s.Add(60, 5000, 5000, 5000, 1e6) // buckets 11 to 14 are a gap
	s.Add(64, 5000, 5000, 5000, 1e6)
	if got := s.Peaks(); len(got) != 12 || got[11] != sampler.Bytes(5000*sampler.MiB) {
		t.Errorf("with a gap %v", got)
	}
}

func TestFlat(t *testing.T) {
	for high, want := range map[float64]bool{5100: true, 5101: false} {
		s := established()
		s.play(10000, [2]float64{9, 5000}, [2]float64{2, high})
		if s.Flat(10000) != want {
			t.Errorf("from 5000 to %v of 10000: flat %v", high, s.Flat(10000))
		}
	}
	s := established()
	if s.play(10000, [2]float64{9, 5000}); !s.Levelled() {
		t.Error("no level where it ran before watching began")
	}
	s.Start(0, false)
	if s.play(10000, [2]float64{9, 0}); s.Flat(10000) || s.Levelled() {
		t.Error("flat before its first plateau")
	}
}

func TestRisen(t *testing.T) {
	s := counted(15)
	if s.Risen(60) != 0 {
		t.Error("risen before a minute is over")
	}
	if got := counted(16).Risen(60); got != 16 {
		t.Errorf("in the first minute risen by %v", got)
	}
	s = counted(100) // stretches of 64 s; the sixth ends at 384
	for seconds, want := range map[float64]float64{10: 1100 - 1064, 64: 1100 - 1064, 65: 1100 - 1048, 128: 1100 - 1048, 3600: 100} {
		if got := s.Risen(seconds); got != want {
			t.Errorf("in %v s risen by %v, want %v", seconds, got, want)
		}
	}
	if s.Value = 900; s.Risen(64) != 0 {
		t.Error("what fell has risen")
	}
}
