package series

import "testing"

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
		_, rise, _, ok := r.Rising(now, 1000)
		if ok != (tt.rise > 0) || rise != tt.rise {
			t.Errorf("%s: rise %v, %v", name, rise, ok)
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
