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
		"nearly double":          {[][2]float64{{100, 500}, {200, 895}, {300, 500}}, 320, 0},
		"close to double":        {[][2]float64{{100, 500}, {200, 905}, {300, 500}}, 320, 3},
		"little more":            {[][2]float64{{100, 500}, {200, 1095}, {300, 500}}, 320, 3},
		"more than double":       {[][2]float64{{100, 500}, {200, 1105}, {300, 500}}, 320, 0},
		"two":                    {[][2]float64{{100, 500}, {200, 500}}, 220, 0},
		"one came double":        {[][2]float64{{100, 500}, {200, 1000}, {300, 500}}, 320, 3},
		"sizes apart":            {[][2]float64{{100, 500}, {200, 651}, {300, 500}}, 320, 0},
		"sizes close":            {[][2]float64{{100, 500}, {200, 650}, {300, 500}}, 320, 3},
		"intervals close":        {[][2]float64{{100, 500}, {200, 500}, {360, 500}}, 370, 3},
		"intervals apart":        {[][2]float64{{100, 500}, {200, 500}, {361, 500}}, 390, 0},
		"late":                   {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 500, 3},
		"too late":               {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 501, 0},
		"too small":              {[][2]float64{{100, 159}, {200, 159}, {300, 159}}, 320, 0},
		"just large enough":      {[][2]float64{{100, 160}, {200, 160}, {300, 160}}, 320, 3},
		"held for two seconds":   {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 302, 3},
		"held for one":           {[][2]float64{{100, 500}, {200, 500}, {300, 500}}, 301, 0},
		"a dip that came back":   {[][2]float64{{100, 500}, {200, 500}, {220, -900}, {281, 900}, {300, 500}}, 320, 3},
		"given back":             {[][2]float64{{100, 500}, {200, 500}, {220, -900}, {282, 900}, {300, 500}}, 320, 0},
		"many are less alike":    {[][2]float64{{100, 500}, {200, 800}, {330, 500}, {400, 700}, {520, 500}}, 540, 5},
		"many, hardly regular":   {[][2]float64{{100, 500}, {200, 500}, {450, 500}, {550, 500}, {800, 500}}, 810, 5},
		"many, irregular":        {[][2]float64{{100, 500}, {200, 500}, {451, 500}, {551, 500}, {652, 500}}, 660, 3},
		"even many must be like": {[][2]float64{{100, 500}, {200, 810}, {330, 500}, {400, 810}, {520, 500}}, 540, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := climb(row.steps, row.until).Flight(row.until)
			if ok != (row.want > 0) || ok && f.Steps != row.want {
				t.Errorf("%v %+v", ok, f)
			}
		})
	}
	s := established()
	s.play(40000, [2]float64{100, 20000}, [2]float64{100, 20500}, [2]float64{100, 21000}, [2]float64{20, 21500})
	if f, ok := s.Stairs.Flight(s.Last); !ok || f.Steps != 3 {
		t.Errorf("a series with three steps: %v %+v", ok, f)
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
	if n, eta := f.Fit(450, 499); n != 0 || eta != 0 {
		t.Errorf("%d more steps, the next in %v: it is overdue", n, eta)
	}
}

// A flight reaches back to its first step, also when that is not kept any more.
func TestFlightSince(t *testing.T) {
	var steps [][2]float64
	for i := range 12 {
		steps = append(steps, [2]float64{float64(100 * (i + 1)), 500})
	}
	f, ok := climb(steps, 1220).Flight(1220)
	if want := (Flight{Steps: stairsKept, Size: 500, Interval: 100, Since: 100, Last: 1200, alike: true}); !ok || f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}

// A sample stands on the level or on the one ahead, moves between them, or is the first of a step.
func TestStandsOrMoves(t *testing.T) {
	for _, row := range []struct{ ahead, value, stood, moved float64 }{
		{0, 19000, 1, 0}, {0, 20040, 1, 0}, {0, 20041, 0, 1}, {0, 20159, 0, 1}, {0, 20160, 0, 0},
		{20500, 20540, 1, 0}, {20500, 20541, 0, 1}, {20500, 20100, 1, 0},
	} {
		s := Stairs{level: 20000, ahead: row.ahead, crossed: 99}
		s.add(100, row.value, 40000)
		if float64(s.stood) != row.stood || float64(s.moved) != row.moved {
			t.Errorf("%v with %v ahead: stood %d, moved %d", row.value, row.ahead, s.stood, s.moved)
		}
	}
	for value, low := range map[float64]float64{19840: 0, 19839: 100} {
		s := Stairs{level: 20000}
		if s.add(100, value, 40000); s.low != low {
			t.Errorf("%v is below its level since %v, want %v", value, s.low, low)
		}
	}
	for moved, count := range map[int]int{1: 1, 2: 0} {
		s := Stairs{level: 20000, stood: 3, moved: moved}
		if s.step(20500); s.count != count {
			t.Errorf("3 samples stood and %d moved: %d steps, want %d", moved, s.count, count)
		}
	}
}

// The newest two steps are a pair where they are large and of one size.
func TestPair(t *testing.T) {
	for name, row := range map[string]struct {
		steps [][2]float64
		until float64
		want  bool
	}{
		"two of one size":   {[][2]float64{{100, 1600}, {200, 1600}}, 220, true},
		"nearly":            {[][2]float64{{100, 1617}, {200, 1633}}, 220, true},
		"not quite":         {[][2]float64{{100, 1617}, {200, 1634}}, 220, false},
		"not large":         {[][2]float64{{100, 1599}, {200, 1599}}, 220, false},
		"a minute apart":    {[][2]float64{{100, 1600}, {160, 1600}}, 170, true},
		"nearer":            {[][2]float64{{100, 1600}, {159, 1600}}, 170, false},
		"another before":    {[][2]float64{{50, 400}, {100, 1600}, {200, 1600}}, 220, true},
		"one":               {[][2]float64{{100, 1600}}, 220, false},
		"another after":     {[][2]float64{{100, 1600}, {200, 1600}, {250, 400}}, 270, false},
		"a third is late":   {[][2]float64{{100, 1600}, {200, 1600}}, 401, false},
		"it is not so late": {[][2]float64{{100, 1600}, {200, 1600}}, 400, true},
	} {
		f, ok := climb(row.steps, row.until).Pair(row.until, 40000)
		if ok != row.want || ok && (f.Steps != 2 || f.Since != 100 || f.Last != row.steps[len(row.steps)-1][0] || f.Interval != f.Last-f.Since) {
			t.Errorf("%s: %v %+v", name, ok, f)
		}
	}
}
