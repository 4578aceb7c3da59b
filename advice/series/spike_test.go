package series

import (
	"math"
	"testing"
)

// of is the spike as start, end, base, peak and level after it.
func (s Spike) of() [5]float64 { return [5]float64{s.Start, s.end, s.base, s.Peak, s.after} }

// A spike rises by more than 2 % of 20000 above 5000 and gives back half of that within an hour.
func TestSpikes(t *testing.T) {
	const limit, base = 20000, 5000
	for name, row := range map[string]struct {
		levels [][2]float64 // seconds and MiB, after 100 s on the base
		want   [][5]float64 // start, end, base, peak and level after
	}{
		"large enough":               {[][2]float64{{5, 5401}, {9, base}}, [][5]float64{{100, 105, base, 5401, base}}},
		"too small":                  {[][2]float64{{5, 5400}, {9, base}}, nil},
		"half comes back":            {[][2]float64{{5, 7000}, {9, 6000}}, [][5]float64{{100, 105, base, 7000, 6000}}},
		"less comes back":            {[][2]float64{{5, 7000}, {9, 6021}}, nil},
		"rises further":              {[][2]float64{{5, 7000}, {5, 9000}, {9, base}}, [][5]float64{{100, 110, base, 9000, base}}},
		"an hour":                    {[][2]float64{{3600, 7000}, {9, base}}, [][5]float64{{100, 3700, base, 7000, base}}},
		"longer":                     {[][2]float64{{3601, 7000}, {9, base}}, nil},
		"two":                        {[][2]float64{{20, 7000}, {40, base}, {5, 8000}, {9, base}}, [][5]float64{{100, 120, base, 7000, base}, {160, 165, base, 8000, base}}},
		"falls on for 16 s":          {[][2]float64{{5, 7000}, {16, 5300}, {1, 5200}}, [][5]float64{{100, 105, base, 7000, 5200}}},
		"falls on later":             {[][2]float64{{5, 7000}, {17, 5300}, {1, 5200}}, [][5]float64{{100, 105, base, 7000, 5300}}},
		"falls on for half as long":  {[][2]float64{{40, 7000}, {20, 5300}, {1, 5200}}, [][5]float64{{100, 140, base, 7000, 5200}}},
		"falls on for longer":        {[][2]float64{{40, 7000}, {21, 5300}, {1, 5200}}, [][5]float64{{100, 140, base, 7000, 5300}}},
		"an onset":                   {[][2]float64{{5, 7000}, {5, base}, {10, 9000}, {9, base}}, [][5]float64{{100, 120, base, 9000, base}}},
		"no longer than an onset":    {[][2]float64{{3, 7000}, {4, base}, {4, 9000}, {9, base}}, [][5]float64{{100, 111, base, 9000, base}}},
		"an onset long before":       {[][2]float64{{5, 7000}, {6, base}, {10, 9000}, {9, base}}, [][5]float64{{100, 105, base, 7000, base}, {111, 121, base, 9000, base}}},
		"too wide for an onset":      {[][2]float64{{6, 7000}, {5, base}, {10, 9000}, {9, base}}, [][5]float64{{100, 106, base, 7000, base}, {111, 121, base, 9000, base}}},
		"higher than what follows":   {[][2]float64{{5, 9000}, {5, base}, {10, 7000}, {9, base}}, [][5]float64{{100, 120, base, 9000, base}}},
		"on a step":                  {[][2]float64{{30, 7000}, {5, 12000}, {5, 7000}, {9, base}}, [][5]float64{{130, 135, base, 12000, base}}},
		"most of it on a step":       {[][2]float64{{30, 7000}, {5, 10000}, {9, base}}, [][5]float64{{130, 135, base, 10000, base}}},
		"less than that":             {[][2]float64{{30, 7001}, {5, 10000}, {9, base}}, [][5]float64{{100, 135, base, 10000, base}}},
		"on a step for a minute":     {[][2]float64{{60, 7000}, {5, 10000}, {9, base}}, [][5]float64{{160, 165, base, 10000, base}}},
		"on a step for longer":       {[][2]float64{{61, 7000}, {5, 10000}, {9, base}}, [][5]float64{{161, 166, 7000, 10000, base}}},
		"on a large step":            {[][2]float64{{30, 9000}, {5, 12000}, {5, 9000}, {9, base}}, [][5]float64{{100, 140, base, 12000, base}}},
		"on a step that stays":       {[][2]float64{{100, 9000}, {5, 12000}, {50, 9000}}, [][5]float64{{200, 205, 9000, 12000, 9000}}},
		"around a spike long before": {[][2]float64{{100, 9000}, {5, 12000}, {50, 9000}, {9, base}}, [][5]float64{{200, 205, 9000, 12000, 9000}}},
	} {
		s := established()
		s.play(limit, [2]float64{100, base})
		s.play(limit, row.levels...)
		if s.Count != len(row.want) {
			t.Errorf("%s: %d spikes, want %d", name, s.Count, len(row.want))
			continue
		}
		for i, want := range row.want {
			if got := s.Numbered(i).of(); got != want {
				t.Errorf("%s: spike %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

// While it is open an excursion stands on the level before it, for a minute or for twice as
// long as spikes are known to last; for its baseline it is 20 s, or three times as long.
func TestOpenExcursion(t *testing.T) {
	for name, row := range map[string]struct {
		before            [][2]float64
		settled, baseline float64 // seconds
	}{
		"first":               {[][2]float64{{100, 5000}}, 60, 20},
		"after a wide spike":  {[][2]float64{{100, 5000}, {40, 9000}, {100, 5000}}, 80, 120},
		"after one on a step": {[][2]float64{{100, 5000}, {35, 7000}, {5, 12000}, {100, 5000}}, 60, 70},
		"on a smaller step":   {[][2]float64{{100, 5000}, {35, 6300}, {5, 12000}, {100, 5000}}, 60, 20},
		"of three":            {[][2]float64{{100, 5000}, {50, 9000}, {60, 5000}, {40, 9000}, {60, 5000}, {5, 9000}, {60, 5000}, {4, 9000}, {60, 5000}}, 80, 120},
	} {
		s := established()
		s.play(20000, row.before...)
		start := s.Last + 1
		for n := range 150 {
			s.play(20000, [2]float64{1, 9000})
			i := float64(n)
			settled, baseline := s.Settled(start+i), s.Baseline(start+i)
			if s.Top() != 9000 || (settled == 5000) != (i < row.settled) || (baseline == 5000) != (i < row.baseline) {
				t.Errorf("%s: after %d s top %v, settled at %v, baseline %v", name, n, s.Top(), settled, baseline)
			}
		}
	}
	s := established()
	if s.Top() != 0 {
		t.Error("a top without an excursion")
	}
	s.Start(0, false)
	if s.play(20000, [2]float64{8, 5000}, [2]float64{5, 9000}, [2]float64{5, 5000}); s.Count != 0 {
		t.Errorf("%d spikes while it starts", s.Count)
	}
}

// Above an excursion whose floor has come up another begins, when it is that much higher.
func TestExcursionOnExcursion(t *testing.T) {
	for step, want := range map[float64]int{400: 1, 401: 2} {
		s := established()
		if s.play(20000, [2]float64{100, 5000}, [2]float64{30, 6000}, [2]float64{2, 6000 + step}); s.open != want {
			t.Errorf("%v above an excursion: %d open, want %d", step, s.open, want)
		}
	}
	for rise, want := range map[float64]int{399: 1, 400: 2} { // of the floor since the first began
		s := established()
		if s.play(20000, [2]float64{100, 5000}, [2]float64{2, 5600}, [2]float64{30, 5000 + rise}, [2]float64{2, 7000}); s.open != want {
			t.Errorf("a floor %v above that of an excursion: %d open, want %d", rise, s.open, want)
		}
	}
}

// Six excursions are kept open; of more the two closest become one.
func TestExcursionsStayBounded(t *testing.T) {
	s := established()
	s.play(20000, [2]float64{100, 1000})
	for _, level := range []float64{3000, 5000, 6000, 8000, 10000, 12000, 14000, 16000} {
		s.play(20000, [2]float64{30, level})
	}
	want := []float64{1000, 5000, 8000, 10000, 12000, 14000}
	for i, e := range s.edges[:s.open] {
		if s.open != maxEdges || e.base != want[i] {
			t.Fatalf("%d open, number %d on %v; want those on %v", s.open, i, e.base, want)
		}
	}
}

// The most of the minute before is that of fifteen closed buckets.
func TestLastMinute(t *testing.T) {
	s := established()
	if !math.IsNaN(s.LastMinute()) {
		t.Error("something is known of the minute before the first")
	}
	s.play(20000, [2]float64{4, 9000}, [2]float64{60, 5000})
	if got := s.LastMinute(); got != 9000 {
		t.Errorf("%v, want the 9000 of a minute ago", got)
	}
	if s.play(20000, [2]float64{1, 8000}); s.LastMinute() != 5000 {
		t.Errorf("%v, want 5000", s.LastMinute())
	}
}

// How much was free is asked once for each excursion.
func TestNoteFree(t *testing.T) {
	s, asked := established(), 0
	free := func() float64 { asked++; return float64(asked) }
	s.NoteFree(free)
	s.play(20000, [2]float64{20, 5000}, [2]float64{5, 9000})
	s.NoteFree(free)
	s.NoteFree(free)
	if s.play(20000, [2]float64{5, 5000}); asked != 1 || s.Numbered(0).free != 1 {
		t.Errorf("asked %d times, noted %v", asked, s.Numbered(0).free)
	}
}

// Below the floor lies what was there within 1.2 times the width of the spikes and 16 s: what
// may stay when a spike is over that never opened an excursion of its own.
func TestDeepFloor(t *testing.T) {
	for _, row := range []struct{ width, ago, want float64 }{
		{0, 24, 5300}, {40, 56, 5000}, {40, 67, 5000}, {40, 68, 5300}, {120, 152, 5000}, {120, 171, 5000}, {120, 172, 5300}, {800, 900, 5000},
	} {
		s := established()
		s.play(20000, [2]float64{104, 5000}, [2]float64{row.width, 9000}, [2]float64{60, 5000}, [2]float64{row.ago, 5300}, [2]float64{1, 5300})
		if got := s.Settled(s.Last); got != row.want {
			t.Errorf("%v s after a lower level, with spikes of %v s, settled at %v, want %v", row.ago, row.width, got, row.want)
		}
	}
	s := established() // a few seconds lower, in the newest of the wide buckets of a wide spike
	if s.play(20000, [2]float64{1000, 5000}, [2]float64{800, 9000}, [2]float64{1080, 5300}, [2]float64{4, 5000}, [2]float64{37, 5300}); s.Settled(s.Last) != 5000 {
		t.Errorf("half a minute after a dip settled at %v", s.Settled(s.Last))
	}
	s.spikes[0].end = 1e6
	if s.play(20000, [2]float64{9, 5300}); s.Settled(s.Last) != 5000 {
		t.Errorf("after a spike of days settled at %v", s.Settled(s.Last))
	}
}

// Where each spike counts, a short one is the beginning of a longer one only.
func TestSpikesApart(t *testing.T) {
	for last, want := range map[float64]int{3: 2, 4: 2, 5: 1, 9: 1} {
		s := established()
		s.Apart = true
		s.Start(s.Last, true)
		s.play(20000, [2]float64{100, 5000}, [2]float64{3, 7000}, [2]float64{4, 5000}, [2]float64{last, 9000}, [2]float64{9, 5000})
		if s.Count != want {
			t.Errorf("of 3 s and %v s: %d spikes, want %d", last, s.Count, want)
		}
	}
}
