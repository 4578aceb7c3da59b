package series

import (
	"math"
	"testing"
)

// Spikes grow when each stands above the one before, evenly, and above all that were earlier.
func TestTopsThatRise(t *testing.T) {
	for what, row := range map[string]struct {
		tops []float64 // oldest first
		rise bool
	}{
		"three evenly":                  {[]float64{60, 64, 68}, true},
		"three that level off":          {[]float64{60, 75, 78}, false},
		"four, unevenly":                {[]float64{60, 63, 69, 72}, true},
		"four among higher ones":        {[]float64{80, 70, 55, 60, 63, 69, 72}, false},
		"a long series":                 {[]float64{50, 53, 56, 60, 63, 66, 70}, true},
		"three of chance, one as high":  {[]float64{72, 58, 61, 66, 72}, false},
		"the same height":               {[]float64{70, 70, 70, 70}, false},
		"by 0.2 % of the GPU":           {[]float64{60, 62, 64, 66}, true},
		"by less":                       {[]float64{60, 61.9, 63.8, 65.7}, false},
		"three, hardly evenly":          {[]float64{60, 65, 68}, true},
		"three, not evenly":             {[]float64{60, 65.1, 68}, false},
		"four, hardly evenly":           {[]float64{60, 70, 72, 82}, true},
		"four, not evenly":              {[]float64{60, 70.1, 72, 82}, false},
		"an older one, a step higher":   {[]float64{65, 60, 65, 70, 75}, true},
		"an older one, higher":          {[]float64{65.1, 60, 65, 70, 75}, false},
		"two say nothing of a sequence": {[]float64{60, 70}, false},
	} {
		t.Run(what, func(t *testing.T) {
			newest := make([]float64, len(row.tops))
			for i, v := range row.tops {
				newest[len(newest)-1-i] = v
			}
			p := Pattern{}
			p.tops(newest, 1000)
			if (p.Rise > 0) != row.rise {
				t.Errorf("rise %v", p.Rise)
			}
		})
	}
}

