package series

import "testing"

// Spikes grow when each stands above the one before, evenly, and above all that were earlier.
func TestTopsThatRise(t *testing.T) {
	for what, row := range map[string]struct {
		tops []float64 // oldest first
		rise bool
	}{
		"three evenly":                  {[]float64{60, 64, 68}, true},
		"three that level off":          {[]float64{60, 75, 78}, false},
		"four, unevenly":                {[]float64{60, 63, 69, 72}, true},
		"four among higher ones":        {[]float64{80, 70, 55, 60, 63, 69, 72}, false},
		"a long series":                 {[]float64{50, 53, 56, 60, 63, 66, 70}, true},
		"three of chance, one as high":  {[]float64{72, 58, 61, 66, 72}, false},
		"the same height":               {[]float64{70, 70, 70, 70}, false},
		"two say nothing of a sequence": {[]float64{60, 70}, false},
	} {
		t.Run(what, func(t *testing.T) {
			newest := make([]float64, len(row.tops))
			for i, v := range row.tops {
				newest[len(newest)-1-i] = v
			}
			p := Pattern{}
			p.tops(newest, 100)
			if (p.Rise > 0) != row.rise {
				t.Errorf("rise %v", p.Rise)
			}
		})
	}
}

// Spikes of which each adds less than the one before will add less still.
func TestRisesThatGetSmaller(t *testing.T) {
	for what, row := range map[string]struct {
		tops        []float64 // the newest first
		least, most float64
	}{
		"equal":        {[]float64{18000, 16000, 14000, 12000}, 1999, 2001},
		"ever smaller": {[]float64{20000, 19000, 17200, 14000}, 500, 600},
		"ever larger":  {[]float64{20000, 17000, 15000, 13800}, 2000, 2100},
	} {
		var p Pattern
		p.tops(row.tops, 24000)
		if p.Rise < row.least || p.Rise > row.most {
			t.Errorf("%s: the next rise is %.0f, want %.0f to %.0f", what, p.Rise, row.least, row.most)
		}
	}
}
