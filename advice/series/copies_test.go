package series

import (
	"math"
	"testing"
)

// An array that is copied into a larger one each time it is full asks for as many times more, and is full as much later where it is filled evenly.
// What comes back whole, hardly grows, or comes at any time, is no such thing.
func TestCopying(t *testing.T) {
	const limit = 81920
	for name, row := range map[string]struct {
		sizes  []float64 // MiB, of the new arrays; the first takes the place of half of that
		keeps  float64   // of the new array that stays
		starts []float64
		after  float64 // seconds later it is looked
		ask    float64 // 0: none
		due    float64
	}{
		"doubles, at an even rate": {[]float64{7200, 14400, 28800}, 1, []float64{280, 540, 1060}, 30, 57600, 2100},
		"doubles, at even times":   {[]float64{7200, 14400, 28800}, 1, []float64{280, 540, 800}, 30, 57600, 1060},
		"half as much again":       {[]float64{8000, 12000, 18000}, 1, []float64{280, 540, 930}, 30, 27000, 1515},
		"faster and faster":        {[]float64{7200, 14400, 28800}, 1, []float64{280, 800, 1060}, 30, 0, 0},
		"slower than it grows":     {[]float64{7200, 14400, 28800}, 1, []float64{280, 540, 1600}, 30, 0, 0},
		"alike":                    {[]float64{14400, 14400, 14400}, 1, []float64{280, 540, 800}, 30, 0, 0},
		"grows by another factor":  {[]float64{7200, 10100, 24000}, 1, []float64{280, 540, 800}, 30, 0, 0},
		"two only":                 {[]float64{14400, 28800}, 1, []float64{280, 540}, 30, 0, 0},
		"comes back":               {[]float64{7200, 14400, 28800}, 0, []float64{280, 540, 1060}, 30, 0, 0},
		"a long silence":           {[]float64{7200, 14400, 28800}, 1, []float64{280, 540, 800}, 1600, 0, 0},
	} {
		var s Series
		s.Start(0, false)
		level, old, next := 24000.0, row.sizes[0]/2, 0
		level += old
		end := int(row.starts[len(row.starts)-1] + row.after)
		for i := range end {
			now, high := float64(i), level
			if next < len(row.starts) && now == row.starts[next] {
				high = level + row.sizes[next]
				if row.keeps > 0 {
					level += row.sizes[next] - old
					old = row.sizes[next]
				}
				next++
			}
			s.Add(now, level, level, high, limit)
		}
		c, ok := s.Copying(float64(end))
		if ok != (row.ask > 0) || ok && (math.Abs(c.Ask-row.ask) > 1 || math.Abs(c.Due-row.due) > 1) {
			t.Errorf("%s: %v %+v", name, ok, c)
		}
	}
}
