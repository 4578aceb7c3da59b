package series

import (
	"math"
	"slices"
	"testing"
)

// sawTooth plays a leak below a cache that is emptied each period: what is kept rises by
// slope, what is needed above it is need, and the cache holds up to spare more.
func sawTooth(d *Dips, seconds, period, from, slope, need, spare, limit float64) {
	for t := 0.0; t < seconds; t++ {
		floor := from + slope*t
		round := math.Floor(t / period)
		low := floor + need + spare*math.Mod(round*0.37, 1)
		high := low
		if math.Mod(t, period) == period-1 {
			low = floor
		}
		d.Add(t, low, high, limit)
	}
}

// What stays when the cache is emptied shows a leak, and the least that was ever above it is
// what the job needs, whatever its cache holds at the moment.
func TestDipsShowWhatIsKept(t *testing.T) {
	var d Dips
	sawTooth(&d, 1800, 90, 2000, 4, 12000, 6000, 24000)
	tr, need, ok := d.Trend(1800, 24000)
	if !ok || math.Abs(tr.Slope-4) > 0.2 || need < 12000 || need > 13500 {
		t.Errorf("slope %.2f, need %.0f, known %v, want 4, 12000 to 13500", tr.Slope, need, ok)
	}
	if _, _, ok := d.Trend(2500, 24000); ok {
		t.Error("dips that stopped ten minutes ago still tell what is kept")
	}
}

func TestDipsWithoutLeak(t *testing.T) {
	var d Dips
	sawTooth(&d, 1800, 90, 2000, 0, 12000, 6000, 24000)
	if tr, _, ok := d.Trend(1800, 24000); ok {
		t.Errorf("a floor that stays is a leak of %.2f MiB/s", tr.Slope)
	}
}

// The end of a phase is no dip: memory does not come back within two minutes.
func TestFallThatStaysIsNoDip(t *testing.T) {
	var d Dips
	for i := range 2000 {
		v := 20000.0
		if i%1000 >= 500 {
			v = 5000
		}
		d.Add(float64(i), v, v, 24000)
	}
	if len(d.list) != 0 {
		t.Errorf("%d dips, want none", len(d.list))
	}
}

// However many readings there are, they stay bounded and reach back to the first.
func TestKeptIsBounded(t *testing.T) {
	var k Kept
	for i := range 5000 {
		k.Add(float64(i), float64(i))
		k.Seen(float64(i) + 700)
	}
	tr, need, ok := k.Trend(5000, 24000)
	if len(k.list) > keptMost || !ok || tr.Since > 10 || math.Abs(tr.Slope-1) > 0.05 || need < 700 || need > 1300 {
		t.Errorf("%d readings, since %.0f, slope %.2f, need %.0f", len(k.list), tr.Since, tr.Slope, need)
	}
}

func TestKeptCloneGoesItsOwnWay(t *testing.T) {
	var k Kept
	k.Add(0, 1)
	c := k.Clone()
	c.Seen(9)
	if k.list[0].top == 9 {
		t.Error("a clone shares its readings")
	}
}

// A trend of what is kept takes six readings in a minute and 128 MiB, and ends two and a half intervals after the last.
func TestKeptTrend(t *testing.T) {
	for name, row := range map[string]struct {
		readings     int
		apart, rises float64 // seconds, and MiB in all
		later        float64 // seconds
		limit        float64
		want         bool
	}{
		"just enough":     {6, 12, 128, 0, 24000, true},
		"five readings":   {5, 15, 128, 0, 24000, false},
		"too short":       {6, 11.9, 128, 0, 24000, false},
		"too small":       {6, 12, 127, 0, 24000, false},
		"half a percent":  {6, 12, 150, 0, 30000, true},
		"less":            {6, 12, 149, 0, 30000, false},
		"some time later": {6, 12, 128, 30, 24000, true},
		"too much later":  {6, 12, 128, 31, 24000, false},
	} {
		var k Kept
		last := 1000.0
		for i := range row.readings {
			last = 1000 + float64(i)*row.apart
			k.Add(last, 5000+row.rises*float64(i)/float64(row.readings-1))
		}
		if tr, _, ok := k.Trend(last+row.later, row.limit); ok != row.want || ok && (tr.From != 5000 || tr.To != 5000+row.rises || tr.Since != 1000 || tr.Until != last) {
			t.Errorf("%s: %v %+v", name, ok, tr)
		}
		if k.Enough() != (row.readings >= 6) {
			t.Errorf("%s: enough %v", name, k.Enough())
		}
	}
}

// The trend is of the longest time at whose end it is steady, and what is needed above it the second least of then.
func TestKeptNewestTrend(t *testing.T) {
	var k Kept
	for i, v := range []float64{9000, 9000, 9000, 5000, 5100, 5200, 5300, 5400, 5500} {
		k.Add(float64(20*i), v)
		k.Seen(v + 1000 - 100*float64(i))
		k.Seen(v)
	}
	tr, need, ok := k.Trend(160, 24000)
	if !ok || tr.Since != 60 || tr.From != 5000 || tr.To != 5500 || need != 400 {
		t.Errorf("%v, needs %v above %+v", ok, need, tr)
	}
	if floors := k.Floors(); len(floors) != 9 || floors[8] != Bytes(5500) {
		t.Errorf("floors %v", floors)
	}
}

