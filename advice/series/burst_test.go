package series

import "testing"

// However many spikes a validation is, it is one burst, and what comes without a pause is none that comes again.
func TestBursts(t *testing.T) {
	for name, row := range map[string]struct {
		starts []float64
		now    float64
		count  int
		period float64
		ok     bool
	}{
		"single spikes":        {[]float64{100, 160, 220}, 230, 3, 60, true},
		"two spikes each":      {[]float64{100, 115, 200, 215, 300, 315}, 330, 3, 100, true},
		"in the middle of one": {[]float64{100, 115, 200, 215, 300}, 312, 3, 100, true},
		"long before the next": {[]float64{100, 115, 200, 215}, 440, 2, 100, true},
		"over":                 {[]float64{100, 115, 200, 215}, 460, 2, 100, false},
		"once":                 {[]float64{100, 115}, 130, 1, 0, false},
		"the steps of a loop":  {[]float64{100, 120, 140, 160, 180, 200, 220}, 230, 1, 0, false},
		"none":                 {nil, 100, 0, 0, false},
	} {
		b, ok := spiked(nil, row.starts...).Bursts(row.now)
		if ok != row.ok || b.Count != row.count || b.Period != row.period {
			t.Errorf("%s: %+v, %v, want %+v", name, b, ok, row)
		}
	}
}
