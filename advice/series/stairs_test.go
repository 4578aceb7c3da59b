package series

import "testing"

// climb plays a series that stands on a level and steps up at times.
func climb(steps [][2]float64, until float64) *Stairs {
	s := &Stairs{level: 20000}
	for t := 1.0; t <= until; t++ {
		v := 20000.0
		for _, step := range steps {
			if t >= step[0] {
				v += step[1]
			}
		}
		s.add(t, v, 40000)
	}
	return s
}

// TestStairs holds both sides of what makes steps equal, regular and of today.
func TestStairs(t *testing.T) {
	for name, row := range map[string]struct {
		steps [][2]float64
		until float64
		want  int // equal steps; 0: none
	}{
		"three":                  {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 320, 3},
		"two":                    {[][2]float64{{100, 500}, {200, 500}}, 220, 0},
		"one came double":        {[][2]float64{{100, 500}, {200, 1000}, {300, 500}}, 320, 3},
		"sizes apart":            {[][2]float64{{100, 500}, {200, 700}, {300, 500}}, 320, 0},
		"sizes close":            {[][2]float64{{100, 500}, {200, 640}, {300, 500}}, 320, 3},
		"intervals close":        {[][2]float64{{100, 500}, {200, 500}, {355, 500}}, 370, 3},
		"intervals apart":        {[][2]float64{{100, 500}, {200, 500}, {370, 500}}, 390, 0},
		"late":                   {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 499, 3},
		"too late":               {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 505, 0},
		"too small":              {[][2]float64{{100, 150}, {200, 100}, {300, 100}}, 320, 0},
		"a dip that came back":   {[][2]float64{{100, 500}, {200, 500}, {220, -900}, {270, 900}, {300, 500}}, 320, 3},
		"given back":             {[][2]float64{{100, 500}, {200, 500}, {220, -900}, {290, 900}, {300, 500}}, 320, 0},
		"many are less alike":    {[][2]float64{{100, 500}, {200, 750}, {330, 500}, {400, 700}, {520, 500}}, 540, 5},
		"even many must be like": {[][2]float64{{100, 500}, {200, 810}, {330, 500}, {400, 810}, {520, 500}}, 540, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := climb(row.steps, row.until).Flight(row.until)
			if ok != (row.want > 0) || ok && f.Steps != row.want {
				t.Errorf("%v %+v", ok, f)
			}
		})
	}
	ramp := &Stairs{level: 20000}
	for i := range 1000 {
		ramp.add(float64(i), 20000+15*float64(i), 40000)
	}
	if f, ok := ramp.Flight(1000); ok {
		t.Errorf("a ramp has steps: %+v", f)
	}
	f, _ := climb([][2]float64{{100, 500}, {200, 500}, {300, 500}}, 320).Flight(320)
	for room, want := range map[float64]float64{499: 80, 501: 180, 1200: 280} {
		if _, eta := f.Fit(320, room); eta != want {
			t.Errorf("room %v: eta %v, want %v", room, eta, want)
		}
	}
}
