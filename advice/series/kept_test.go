package series

import (
	"math"
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
