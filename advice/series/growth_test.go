package series

import "testing"

// ramp plays a holder that computes and grows by that much a second from 5000 MiB on, until
// the bucket before that time has closed.
func ramp(slope, until float64) *Series {
	s := established()
	s.Working = true
	for t := 0.0; t <= until; t++ {
		v := 5000 + slope*t
		s.Add(t, v, v, v, 24000)
	}
	return s
}

// Steady growth is known after 200 s between the first and the last bucket of 8 s, and from 128 MiB on.
func TestSteadyNeedsTimeAndSize(t *testing.T) {
	for _, row := range []struct {
		slope, until, limit float64
		want                bool
	}{{2, 207, 24000, false}, {2, 208, 24000, true}, {0.64, 208, 24000, true}, {0.63, 208, 24000, false},
		{2, 208, 80000, true}, {2, 208, 80001, false}, {-2, 208, 24000, false}, {0, 400, 24000, false}} {
		if _, ok := ramp(row.slope, row.until).Steady(row.limit); ok != row.want {
			t.Errorf("%+v: %v", row, ok)
		}
	}
	if _, ok := established().Steady(24000); ok {
		t.Error("a series without samples grows")
	}
	s := established()
	s.play(24000, [2]float64{700, 5000})
	for i := range 132 { // so short a climb is seen in the finest buckets only
		v := 5000 + 5*float64(i)
		s.Add(700+float64(i), v, v, v, 24000)
	}
	var g Growth
	if g.Judge(s, 831, 400, 24000, 9); !g.Found {
		t.Error("a climb of two minutes after a long level is not judged")
	}
	if tr, ok := s.Steady(24000); !ok || tr.Slope != 5 {
		t.Errorf("a climb of two minutes after a long level: %v %+v", ok, tr)
	}
	tr, _ := ramp(2, 208).Steady(24000)
	if want := (Trend{Since: 4, Until: 204, From: 5000, To: 5400, Slope: 2, Early: 2, Late: 2, points: 26}); tr != want {
		t.Errorf("%+v, want %+v", tr, want)
	}
}

// Twelve points make a trend, however long it goes on.
func TestSteadyNeedsPoints(t *testing.T) {
	s := established()
	s.Working = true
	for i := range 13 {
		if _, ok := s.Steady(24000); ok {
			t.Errorf("steady with %d buckets", i-1)
		}
		v := 5000 + 100*float64(i)
		s.Add(64*float64(i), v, v, v, 24000)
	}
	if _, ok := s.Steady(24000); !ok {
		t.Error("twelve buckets do not do")
	}
}

// Seven tenths of the growth must be above all that was before: else it is a tooth of a saw.
func TestSteadyIsNew(t *testing.T) {
	for before, want := range map[float64]bool{5160: true, 5172: false, 9000: false} {
		s := established()
		s.Working = true
		s.play(24000, [2]float64{104, before})
		for i := range 265 {
			v := 5000 + 2*float64(i)
			s.Add(104+float64(i), v, v, v, 24000)
		}
		if _, ok := s.Steady(24000); ok != want {
			t.Errorf("up to 5520 after %v: %v", before, ok)
		}
	}
}

// Where the level beneath stays, the peaks may rise; that takes twice as long.
func TestPeaksRise(t *testing.T) {
	for until, want := range map[float64]bool{415: false, 416: true} {
		s := established()
		s.Working = true
		for t := 0.0; t <= until; t++ {
			s.Add(t, 5000, 5000, 6000+2*t, 1e6)
		}
		if tr, ok := s.Steady(24000); ok != want || ok && !tr.Peaks {
			t.Errorf("after %v s: %v %+v", until, ok, tr)
		}
	}
}

// A growth of 2 MiB/s seen for 200 s is judged for as much time ahead as is asked, and for a
// room of which it has taken two fifths.
func TestJudge(t *testing.T) {
	for _, row := range []struct {
		room, ahead float64
		want        bool
	}{{400, 1, true}, {401, 1, false}, {1000, 2.5, true}, {1000, 2.4, false}, {1001, 9, false}} {
		s, g := ramp(2, 208), Growth{}
		if g.Judge(s, 208, row.room, 24000, row.ahead); g.Found != row.want || row.want && (g.Trend.Slope != 2 || g.Trend.Until != 204) {
			t.Errorf("%+v: %+v", row, g)
		}
	}
}

