package series

import (
	"math"
	"strconv"
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

// Now is what the times say, and not what adding up floats leaves: it stands in ids.
func TestClockIsExact(t *testing.T) {
	start := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var c Clock
	for ms := 0; ms < 200_000; ms += 247 {
		c.Next(start.Add(time.Duration(ms)*time.Millisecond + 300*time.Nanosecond))
		want := strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64)
		if got := strconv.FormatFloat(c.Now, 'f', -1, 64); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
