package series

import (
	"math"
	"testing"
)

// Records that rise alike are told, wherever the level between them is; others are not.
func TestRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		tops  []float64 // per mille of the GPU, one each 100 s
		known bool
		rise  float64 // 0: not rising
	}{
		"alike":             {[]float64{913, 925, 941}, false, 12},
		"four":              {[]float64{800, 925, 941, 959}, false, 16},
		"one rise":          {[]float64{913, 925}, false, 0},
		"one, and a start":  {[]float64{913, 925, 940}, true, 12},
		"too unlike":        {[]float64{900, 908, 941}, false, 0},
		"half":              {[]float64{900, 910, 930}, false, 10},
		"less than half":    {[]float64{900, 910, 931}, false, 0},
		"too small":         {[]float64{900, 907, 914}, false, 0},
		"too large":         {[]float64{800, 861, 922}, false, 0},
		"a lower one first": {[]float64{913, 925, 500, 941}, false, 12},
		"just large enough": {[]float64{900, 908, 916}, false, 8},
		"just small enough": {[]float64{800, 860, 920}, false, 60},
		"nothing new":       {[]float64{913, 925, 926, 927}, false, 0},
	} {
		var r Records
		now := 0.0
		for i, top := range tt.tops {
			for now = float64(100 * i); now < float64(100*i+50); now++ {
				level := 100.0
				if int(now)%100 == 10 || tt.known && i == 0 {
					level = top
				}
				r.add(now, level, 1000, tt.known)
			}
		}
		top, rise, period, ok := r.Rising(now, 1000)
		if ok != (tt.rise > 0) || rise != tt.rise || ok && (top != tt.tops[len(tt.tops)-1] || period < 95 || period > 160) {
			t.Errorf("%s: rise %v to %v each %v s, %v", name, rise, top, period, ok)
		}
		if _, _, _, ok := r.Rising(now+1000, 1000); ok {
			t.Errorf("%s: it still rises after a long silence", name)
		}
	}
}

// One slow rise is one record; two with half a minute between them are two.
func TestRecordsMerge(t *testing.T) {
	var r Records
	for i := range 40 {
		r.add(float64(i), float64(100+i*10), 1000, false)
	}
	if r.count != 1 || r.back(0).Top != 490 || r.back(0).T != 0 {
		t.Errorf("%d records, the newest %+v", r.count, r.back(0))
	}
	r.add(80, 520, 1000, false)
	if r.count != 2 || r.back(0).T != 80 {
		t.Errorf("%d records, the newest %+v", r.count, r.back(0))
	}
}

// A record is 0.4 % of the GPU above the one before, and another than that when more than 10 s are between; the
// first is what is there first.
func TestRecordBegins(t *testing.T) {
	for name, row := range map[string]struct {
		later, high float64
		count       int
	}{"too small": {50, 104, 1}, "just a record": {50, 104.1, 2}, "one rise": {10, 120, 1}, "two": {10.1, 120, 2}} {
		var r Records
		r.add(0, 100, 1000, false)
		if r.add(row.later, row.high, 1000, false); r.count != row.count {
			t.Errorf("%s: %d records", name, r.count)
		}
	}
	var r Records
	if r.add(0, 1, 1000, false); r.count != 1 {
		t.Error("the first value is no record")
	}
	r = Records{}
	r.add(0, 100, 1000, true)
	if r.add(1, 120, 1000, true); r.count != 2 || r.back(0).T != 1 {
		t.Errorf("what was there before belongs to the first rise: %+v", r)
	}
}

// Times between records are alike when one is half of the other, and 20 s at least; it has ended after three of the longer.
func TestRecordsInTime(t *testing.T) {
	for name, row := range map[string]struct {
		times  [3]float64
		before bool // the first is from before watching began: the time to the second tells nothing
		now    float64
		period float64 // 0: they do not rise alike
	}{
		"even":               {[3]float64{0, 100, 200}, false, 250, 100},
		"half as long":       {[3]float64{0, 100, 150}, false, 200, 75},
		"twice as long":      {[3]float64{0, 50, 150}, false, 200, 75},
		"more than twice":    {[3]float64{0, 49, 150}, false, 200, 0},
		"whenever, at first": {[3]float64{100, 149, 250}, true, 300, 101},
		"watched from late":  {[3]float64{0, 900, 1000}, true, 1050, 100},
		"soon over, then":    {[3]float64{0, 900, 1000}, true, 1301, 0},
		"20 s":               {[3]float64{0, 20, 40}, false, 50, 20},
		"less":               {[3]float64{0, 19, 39}, false, 50, 0},
		"silent for long":    {[3]float64{0, 100, 200}, false, 500, 100},
		"for longer":         {[3]float64{0, 100, 200}, false, 501, 0},
	} {
		var r Records
		for i, at := range row.times {
			r.put(Record{T: at, Top: 900 + 20*float64(i), before: row.before && i == 0})
		}
		if _, _, period, ok := r.Rising(row.now, 1000); period != row.period || ok != (row.period > 0) {
			t.Errorf("%s: %v s, %v", name, period, ok)
		}
	}
}

