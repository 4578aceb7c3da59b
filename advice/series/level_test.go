package series

import (
	"math"
	"math/rand"
	"testing"
)

// established is a series that ran before watching began: its first bucket is its plateau.
func established() *Series {
	s := &Series{}
	s.Start(0, true)
	return s
}

// play adds one sample a second, which follows the one before, until each level has lasted.
func (s *Series) play(limit float64, levels ...[2]float64) {
	t := s.Last
	if s.Samples > 0 {
		t++
	}
	for _, level := range levels {
		for range int(level[0]) {
			s.Add(t, level[1], level[1], level[1], limit)
			t++
		}
	}
}

// The floor is the least of the open bucket and of the four before.
func TestFloor(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	s := established()
	var lows []float64
	for i := range 400 {
		low := float64(random.Intn(10000))
		s.Add(float64(i), low, low, low+50, 1e6)
		lows = append(lows, low)
		want := math.Inf(1)
		for j := max(0, (i/BucketSeconds-recentBuckets)*BucketSeconds); j <= i; j++ {
			want = min(want, lows[j])
		}
		if s.Floor != want || s.Settled(float64(i)) != want {
			t.Fatalf("after %d samples the floor is %v, want %v", i+1, s.Floor, want)
		}
	}
}

// The start is over when the peaks have stood for 20 s, on a level that is more than a context.
func TestFirstPlateau(t *testing.T) {
	const limit = 40000
	for name, row := range map[string]struct {
		levels [][2]float64
		limit  float64
		want   bool
	}{
		"twenty seconds":        {[][2]float64{{21, 5000}}, limit, true},
		"less":                  {[][2]float64{{20, 5000}}, limit, false},
		"little enough":         {[][2]float64{{8, 5000}, {13, 5600}}, limit, true},
		"rose by more":          {[][2]float64{{8, 5000}, {13, 5601}}, limit, false},
		"more, but long ago":    {[][2]float64{{4, 5000}, {21, 6000}}, limit, true},
		"just not long ago":     {[][2]float64{{5, 5000}, {20, 6000}}, limit, true},
		"not long ago":          {[][2]float64{{8, 5000}, {17, 6000}}, limit, false},
		"a twentieth":           {[][2]float64{{21, 2000}}, limit, true},
		"less than a twentieth": {[][2]float64{{21, 1999}}, limit, false},
		"a small GPU":           {[][2]float64{{21, 1024}}, 8000, true},
		"less, on a small GPU":  {[][2]float64{{21, 1023}}, 8000, false},
	} {
		s := &Series{}
		s.Start(0, false)
		s.play(row.limit, row.levels...)
		if s.Levelled() != row.want {
			t.Errorf("%s: %v", name, s.Levelled())
		}
		if last := row.levels[len(row.levels)-1][1]; row.want && s.Base > last || s.Settled(s.Last) > last {
			t.Errorf("%s: base %v, settled %v", name, s.Base, s.Settled(s.Last))
		}
	}
	for first, wants := range map[float64][]bool{5000: {false, false, false, true}, 1000: {false, false, false, false, true}} {
		s := &Series{}
		s.Start(3, false)
		for i, want := range wants { // 20 s apart: three buckets are needed
			v := 5000.0
			if i == 0 {
				v = first
			}
			if s.Add(3+20*float64(i), v, v, v, limit); s.Levelled() != want {
				t.Errorf("from %v, after %d samples, 20 s apart: %v", first, i+1, s.Levelled())
			}
		}
	}
}

// Before the first plateau what a holder takes it keeps.
func TestSettledWhileStarting(t *testing.T) {
	s := &Series{}
	s.Start(0, false)
	s.play(40000, [2]float64{4, 1000}, [2]float64{4, 9000})
	if s.Settled(8) != 9000 {
		t.Errorf("settled at %v, want 9000", s.Settled(8))
	}
}

// A holder has risen when it first holds more than a context.
func TestRose(t *testing.T) {
	for name, row := range map[string]struct{ limit, context float64 }{"large": {40000, 2000}, "small": {8000, 1024}} {
		s := &Series{}
		s.Start(0, false)
		s.play(row.limit, [2]float64{5, row.context - 1})
		if !math.IsNaN(s.Rose) {
			t.Errorf("%s: rose at %v with no more than a context", name, s.Rose)
		}
		if s.play(row.limit, [2]float64{5, row.context}); s.Rose != 5 {
			t.Errorf("%s: rose at %v, want 5", name, s.Rose)
		}
	}
}