// The newest of some that rose steadily is far above them.
func TestTopsThatLeap(t *testing.T) {
	for what, row := range map[string]struct {
		tops   []float64 // the newest first
		before float64
	}{
		"four that rose, and one that leaps": {[]float64{90, 66, 64, 62, 60}, 2},
		"no further than those":              {[]float64{68, 66, 64, 62, 60}, 0},
		"it falls":                           {[]float64{50, 66, 64, 62, 60}, 0},
		"those before were of chance":        {[]float64{90, 66, 70, 62, 60}, 0},
		"two before it":                      {[]float64{90, 66, 64}, 0},
	} {
		p := Pattern{}
		p.tops(row.tops, 1000)
		if p.Before != row.before || p.Before > 0 && p.Rise > 0 {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

// Spikes of which each adds less than the one before will add less still.
func TestRisesThatGetSmaller(t *testing.T) {
	for what, row := range map[string]struct {
		tops        []float64 // the newest first
		least, most float64
	}{
		"equal":        {[]float64{18000, 16000, 14000, 12000}, 1999, 2001},
		"ever smaller": {[]float64{20000, 19000, 17200, 14000}, 500, 600},
		"ever larger":  {[]float64{20000, 17000, 15000, 13800}, 2000, 2100},
	} {
		var p Pattern
		p.tops(row.tops, 24000)
		if p.Rise < row.least || p.Rise > row.most {
			t.Errorf("%s: the next rise is %.0f, want %.0f to %.0f", what, p.Rise, row.least, row.most)
		}
	}
}

// So does the one after it.
func TestRiseOfTwo(t *testing.T) {
	for _, row := range []struct {
		rise, newest, want float64
		shrinks            bool
	}{{300, 300, 600, false}, {300, 280, 600, false}, {200, 400, 300, true}, {95, 100, 190, false}, {200, 0, 400, false}, {0, 100, 0, true}} {
		p := Pattern{Rise: row.rise, Record: row.newest}
		if got := p.RiseOfTwo(); math.Abs(got-row.want) > 1e-9 || p.Shrinks() != row.shrinks {
			t.Errorf("%+v: %v, %v", row, got, p.Shrinks())
		}
	}
}

func TestTops(t *testing.T) {
	for name, row := range map[string]struct {
		tops []float64 // the newest first
		want Pattern
	}{
		"one":              {[]float64{50}, Pattern{Newest: 50, Top: 50, Most: 50, Mean: 50}},
		"two":              {[]float64{14, 10}, Pattern{Newest: 14, Top: 10, Most: 14, Mean: 12, Record: 4, Deviation: math.Sqrt(8)}},
		"one odd of four":  {[]float64{10, 10, 10, 50}, Pattern{Newest: 10, Top: 10, Most: 10, Mean: 20}},
		"three, no rise":   {[]float64{12, 10, 14}, Pattern{Newest: 12, Top: 10, Most: 14, Mean: 12, Deviation: 2}},
		"equal steps":      {[]float64{157, 137, 120, 100}, Pattern{Newest: 157, Top: 120, Most: 157, Mean: 128.5, Record: 20, Deviation: math.Sqrt(1769.0 / 3), Rise: 19, Equal: true}},
		"two kinds":        {[]float64{60, 40, 60, 40}, Pattern{Newest: 60, Top: 40, Most: 60, Mean: 50, Limit: true, Deviation: math.Sqrt(400.0 / 3)}},
		"less equal steps": {[]float64{156.9, 136.9, 120, 100}, Pattern{Newest: 156.9, Top: 120, Most: 156.9, Mean: 128.45, Record: 20, Deviation: math.Sqrt(1761.61 / 3), Rise: 56.9 / 3}},
	} {
		var p Pattern
		p.tops(append([]float64(nil), row.tops...), 100)
		p.Mean, p.Deviation, p.Rise, p.Record = near(p.Mean, row.want.Mean), near(p.Deviation, row.want.Deviation), near(p.Rise, row.want.Rise), near(p.Record, row.want.Record)
		if p != row.want {
			t.Errorf("%s: %+v, want %+v", name, p, row.want)
		}
	}
}

// near is what was wanted when it is that up to rounding.
func near(got, want float64) float64 {
	if math.Abs(got-want) < 1e-9 {
		return want
	}
	return got
}

// spiked is a series that had spikes of 10 s from 5000 up to those tops, or to 8000, at those times.
func spiked(tops map[float64]float64, starts ...float64) *Series {
	s := established()
	for i, start := range starts {
		top, known := tops[start]
		if !known {
			top = 8000
		}
		s.spikes[i%MaxSpikes] = Spike{Start: start, end: start + 10, base: 5000, after: 5000, Peak: top, level: 5000, free: start}
		s.Count++
	}
	return s
}

// Spikes of one height leave less each time where others grow, if steadily so.
func TestSinks(t *testing.T) {
	for third, want := range map[float64]float64{4000: 500, 4001: 500, 4201: 0} {
		s := spiked(nil, 100, 200, 300)
		for i, free := range []float64{4500, third, 3500} {
			s.spikes[i].free = free
		}
		p, _ := s.Pattern(310, 20000)
		if left := 500.0; p.Sinks != want && math.Abs(p.Sinks-want) > 1 || want > 0 && p.Left != left {
			t.Errorf("%v free before the second: %+v", third, p)
		}
	}
}

// A pattern is of the spikes of the largest kind: what is three fifths as high still is.
func TestPattern(t *testing.T) {
	s := spiked(map[float64]float64{100: 8000, 200: 6799, 300: 6800, 400: 7500}, 100, 200, 300, 400)
	s.spikes[3].after, s.spikes[3].level = 5010, 4990
	p, ok := s.Pattern(410, 20000)
	p.Mean, p.Deviation = 0, 0
	want := Pattern{Count: 3, Seen: 4, Last: 400, Period: 150, Regular: true, Low: 1800, High: 3000, Newest: 7500, Top: 6800, Most: 8000,
		Level: 5010, Even: true, Width: 10, Free: 400}
	if !ok || p != want {
		t.Errorf("%v %+v, want %+v", ok, p, want)
	}
	for level, even := range map[float64]bool{5390: true, 5391: false} {
		s.spikes[0].level = level
		if p, _ := s.Pattern(410, 20000); p.Even != even {
			t.Errorf("levels of 4990 and %v: even %v", level, p.Even)
		}
	}
}

// A pattern ends two and a half periods after its last spike, that of one spike after an hour, and at a gap.
func TestPatternEnds(t *testing.T) {
	three, one := spiked(nil, 100, 200, 300), spiked(nil, 300)
	for _, row := range []struct {
		s        *Series
		now, gap float64
		want     bool
	}{{three, 550, 0, true}, {three, 551, 0, false}, {one, 3900, 0, true}, {one, 3901, 0, false}, {three, 400, 300, true}, {three, 400, 301, false},
		{established(), 0, 0, false}} {
		row.s.gap = row.gap
		if _, ok := row.s.Pattern(row.now, 20000); ok != row.want {
			t.Errorf("%d spikes, now %v, gap %v: %v", row.s.Count, row.now, row.gap, ok)
		}
	}
}

// Only the newest spikes are kept.
func TestPatternOfManySpikes(t *testing.T) {
	var starts []float64
	for i := range 20 {
		starts = append(starts, float64(100*i))
	}
	if p, ok := spiked(nil, starts...).Pattern(1900, 20000); !ok || p.Count != MaxSpikes || p.Seen != 20 || p.Last != 1900 || p.Period != 100 {
		t.Errorf("%v %+v", ok, p)
	}
}

func TestIntervals(t *testing.T) {
	for name, row := range map[string]struct {
		starts  []float64 // the newest first
		period  float64
		regular bool
	}{
		"one":              {[]float64{100}, 0, false},
		"two":              {[]float64{900, 100}, 800, true},
		"three times":      {[]float64{500, 200, 100}, 200, true},
		"more":             {[]float64{501, 200, 100}, 200.5, false},
		"one odd of three": {[]float64{500, 300, 200, 100}, 100, true},
	} {
		var p Pattern
		if p.intervals(row.starts); p.Period != row.period || p.Regular != row.regular {
			t.Errorf("%s: period %v, regular %v", name, p.Period, p.Regular)
		}
	}
	for width, brief := range map[float64]bool{60: true, 61: false} {
		if p := (Pattern{Period: 100, Width: width}); p.Brief() != brief {
			t.Errorf("%v of 100 s: brief %v", width, p.Brief())
		}
	}
}

// The next spike is due a period after the newest, also when that is not over.
func TestDue(t *testing.T) {
	for open, due := range map[float64]float64{0: 90, 350: 90, 351: 141} { // half a period after the last it is another
		s := spiked(nil, 100, 200, 300)
		if open > 0 {
			s.edges[0], s.open = edge{start: open, base: 5000, peak: 8000}, 1
		}
		p, _ := s.Pattern(310, 20000)
		if got := p.Due(310); got != due {
			t.Errorf("with one open since %v: due in %v s, want %v", open, got, due)
		}
		if since, ok := p.Begun(360); ok != (open > 350) || ok && since != 9 {
			t.Errorf("with one open since %v: begun %v s ago, %v", open, since, ok)
		}
	}
	for top, want := range map[float64]bool{8000: true, 7999: false} { // of little height, for those before fell below where they began
		s := spiked(nil, 100, 200, 300)
		s.edges[0], s.open = edge{start: 351, base: 7000, peak: top}, 1
		p, _ := s.Pattern(360, 20000)
		if _, ok := p.Begun(360); ok != want {
			t.Errorf("one that reached %v: begun %v", top, ok)
		}
	}
}

func TestOutgrown(t *testing.T) {
	ordinary := Pattern{Last: 300, Period: 100, Width: 10, Most: 8000, Level: 5000}
	for name, row := range map[string]struct {
		t, base, peak, width float64
		want                 float64
	}{
		"young":            {410, 5000, 9000, 10, 1000},
		"twenty seconds":   {420, 5000, 9000, 10, 1000},
		"older":            {421, 5000, 9000, 10, 0},
		"on a higher base": {410, 5300, 9000, 10, 700},
		"on a lower base":  {410, 4000, 9000, 10, 1000},
		"not higher":       {410, 5000, 7000, 10, 0},
		"wide":             {410, 5000, 9000, 60, 1000},
		"a phase":          {410, 5000, 9000, 61, 0},
	} {
		s, p := established(), ordinary
		s.edges[0], s.open, p.Width = edge{start: 400, base: row.base, peak: row.peak}, 1, row.width
		if got := s.Outgrown(row.t, p); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	s := spiked(nil, 100, 200, 300) // 10 s wide: three times as long is 30 s
	s.edges[0], s.open = edge{start: 500, base: 5000, peak: 9000}, 1
	for width, want := range map[float64]float64{120: 1000, 121: 0} { // three fifths of 200 s since the last
		if got := s.Outgrown(530, Pattern{Last: 300, Period: 100, Width: width, Most: 8000, Level: 5000}); got != want {
			t.Errorf("spikes of %v s: %v, want %v", width, got, want)
		}
	}
	for top, want := range map[float64]float64{8800: 200, 9000: 0, 7000: 1000} { // which has been reached before, from another level
		s := established()
		s.Records = Records{}
		s.Records.put(Record{T: 50, Top: top})
		s.Records.put(Record{T: 401, Top: 9100})
		s.edges[0], s.open = edge{start: 400, base: 5000, peak: 9000}, 1
		if got := s.Outgrown(410, ordinary); got != want {
			t.Errorf("%v was reached before: %v, want %v", top, got, want)
		}
	}
	if got := established().Outgrown(400, ordinary); got != 0 {
		t.Errorf("nothing is open, and %v outgrown", got)
	}
}

// TestSpread: of a sample, so that of one value nothing is known.
func TestSpread(t *testing.T) {
	for _, row := range []struct {
		v               []float64
		mean, deviation float64
	}{{[]float64{3}, 3, 0}, {[]float64{2, 4}, 3, math.Sqrt2}, {[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32.0 / 7)}} {
		if mean, deviation := spread(row.v); mean != row.mean || math.Abs(deviation-row.deviation) > 1e-12 {
			t.Errorf("%v: %v, %v; want %v, %v", row.v, mean, deviation, row.mean, row.deviation)
		}
	}
}

// A single rise that is long beside the time before it is a phase, as several that fill their period are.
func TestPhase(t *testing.T) {
	for name, row := range map[string]struct {
		p     Pattern
		since float64
		want  bool
	}{
		"brief":           {Pattern{Count: 1, Last: 200, Width: 60}, 100, false},
		"long":            {Pattern{Count: 1, Last: 200, Width: 61}, 100, true},
		"several":         {Pattern{Count: 2, Last: 200, Width: 61}, 100, false},
		"long running":    {Pattern{Count: 1, Last: 200, Width: 900}, math.Inf(-1), false},
		"start not known": {Pattern{Count: 1, Last: 200, Width: 900}, math.NaN(), false},
	} {
		if got := row.p.Phase(row.since); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The ramps of a saw-tooth begin at any level and end at one; spikes end above what they begin on.
func TestAlike(t *testing.T) {
	for name, row := range map[string]struct {
		bases, tops []float64
		want        bool
	}{
		"a saw-tooth":              {[]float64{34000, 40500, 36000}, []float64{44600, 45100, 45100}, true},
		"spikes on a level":        {[]float64{34000, 34100, 34000}, []float64{44600, 45100, 45100}, false},
		"spikes on one that rises": {[]float64{34000, 36000, 38000}, []float64{44000, 46100, 47900}, false},
	} {
		var s Series
		s.Start(0, true)
		for i := range row.bases {
			s.spikes[i] = Spike{Start: float64(100 + 500*i), end: float64(300 + 500*i), base: row.bases[i], level: row.bases[i], after: 30000, Peak: row.tops[i]}
		}
		s.Count = len(row.bases)
		if p, ok := s.Pattern(1500, 49140); !ok || p.Alike != row.want {
			t.Errorf("%s: %v %+v", name, ok, p)
		}
	}
}