// A growth is looked for when buckets close, and one that was found again and again until it is over.
func TestJudgeWhenDue(t *testing.T) {
	s, g := established(), Growth{}
	s.Working = true
	value, found, lost := 5000.0, -1, -1
	for i := range 500 {
		if i <= 230 {
			value += 2
		}
		s.Add(float64(i), value, value, value, 24000)
		if due := g.Due(s); due != (i > 0 && i%BucketSeconds == 0 || g.Found) {
			t.Fatalf("after %d s: due %v", i, due)
		}
		was := g.Found
		g.Judge(s, float64(i), 400, 24000, 1)
		switch {
		case g.Found && !was:
			found = i
		case was && !g.Found:
			lost = i
		}
	}
	if found != 208 || lost <= 230 || lost > 330 {
		t.Errorf("found after %d s, gone after %d", found, lost)
	}
}

// A growth that was found holds for 16 s, whatever room there is then.
func TestJudgedAnew(t *testing.T) {
	for later, found := range map[float64]bool{0: true, 15.9: true, 16: false} {
		s, g := ramp(2, 208), Growth{}
		g.Judge(s, 208, 400, 24000, 1)
		if g.Judge(s, 208+later, 2000, 24000, 1); g.Found != found {
			t.Errorf("%v s later, with much room: found %v", later, g.Found)
		}
	}
}

// A growth that gets slower is none where it ends before the room does, near as that is at its present rate.
func TestJudgeOfADecay(t *testing.T) {
	for room, found := range map[float64]bool{80: true, 200: false} {
		s, g := established(), Growth{}
		s.Working = true
		for i := range 209 {
			v := 5000 + 2*float64(min(i, 104)) + float64(max(0, i-104))
			s.Add(float64(i), v, v, v, 24000)
		}
		if g.Judge(s, 208, room, 24000, 9); g.Found != found {
			t.Errorf("room for %v MiB: %+v", room, g)
		}
	}
}

// Who holds less than the growth that was found has given it back, however briefly.
func TestGrowthGivenBack(t *testing.T) {
	for held, want := range map[float64]bool{390: false, 2000: true} {
		s := established()
		s.Working = true
		var g Growth
		play := func(from, until int) {
			for i := from; i < until; i++ {
				v := 5000 + 2*float64(i)
				s.Add(float64(i), v, v, v, 24000)
				g.Judge(s, float64(i), 400, 24000, 9)
			}
		}
		if play(0, 300); !g.Found || g.Trend.To-g.Trend.From < 400 {
			t.Fatalf("%+v", g)
		}
		s.Fall(300, held)
		if play(300, 340); g.Found != want {
			t.Errorf("once %v MiB: found %v", held, g.Found)
		}
	}
}

// What fills up again after it has come to the limit is judged from there on, though all of it had been held before: where it is even and
// takes longer than a cache. Below the limit it is a tooth of a saw.
func TestRefill(t *testing.T) {
	const limit = 24000
	for name, row := range map[string]struct {
		top, low float64
		second   float64 // MiB/s of the second climb
		slower   float64 // how much of that is left at its end
		seconds  int     // it has gone on for
		want     bool
	}{
		"at the limit":           {23500, 14000, 6, 1, 1100, true},
		"a little below":         {22700, 14000, 6, 1, 1100, false},
		"gave little back":       {23500, 21200, 1.4, 1, 1100, false},
		"not long enough":        {23500, 14000, 6, 1, 880, false},
		"ever slower":            {23500, 14000, 8, 0.5, 1100, false},
		"more than half is back": {23500, 11000, 6, 1, 1100, false}, // and is judged as a climb after a fall
	} {
		s := established()
		s.Working = true
		var g Growth
		at, value := 0.0, 12000.0
		judge := func(v float64) {
			s.Add(at, v, v, v, limit)
			at++
			g.Judge(s, at, limit-v-500, limit, 1)
		}
		for ; value < row.top; value += 4 {
			judge(value)
		}
		for i := range row.seconds {
			rest := 1 - (1-row.slower)*float64(i)/float64(row.seconds)
			judge(row.low + row.second*float64(i)*(1+rest)/2)
		}
		if got := g.Found && g.Trend.Since > 1000; got != row.want {
			t.Errorf("%s: found %v, %+v", name, got, g.Trend)
		}
	}
}
