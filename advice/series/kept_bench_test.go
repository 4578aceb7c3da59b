package series

import "testing"

// BenchmarkKeptTrend asks as a rule does, with every snapshot.
func BenchmarkKeptTrend(b *testing.B) {
	var d Dips
	sawTooth(&d, 3600, 90, 2000, 4, 12000, 6000, 48000)
	for b.Loop() {
		if _, _, ok := d.Trend(3600, 48000); !ok {
			b.Fatal("no trend")
		}
	}
}
