package series

import "testing"

// However many spikes a validation is, it is one burst, and what comes without a pause is none that comes again.
func TestBursts(t *testing.T) {
	for name, row := range map[string]struct {
		starts []float64
		tops   map[float64]float64
		now    float64
		count  int
		period float64
		ok     bool
	}{
		"single spikes":        {[]float64{100, 160, 220}, nil, 230, 3, 60, true},
		"two spikes each":      {[]float64{100, 115, 200, 215, 300, 315}, nil, 330, 3, 100, true},
		"in the middle of one": {[]float64{100, 115, 200, 215, 300}, nil, 312, 3, 100, true},
		"long before the next": {[]float64{100, 115, 200, 215}, nil, 450, 2, 100, true},
		"over":                 {[]float64{100, 115, 200, 215}, nil, 451, 2, 100, false},
		"once":                 {[]float64{100, 115}, nil, 130, 1, 0, false},
		"the steps of a loop":  {[]float64{100, 120, 140, 160, 180, 200, 220}, nil, 230, 1, 0, false},
		"20 s between them":    {[]float64{100, 130, 160}, nil, 170, 3, 30, true},
		"less":                 {[]float64{100, 129, 158}, nil, 170, 1, 0, false},
		"one as high as 3/5":   {[]float64{100, 160, 220}, map[float64]float64{160: 6800}, 230, 3, 60, true},
		"one lower":            {[]float64{100, 160, 220}, map[float64]float64{160: 6799}, 230, 2, 120, true},
		"none":                 {nil, nil, 100, 0, 0, false},
	} {
		b, ok := spiked(row.tops, row.starts...).Bursts(row.now)
		if ok != row.ok || b.Count != row.count || b.Period != row.period {
			t.Errorf("%s: %+v, %v, want %+v", name, b, ok, row)
		}
	}
	for gap, want := range map[float64]bool{220: true, 221: false} {
		b := spiked(nil, 100, 160, 220)
		b.gap = gap
		if _, ok := b.Bursts(230); ok != want {
			t.Errorf("with a gap until %v: %v", gap, ok)
		}
	}
	for width, brief := range map[float64]bool{60: true, 61: false} {
		if b := (Bursts{Period: 100, Width: width}); b.Brief() != brief {
			t.Errorf("%v of 100 s: brief %v", width, b.Brief())
		}
	}
}

// The next burst is due a period after the newest, and now while that lasts or until half a period is over; where the
// intervals differ much, that is a guess.
func TestBurstDue(t *testing.T) {
	even := Bursts{Last: 1000, Period: 60, Width: 10, Even: true}
	for now, want := range map[float64]float64{1005: 0, 1010: 50, 1040: 20, 1060: 0, 1089: 0} {
		if due, ok := even.Due(now); due != want || !ok {
			t.Errorf("at %v: due in %v, %v, want %v", now, due, ok, want)
		}
	}
	if due, ok := even.Due(1091); ok {
		t.Errorf("long overdue it is due in %v", due)
	}
	for name, row := range map[string]struct {
		starts []float64
		want   bool
	}{"even": {[]float64{100, 115, 200, 215, 300, 315}, true}, "uneven": {[]float64{100, 140, 300, 340}, false}} {
		b, _ := spiked(nil, row.starts...).Bursts(350)
		if _, ok := b.Due(350); ok != row.want {
			t.Errorf("%s: %+v is due: %v", name, b, ok)
		}
	}
}
