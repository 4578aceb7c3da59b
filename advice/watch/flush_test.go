package watch

import "testing"

// dip plays levels, in seconds and MiB, on a GPU of 40000 MiB that can be used whole.
func dip(levels ...[2]float64) (f flushes, now float64) {
	f.reset()
	for _, level := range levels {
		for range int(level[0]) {
			f.add(now, level[1], level[1], level[1], 40000, 40000)
			now++
		}
	}
	return f, now - 1
}

// A flush begins where at most 3 % are free that have been held for 15 s, falls by more than 1 %,
// and is filled up by half within a minute.
func TestFlushBounds(t *testing.T) {
	for name, row := range map[string]struct {
		levels [][2]float64
		count  int
	}{
		"a flush":                {[][2]float64{{16, 39000}, {5, 30000}, {5, 39000}}, 1},
		"held for 15 s":          {[][2]float64{{15, 39000}, {5, 30000}, {5, 39000}}, 1},
		"held for less":          {[][2]float64{{14, 39000}, {5, 30000}, {5, 39000}}, 0},
		"3 % are free":           {[][2]float64{{16, 38800}, {5, 30000}, {5, 39000}}, 1},
		"more":                   {[][2]float64{{16, 38799}, {5, 30000}, {5, 39000}}, 0},
		"falls by more than 1 %": {[][2]float64{{16, 39000}, {5, 38599}, {5, 39000}}, 1},
		"falls by 1 %":           {[][2]float64{{16, 39000}, {5, 38600}, {5, 39001}}, 0},
		"more than half comes":   {[][2]float64{{16, 39000}, {5, 30000}, {5, 34501}}, 1},
		"half comes back":        {[][2]float64{{16, 39000}, {5, 30000}, {5, 34500}}, 0},
		"within a minute":        {[][2]float64{{16, 39000}, {1, 30000}, {59, 30001}, {5, 39000}}, 1},
		"later":                  {[][2]float64{{16, 39000}, {1, 30000}, {60, 30001}, {5, 39000}}, 0},
		"two":                    {[][2]float64{{16, 39000}, {5, 30000}, {3, 39000}, {5, 30000}, {3, 39000}}, 2},
	} {
		if f, _ := dip(row.levels...); f.count != row.count {
			t.Errorf("%s: %d flushes, want %d", name, f.count, row.count)
		}
	}
}

// Flushes count for ten minutes, and what fell otherwise within ten minutes before makes them a habit.
func TestRecentFlushes(t *testing.T) {
	f, now := dip([2]float64{16, 39000}, [2]float64{5, 30000}, [2]float64{1, 39000})
	for later, want := range map[float64]int{0: 1, flushSpan: 1, flushSpan + 1: 0} {
		n, since, largest := f.recent(now + later)
		if n != want || n > 0 && (since != now || largest != 9000) {
			t.Errorf("%v s later: %d since %v, up to %v", later, n, since, largest)
		}
		if got := f.follows(now + later); got != (want > 0) {
			t.Errorf("%v s later: follows %v", later, got)
		}
	}
	for before, want := range map[float64]int{flushSpan: 1, flushSpan - 1: 0} {
		f.plain = now - before
		if n, _, _ := f.recent(now); n != want {
			t.Errorf("a fall that was none %v s before: %d flushes, want %d", before, n, want)
		}
	}
}

// Bottoms rise when each is 2 % of the GPU above the one before, three times within half an hour.
func TestRisingBottoms(t *testing.T) {
	for name, row := range map[string]struct {
		rise, later float64
		want        bool
	}{"2 %": {800, 0, true}, "less": {799, 0, false}, "half an hour ago": {800, risingSpan, true}, "longer ago": {800, risingSpan + 1, false}} {
		var f flushes
		for i := range risingNeeded {
			if f.rising(0) {
				t.Errorf("%s: %d bottoms rise", name, i)
			}
			f.nearTop, f.bottom = true, 10000+row.rise*float64(i)
			f.recordBottom(40000)
		}
		if got := f.rising(row.later); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
		f.nearTop = false
		if f.recordBottom(40000); f.falls != 0 {
			t.Errorf("%s: a fall from elsewhere counts", name)
		}
	}
}
