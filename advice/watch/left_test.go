package watch

import (
	"testing"

	"nvpeak/sampler"
)

// While a finding is not there again its alert stays open, and its time goes on.
func TestTimeGoesOn(t *testing.T) {
	in := &incident{seen: 10, found: finding{eta: sampler.Some(100.0)}}
	for _, row := range []struct{ now, left float64 }{{10, 100}, {40, 70}, {110, 0}, {300, 0}} {
		if in.wait(row.now); in.now.ETA != sampler.Some(row.left) {
			t.Errorf("at %v s: %v, want %v", row.now, in.now.ETA, row.left)
		}
	}
	in = &incident{}
	if in.wait(50); in.now.ETA.Known() {
		t.Errorf("no time was known, and now it is %v", in.now.ETA)
	}
}
