package report

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

// Where the total is not known, what comes after the first value may be far above it: the median stays what was used half
// of the time.
func TestMedianWithoutTotal(t *testing.T) {
	for _, first := range []float64{1, 300, 20000, 77000} {
		var h shares
		h.add(first, first, 1)
		for i := range 300 {
			v := 20000.0
			if i%60 > 50 {
				v = 77000
			}
			h.add(v, v, 1)
		}
		if m := h.median(); math.Abs(m-20000) > 77000.0/shareBars*4 {
			t.Errorf("after %.0f the median is %.0f", first, m)
		}
	}
	var h shares
	h.add(5, 5, 3)
	h.add(2*float64(sampler.MaxPlausible), 5, 1)
	if m := h.median(); m != 5 {
		t.Errorf("beside what cannot be the median is %v", m)
	}
}
