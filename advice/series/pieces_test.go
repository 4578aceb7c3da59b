package series

import "testing"

// A rise is of small pieces when four fifths of at least 128 MiB of it came by less than 20 MiB at once, of which the
// last 512 count.
func TestPieces(t *testing.T) {
	for name, row := range map[string]struct {
		rises [][2]float64 // so many of so much MiB
		want  bool
	}{
		"small ones":          {[][2]float64{{64, 2}}, true},
		"too few":             {[][2]float64{{63, 2}}, false},
		"just small":          {[][2]float64{{10, 19.9}}, true},
		"of large tensors":    {[][2]float64{{10, 20}}, false},
		"falls between":       {[][2]float64{{40, 2}, {1, -3000}, {24, 2}}, true},
		"a large one":         {[][2]float64{{200, 2}, {1, 100}}, true},
		"a larger one":        {[][2]float64{{200, 2}, {1, 110}}, false},
		"small since":         {[][2]float64{{4, 500}, {500, 2}}, true},
		"not for long enough": {[][2]float64{{4, 500}, {300, 2}}, false},
	} {
		var p Pieces
		for _, r := range row.rises {
			for range int(r[0]) {
				p.add(r[1])
			}
		}
		if p.Small() != row.want {
			t.Errorf("%s: small %v, %+v", name, p.Small(), p)
		}
	}
	s := established() // not the start, which loads by all kinds of pieces
	for i := range 200 {
		v := 5000 + 2*float64(i)
		s.Add(float64(2000+i), v, v, v, 20000)
	}
	if !s.Pieces.Small() {
		t.Errorf("a series that rises by 2 MiB: %+v", s.Pieces)
	}
}