// After a gap the level is unknown for 16 s, or for one and a half times the widest spike.
func TestBlindAfterGap(t *testing.T) {
	for width, want := range map[float64]float64{5: 116, 40: 160} {
		s := established()
		s.play(20000, [2]float64{20, 5000}, [2]float64{width, 9000}, [2]float64{20, 5000})
		s.ForgetRecent()
		s.Add(100, 9000, 9000, 9000, 20000)
		s.Add(101, 9000, 9000, 9000, 20000)
		if s.Count != 1 || s.Blind != want || s.gap != 100 {
			t.Errorf("after a spike of %v s: blind until %v, want %v; gap until %v", width, s.Blind, want, s.gap)
		}
	}
}

// The peak is kept with its first time; of the samples no more than three are counted.
func TestPeakAndSamples(t *testing.T) {
	s := established()
	for i, want := range []int{1, 2, 3, 3} {
		if s.Add(float64(i), 100, 100, float64(200+i%2), 20000); s.Samples != want {
			t.Errorf("after sample %d: %d", i+1, s.Samples)
		}
	}
	if s.Peak != 201 || s.PeakTime != 1 || s.High() != 201 || s.Value != 100 || s.Last != 3 {
		t.Errorf("peak %v at %v, high %v, value %v at %v", s.Peak, s.PeakTime, s.High(), s.Value, s.Last)
	}
}

// Usual movement is learnt in steps of a tenth of itself, or of a thousandth of the GPU.
func TestJitter(t *testing.T) {
	for _, row := range []struct {
		plateau            int64
		jitter, rose, want float64
	}{{0, 0, 25, 10}, {0, 20, 25, 25}, {0, 25, 500, 35}, {0, 300, 500, 330}, {0, 300, 0, 270}, {0, 25, 0, 15}, {0, 5, 0, 0}, {-1, 0, 25, 0}} {
		s := Series{plateau: row.plateau, jitter: row.jitter}
		if s.learnJitter(row.rose, 10000); s.jitter != row.want {
			t.Errorf("%+v: %v", row, s.jitter)
		}
	}
	s := established()
	for i := range 13 {
		s.Add(float64(i), 1000, 1000, 1025, 10000)
	}
	if s.jitter != 20 {
		t.Errorf("two buckets in which the use moved by 25 MiB give %v", s.jitter)
	}
	s.Start(0, false)
	for i := range 21 {
		s.Add(float64(i), 5000, 5000, 5025, 10000)
	}
	if s.jitter != 25 {
		t.Errorf("a plateau on which the use moves by 25 MiB begins with %v", s.jitter)
	}
}

// Who never stands still has begun once it has computed for a minute, with memory that is more than a context: the climb since then is judged.
func TestBeginsToWork(t *testing.T) {
	for name, row := range map[string]struct {
		rate  float64 // MiB/s; 10 a second would be a plateau
		from  float64
		works int // seconds
		want  int64
	}{
		"computes for a minute": {20, 2000, 60, 4},
		"not so long":           {20, 2000, 56, -1},
		"does not":              {20, 2000, 0, -1},
		"a context":             {20, 200, 60, -1},
	} {
		var s Series
		s.Start(0, false)
		for i := range 81 {
			s.Working = i >= 20 && i < 20+row.works
			v := row.from + row.rate*float64(i)
			if row.from < 1000 {
				v = row.from + float64(i%20)*row.rate
			}
			s.Add(float64(i), v, v, v, 10000)
		}
		if s.plateau != row.want {
			t.Errorf("%s: it begins with bucket %d, want %d", name, s.plateau, row.want)
		}
	}
}

// Who goes up and down in each step has begun when it has come no higher for a minute than in the minute before.
func TestSwingsToAndFro(t *testing.T) {
	for name, row := range map[string]struct {
		least, later float64 // later: what the peaks of the second minute are higher by
		idle         bool
		want         bool
	}{
		"to and fro":          {2000, 0, false, true},
		"a little higher":     {2000, 150, false, true},
		"higher":              {2000, 160, false, false},
		"down to a context":   {900, 0, false, false},
		"computes not at all": {2000, 0, true, false},
	} {
		var s Series
		s.Start(0, false)
		s.Working = !row.idle
		for i := range 129 {
			v := row.least + []float64{0, 3000, 5000, 1000}[i/4%4]
			if i >= 64 && i/4%4 == 2 {
				v += row.later
			}
			s.Add(float64(i), v, v, v, 10000)
		}
		if s.Levelled() != row.want {
			t.Errorf("%s: %v", name, s.Levelled())
		}
		if row.want && s.Base != row.least {
			t.Errorf("%s: base %v", name, s.Base)
		}
	}
}