// When there is no more room every other reading goes, and later ones are one and a half times as far apart as those left.
func TestKeptThins(t *testing.T) {
	var k Kept
	for i := range keptMost {
		k.Add(float64(10+i), float64(100+i))
		k.Seen(float64(200 + i))
	}
	k.Add(50, 500)
	if len(k.list) != keptMost/2+1 || k.list[1] != (kept{12, 102, 203}) || k.list[15] != (kept{40, 130, 231}) || k.apart != 3 {
		t.Errorf("%d readings %v, %v s apart", len(k.list), k.list, k.apart)
	}
	for at, want := range map[float64]int{52.9: 17, 53: 18} {
		c := k.Clone()
		if c.Add(at, 1); len(c.list) != want {
			t.Errorf("a reading %v s after the last: %d readings, want %d", at-50, len(c.list), want)
		}
	}
}

// A dip is more than a tenth of the GPU deep and over within two minutes; what is kept is its least.
func TestDips(t *testing.T) {
	const limit = 24000
	for name, row := range map[string]struct {
		levels [][2]float64 // seconds and MiB, after 50 s on 20000
		want   []kept
	}{
		"deep enough":       {[][2]float64{{5, 17599}, {5, 20000}}, []kept{{50, 17599, 20000}}},
		"not deep":          {[][2]float64{{5, 17600}, {5, 20001}}, nil},
		"comes back":        {[][2]float64{{5, 10000}, {5, 12401}}, []kept{{50, 10000, 12401}}},
		"hardly comes back": {[][2]float64{{5, 10000}, {5, 12400}}, nil},
		"two minutes":       {[][2]float64{{121, 10000}, {5, 20000}}, []kept{{50, 10000, 20000}}},
		"longer":            {[][2]float64{{122, 10000}, {5, 20000}}, nil},
		"falls further":     {[][2]float64{{5, 10000}, {5, 9000}, {5, 20000}}, []kept{{55, 9000, 20000}}},
		"two as one":        {[][2]float64{{5, 10000}, {24, 20000}, {5, 9000}, {5, 20000}}, []kept{{50, 9000, 20000}}},
		"the lower counts":  {[][2]float64{{5, 9000}, {24, 20000}, {5, 10000}, {5, 20000}}, []kept{{50, 9000, 20000}}},
		"two":               {[][2]float64{{5, 10000}, {25, 20000}, {5, 9000}, {5, 20000}}, []kept{{50, 10000, 20000}, {80, 9000, 20000}}},
		"from a lower top":  {[][2]float64{{5, 10000}, {25, 12401}, {5, 10000}, {5, 12401}}, []kept{{50, 10000, 12401}, {80, 10000, 12401}}},
	} {
		var d Dips
		at := 0.0
		for _, level := range append([][2]float64{{50, 20000}}, row.levels...) {
			for range int(level[0]) {
				d.Add(at, level[1], level[1], limit)
				at++
			}
		}
		if !slices.Equal(d.list, row.want) {
			t.Errorf("%s: %v, want %v", name, d.list, row.want)
		}
	}
}

// From the limit a fiftieth of the GPU is deep enough; what is level there has no dips.
func TestDipsFromTheLimit(t *testing.T) {
	const limit = 24000
	for name, row := range map[string]struct {
		top, low float64
		want     bool
	}{
		"as deep as it must be": {22800, 22319, true},
		"not deep":              {22800, 22320, false},
		"below the limit":       {22799, 22000, false},
	} {
		var d Dips
		for at := range 60 {
			v := row.top
			if at%20 == 10 {
				v = row.low
			}
			d.Add(float64(30*at), v, v, limit)
		}
		if got := len(d.list) > 0; got != row.want {
			t.Errorf("%s: %v", name, d.list)
		}
	}
}

// A climb that came back before is none the second time, unless it goes on above it; what is back where it began has ended.
func TestKeptTeeth(t *testing.T) {
	for name, row := range map[string]struct {
		teeth          []float64 // how high each goes above 1000 in eight readings
		rises, returns bool      // at the top of the last, and after it
	}{
		"the first":       {[]float64{800}, true, true},
		"as high":         {[]float64{800, 800}, false, true},
		"higher":          {[]float64{800, 1300}, true, true},
		"not much higher": {[]float64{800, 1100}, false, true},
		"a high start":    {[]float64{-800, 800}, true, true}, // it falls to where the climb begins, and never climbed before
	} {
		var k Kept
		at := 0.0
		for _, high := range row.teeth {
			for i := range 8 {
				v := 1000 + high*float64(i)/7
				if high < 0 {
					v = 1000 - high*float64(7-i)/7
				}
				k.Add(at, v)
				at += 20
			}
		}
		tr, _, rises := k.Trend(at-20, 24000)
		if rises != row.rises {
			t.Errorf("%s: rises %v %+v", name, rises, tr)
		}
		last := tr
		k.Add(at, 1040)
		if got := k.Returned(last); got != row.returns {
			t.Errorf("%s: returned %v", name, got)
		}
		if _, _, rises = k.Trend(at, 24000); rises {
			t.Errorf("%s: still rises after its end", name)
		}
		if k.Returned(Trend{Since: 0, Until: at, From: 1000, To: 1800}) {
			t.Errorf("%s: the last reading of a trend is after it", name)
		}
	}
}
