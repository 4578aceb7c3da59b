package series

import (
	"math"
	"testing"
	"time"
)

// A gap is more than half a minute and more than ten times what is usual, or a clock set back.
func TestClock(t *testing.T) {
	for name, row := range map[string]struct {
		steps []float64 // seconds from one snapshot to the next
		gap   bool      // at the last one
		now   float64
		usual float64
	}{
		"first":                    {nil, false, 0, 0},
		"half a minute":            {[]float64{1, 30}, false, 31, 1 + 29.0/16},
		"more than that":           {[]float64{1, 31}, true, 32, 1},
		"ten times the usual":      {[]float64{4, 40}, false, 44, 4 + 36.0/16},
		"more than ten times":      {[]float64{4, 41}, true, 45, 4},
		"the same moment":          {[]float64{2, 0}, false, 2, 2},
		"set back":                 {[]float64{2, -1}, true, 2, 2},
		"goes on after a set back": {[]float64{2, -500, 2}, false, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var c Clock
			at := time.Unix(1000, 0)
			gap := c.Next(at)
			for _, step := range row.steps {
				at = at.Add(time.Duration(step * float64(time.Second)))
				gap = c.Next(at)
			}
			if gap != row.gap || c.Now != row.now || math.Abs(c.Usual-row.usual) > 1e-9 {
				t.Errorf("gap %v, now %v, usual %v", gap, c.Now, c.Usual)
			}
		})
	}
}
