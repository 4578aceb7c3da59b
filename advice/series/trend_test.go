package series

import (
	"math"
	"testing"
)

// Growth must go on for long enough to be no loading: how long depends on what came before.
func TestHowLongAClimbMustLast(t *testing.T) {
	for name, row := range map[string]struct {
		since, lasts, from, to float64
		plateau                int64 // bucket; the base is 1000
		working, peaks         bool
		want                   bool
	}{
		"no plateau yet":                        {1000, 480, 1000, 1900, -1, true, false, true},
		"no plateau, too short":                 {1000, 479, 1000, 1900, -1, true, false, false},
		"stood for a minute":                    {60, 200, 1000, 1900, 0, false, false, true},
		"stood for less":                        {59, 200, 1000, 1900, 0, false, false, false},
		"less, but long":                        {59, 480, 1000, 1900, 0, false, false, true},
		"plateau came late":                     {99, 200, 1000, 1900, 10, false, false, false},
		"and long before":                       {100, 200, 1000, 1900, 10, false, false, true},
		"rose before, at that rate":             {260, 250, 1400, 1900, 0, false, false, true},
		"rose before, for longer":               {259, 250, 1400, 1900, 0, false, false, false},
		"fell before":                           {60, 250, 900, 1900, 0, false, false, true},
		"computes":                              {20, 200, 1000, 1900, 0, true, false, true},
		"computes, too short":                   {20, 199, 1000, 1900, 0, true, false, false},
		"stood long":                            {300, 40, 1000, 1900, 0, false, false, true},
		"stood long, climbs shortly":            {300, 39, 1000, 1900, 0, false, false, false},
		"not quite long":                        {299, 40, 1000, 1900, 0, false, false, false},
		"five times as long":                    {500, 100, 1000, 1900, 0, false, false, true},
		"less than five times":                  {499, 100, 1000, 1900, 0, false, false, false},
		"three times as large":                  {300, 480, 1000, 3000, 0, false, false, true},
		"larger":                                {300, 899, 1000, 3001, 0, false, false, false},
		"larger, for a quarter hour":            {300, 900, 1000, 3001, 0, false, false, true},
		"larger, and computes":                  {300, 200, 1000, 3001, 0, true, false, true},
		"larger than it began, not as the base": {300, 200, 500, 3000, 0, true, false, true},
		"peaks take twice":                      {60, 400, 1000, 1900, 0, true, true, true},
		"peaks, shorter":                        {60, 399, 1000, 1900, 0, true, true, false},
	} {
		s := Series{plateau: row.plateau, Base: 1000, Working: row.working}
		tr := Trend{Since: row.since, Until: row.since + row.lasts, From: row.from, To: row.to, Peaks: row.peaks}
		if got := s.longEnough(tr); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// line are points one second apart.
func line(v ...float64) (*points, Trend) {
	p := &points{n: len(v)}
	for i, v := range v {
		p.t[i], p.v[i] = float64(100+i), v
	}
	return p, Trend{Since: 100, Until: 99 + float64(len(v)), From: v[0], To: v[len(v)-1]}
}

// Of thirteen points the quarters end after 2, 5, 8 and 12 seconds: 20, 30, 30 and 40 of 120 are fair.
func TestQuartersBringTheirShare(t *testing.T) {
	for name, row := range map[string]struct {
		ends [4]float64
		ok   bool
	}{
		"fair":               {[4]float64{20, 50, 80, 120}, true},
		"first at its least": {[4]float64{8, 50, 80, 120}, true},
		"first below":        {[4]float64{7, 50, 80, 120}, false},
		"first at its most":  {[4]float64{40, 52, 80, 120}, true},
		"first above":        {[4]float64{41, 53, 80, 120}, false},
		"last at its least":  {[4]float64{20, 50, 104, 120}, true},
		"last below":         {[4]float64{20, 50, 105, 120}, false},
		"nothing at all":     {[4]float64{}, false},
		"falls":              {[4]float64{-20, -50, -80, -120}, false},
	} {
		v := make([]float64, 13)
		for i := range v {
			switch {
			case i == 0:
			case i <= 2:
				v[i] = row.ends[0]
			case i <= 5:
				v[i] = row.ends[1]
			case i <= 8:
				v[i] = row.ends[2]
			default:
				v[i] = row.ends[3]
			}
		}
		p, tr := line(v...)
		q, ok := p.quarters(tr)
		if ok != row.ok || ok && (q[1] != quarter{105, row.ends[1]} || q[3] != quarter{112, row.ends[3]}) {
			t.Errorf("%s: %v %v", name, ok, q)
		}
	}
}

// Steady growth is straight, without leaps, and its halves agree.
func TestSteadyGrowth(t *testing.T) {
	halves := func(early, late float64) []float64 { // of eight rises each, 16 s
		v := []float64{1000}
		for i := range 16 {
			rise := early
			if i >= 7 { // the second quarter ends after 7 s
				rise = late
			}
			v = append(v, v[len(v)-1]+rise)
		}
		return v
	}
	leap := func(at int, size float64) []float64 {
		v := []float64{0}
		for i := range 16 {
			rise := 10.0
			if i == at {
				rise = size
			}
			v = append(v, v[len(v)-1]+rise)
		}
		return v
	}
	third := func(size float64) []float64 { // of 500 as one leap
		v := []float64{0}
		for i := range 16 {
			rise := 24.0
			switch {
			case i == 7:
				rise = size
			case i > 7:
				rise = 20.25
			}
			v = append(v, v[i]+rise)
		}
		return v
	}
	for name, row := range map[string]struct {
		v  []float64
		ok bool
	}{
		"even":                     {halves(10, 10), true},
		"faster":                   {halves(10, 16), true},
		"as much faster as may be": {halves(10, 17), true},
		"much faster":              {halves(10, 17.1), false},
		"slower":                   {halves(20, 11), true},
		"as much slower as may be": {halves(100, 35), true},
		"much slower":              {halves(100, 34.9), false},
		"falls again":              {halves(10, -2), false},
		"flat":                     {halves(0, 0), false},
		"a leap":                   {leap(9, 45), true},
		"a great leap":             {leap(9, 90), false},
		"a third of it":            {third(170), true},
		"more than a third":        {third(171), false},
	} {
		p, tr := line(row.v...)
		if ok := p.steady(&tr); ok != row.ok {
			t.Errorf("%s: %v %+v", name, ok, tr)
		}
	}
	p, tr := line(halves(20, 16)...)
	if !p.steady(&tr) || tr.Early != 20 || tr.Late != 16 || tr.Slope < 16 || tr.Slope > 20 || tr.To != 1000+7*20+9*16 {
		t.Errorf("%+v", tr)
	}
}

func TestStraight(t *testing.T) {
	zigzag := func(d float64) []float64 { // around 10 a second
		var v []float64
		for i := range 12 {
			v = append(v, 10*float64(i)+d*float64(1-2*(i%2)))
		}
		return v
	}
	for name, row := range map[string]struct {
		v                         []float64
		slope, early, late, rises float64
		want                      bool
	}{
		"a line":                 {zigzag(0), 10, 10, 10, 100, true},
		"at the least slope":     {zigzag(0), 10, 13, 15, 100, true},
		"below it":               {zigzag(0), 9.99, 13, 15, 100, false},
		"at the largest slope":   {zigzag(0), 14, 9, 11, 1000, true},
		"above it":               {zigzag(0), 14.01, 9, 11, 1000, false},
		"no slope":               {make([]float64, 12), 0, 0, 0, 100, false},
		"a quarter off the line": {zigzag(25), 10, 10, 10, 100, true},
		"more":                   {zigzag(25.1), 10, 10, 10, 100, false},
	} {
		p, _ := line(row.v...)
		if got := p.straight(Trend{Slope: row.slope, Early: row.early, Late: row.late, From: 7, To: 7 + row.rises}); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLeap(t *testing.T) {
	p, _ := line(10, 12, 5, 15, 14, 16)
	if got := p.leap(); got != 3 {
		t.Errorf("the largest rise above all before is %v, want 3", got)
	}
}

func TestTheilSen(t *testing.T) {
	for want, row := range map[float64][2][]float64{
		2: {{1, 2, 4, 5}, {3, 5, 9, 11}}, 0: {{1}, {3}}, -1: {{1, 3}, {3, 1}}, 1: {{0, 1, 2, 3, 4}, {0, 1, 99, 3, 4}},
	} {
		if got := TheilSen(row[0], row[1], nil); got != want {
			t.Errorf("%v: slope %v, want %v", row, got, want)
		}
	}
}

// What is yet to come of a growth that halves each time is as much as its last half brought.
func TestReaches(t *testing.T) {
	for name, row := range map[string]struct {
		tr   Trend
		room float64
		want bool
	}{
		"a steady one reaches anything": {Trend{Since: 100, Until: 300, Early: 2, Late: 2}, 1e9, true},
		"one that halves, near":         {Trend{Since: 100, Until: 300, Early: 2, Late: 1}, 86, true},
		"one that halves, far":          {Trend{Since: 100, Until: 300, Early: 2, Late: 1}, 88, false},
		"two thirds, near":              {Trend{Since: 100, Until: 300, Early: 3, Late: 2}, 347, true},
		"two thirds, far":               {Trend{Since: 100, Until: 300, Early: 3, Late: 2}, 348, false},
	} {
		if got := row.tr.Reaches(row.room); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestETA(t *testing.T) {
	for name, row := range map[string]struct {
		early, late, slope float64
		want               [3]float64 // of 720 MiB
	}{
		"steady":          {9, 9, 9, [3]float64{72, 80, 88}},
		"a little slower": {10, 8, 9, [3]float64{72, 80, 90}},
		"much slower":     {12, 8, 9, [3]float64{60, 90, 99}},
		"a little faster": {8, 10, 9, [3]float64{72, 80, 90}},
		"much faster":     {8, 12, 9, [3]float64{54, 60, 90}},
	} {
		low, likely, high := Trend{Early: row.early, Late: row.late, Slope: row.slope}.ETA(720)
		for i, got := range []float64{low, likely, high} {
			if math.Abs(got-row.want[i]) > 0.01 {
				t.Errorf("%s: %.2f %.2f %.2f, want %v", name, low, likely, high, row.want)
				break
			}
		}
	}
}

// What counts begins with the first plateau, or, before there is one, with the first whole bucket.
func TestOldest(t *testing.T) {
	for _, row := range []struct {
		plateau int64
		born    float64
		scale   int
		want    int64
	}{{-1, 3, 0, 1}, {-1, 4, 0, 1}, {-1, 13, 1, 2}, {0, 3, 0, 0}, {5, 3, 0, 5}, {4, 3, 1, 2}, {5, 3, 1, 3}, {5, 3, 2, 2}} {
		s := Series{plateau: row.plateau, born: row.born}
		if got := s.oldest(row.scale); got != row.want {
			t.Errorf("%+v: %d", row, got)
		}
	}
}