// Rises of more than 6 % of the GPU, up to 15 %, are told from three equal or four alike in a row on, up to 20 % from four that are nearly equal.
func TestLargeRecords(t *testing.T) {
	for name, row := range map[string]struct {
		tops []float64
		rise float64 // 0: they do not rise alike
	}{
		"6 %":              {[]float64{780, 840, 900}, 60},
		"more":             {[]float64{780, 840, 900.1}, 0},
		"three of 8 %":     {[]float64{660, 740, 820, 900}, 80},
		"three of 15 %":    {[]float64{450, 600, 750, 900}, 150},
		"a tenth less":     {[]float64{530, 620, 720, 820}, 90},
		"and less equal":   {[]float64{531, 620, 720, 820}, 0},
		"three of 16 %":    {[]float64{420, 580, 740, 900}, 0},
		"four":             {[]float64{580, 660, 740, 820, 900}, 80},
		"the last is less": {[]float64{620, 700, 780, 860, 900}, 40},
		"and less":         {[]float64{621, 701, 781, 861, 900}, 0},
		"15 %":             {[]float64{300, 450, 600, 750, 900}, 150},
		"more, equal":      {[]float64{299.9, 450, 600, 750, 900.1}, 150},
		"a quarter less":   {[]float64{300, 420, 580, 740, 900}, 120},
		"and less of them": {[]float64{301, 420, 580, 740, 900}, 0},
		"20 %":             {[]float64{100, 300, 500, 700, 900}, 200},
		"more than that":   {[]float64{99, 300, 500, 700, 900}, 0},
	} {
		var r Records
		for i, top := range row.tops {
			r.put(Record{T: 100 * float64(i), Top: top})
		}
		if top, rise, _, ok := r.Rising(100*float64(len(row.tops)), 1000); ok != (row.rise > 0) || ok && (rise != row.rise || top != row.tops[len(row.tops)-1]) {
			t.Errorf("%s: %v above %v, %v", name, rise, top, ok)
		}
	}
}

// Records are a flight while the holder stands on the newest, by no less than half of a rise.
func TestRecordsAsFlight(t *testing.T) {
	var r Records
	for i, at := range []float64{0, 100, 200} {
		r.put(Record{T: at, Top: 900 + 20*float64(i)})
	}
	want := Flight{Steps: 2, Size: 20, Interval: 100, Since: 100, Last: 200, alike: true}
	if f, ok := r.Flight(250, 1000, 930); !ok || f != want {
		t.Errorf("%v %+v, want %+v", ok, f, want)
	}
	if f, ok := r.Flight(250, 1000, 929.9); ok {
		t.Errorf("below its record: %+v", f)
	}
	if f, ok := r.Flight(501, 1000, 940); ok {
		t.Errorf("after a long silence: %+v", f)
	}
}

// Steps that get larger by nearly the same factor swell: the next is larger again.
func TestRecordsThatSwell(t *testing.T) {
	for name, row := range map[string]struct {
		rises []float64 // the oldest first, of a GPU of 100,000
		next  float64   // 0: they do not
	}{
		"doubles":            {[]float64{8192, 16384, 32768, 65536}, 131072},
		"hardly":             {[]float64{8000, 8400, 8820, 9261}, 9724.05},
		"alike":              {[]float64{8000, 8399, 8820, 9261}, 0},
		"more than doubles":  {[]float64{1000, 2500, 6250, 15625}, 39062.5},
		"far more":           {[]float64{1000, 2501, 6250, 15625}, 0},
		"another factor":     {[]float64{5000, 5500, 8250, 9075}, 0},
		"nearly that":        {[]float64{5000, 5500, 7810, 8591}, 9450.1},
		"smaller in between": {[]float64{8000, 9000, 8900, 10000}, 0},
		"small":              {[]float64{500, 600, 720, 799}, 0},
		"three":              {[]float64{16384, 32768, 65536}, 0},
	} {
		for i, every := range []float64{100, 19} {
			var r Records
			top := 2000.0
			r.put(Record{Top: top})
			for i, rise := range row.rises {
				top += rise
				r.put(Record{T: every * float64(i+1), Top: top})
			}
			f, ok := r.swelling(every*float64(len(row.rises))+10, 100000)
			if want := row.next > 0 && i == 0; ok != want || ok && (math.Abs(f.Size-row.next) > 0.01 || f.Interval != every || f.Newest != row.rises[3] || f.Since != every) {
				t.Errorf("%s, one each %v s: %v %+v", name, every, ok, f)
			}
			if _, stands := r.Flight(every*float64(len(row.rises))+10, 100000, top-row.rises[len(row.rises)-1]); stands {
				t.Errorf("%s: it is given back", name)
			}
		}
	}
}

// What is filled evenly takes as many times longer as it has become larger.
func TestRecordsThatSlowDown(t *testing.T) {
	for name, row := range map[string]struct {
		waits    []float64
		interval float64 // 0: no steps
	}{
		"each as long":           {[]float64{100, 100, 100, 100}, 100},
		"each twice as long":     {[]float64{25, 50, 100, 200}, 400},
		"each half as long more": {[]float64{40, 60, 90, 135}, 202.5},
		"far longer":             {[]float64{25, 70, 200, 560}, 0},
		"shorter and shorter":    {[]float64{200, 100, 50, 25}, 0},
	} {
		var r Records
		top, at := 2000.0, 100.0
		r.put(Record{T: at, Top: top})
		for i, rise := range []float64{5000, 10000, 20000, 40000} {
			top, at = top+rise, at+row.waits[i]
			r.put(Record{T: at, Top: top})
		}
		f, ok := r.swelling(at+10, 100000)
		if ok != (row.interval > 0) || ok && f.Interval != row.interval {
			t.Errorf("%s: %v %+v", name, ok, f)
		}
	}
}

// All but the newest were reached before a time when the one before it began by then.
func TestRecordsKnown(t *testing.T) {
	var r Records
	if r.put(Record{T: 10, Top: 900}); r.Known(1000) {
		t.Error("known by the first")
	}
	r.put(Record{T: 100, Top: 920})
	if !r.Known(10) || r.Known(9.9) {
		t.Error("of two, the first at 10 s")
	}
	if r.put(Record{T: 200, Top: 940}); r.Known(99) || !r.Known(100) {
		t.Error("of three, the second at 100 s")
	}
}
