package series

import "testing"

// What has risen again and again is over after three times the longest wait; what gave something back rises from there.
func TestRisesOver(t *testing.T) {
	for name, row := range map[string]struct {
		every, n int     // seconds between two steps, and how many there are
		back     float64 // given back before the last eight
		over     float64 // seconds after the last; 0: never
	}{
		"each minute":             {60, 9, 0, 181},
		"quick ones":              {2, 30, 0, 16},
		"few":                     {60, 7, 0, 0},
		"its cache was emptied":   {60, 20, 900, 361}, // the first of the eight began with that
		"and it rises from there": {60, 8, 10, 181},
	} {
		var r Rises
		now, level := 0.0, 1000.0
		for i := range row.n {
			if i == row.n-8 {
				level -= row.back
			}
			for range row.every {
				r.add(now, level, level, 20000)
				now++
			}
			level += 100
		}
		last := now - float64(row.every)
		for ; now < last+2000; now++ {
			if r.Over(now) {
				break
			}
		}
		if got := now - last; row.over == 0 != (got >= 2000) || row.over > 0 && got != row.over {
			t.Errorf("%s: over after %v s, not %v", name, got, row.over)
		}
	}
}
