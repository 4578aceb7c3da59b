package sampler

import (
	"testing"
	"time"
)

// TestFallCounter holds both sides of each limit of what counts as a near miss.
func TestFallCounter(t *testing.T) {
	type at struct {
		ms   int
		used Bytes // per mille of the GPU
	}
	for name, row := range map[string]struct {
		readings []at
		falls    int
		deepest  Bytes
	}{
		"flush within a step":           {[]at{{0, 700}, {20, 980}, {40, 400}, {60, 700}, {300, 960}}, 1, 580},
		"back just in time":             {[]at{{0, 980}, {100, 400}, {1600, 960}}, 1, 580},
		"back too late":                 {[]at{{0, 980}, {100, 400}, {1601, 960}}, 0, 0},
		"back at the limit":             {[]at{{0, 980}, {100, 400}, {200, 950}}, 1, 580},
		"back below the limit":          {[]at{{0, 980}, {100, 400}, {200, 949}}, 0, 0},
		"a fall of one per cent":        {[]at{{0, 959}, {100, 949}, {200, 986}}, 1, 10},
		"takes less than was free":      {[]at{{0, 959}, {100, 949}, {200, 960}}, 0, 0},
		"emptied by itself":             {[]at{{0, 700}, {2000, 500}, {2100, 740}, {2301, 740}, {3300, 960}}, 0, 0},
		"asked for all that was free":   {[]at{{0, 700}, {2000, 500}, {2100, 800}, {2301, 800}, {3300, 990}}, 1, 200},
		"in two pieces":                 {[]at{{0, 700}, {2000, 500}, {2100, 740}, {2300, 800}, {3300, 990}}, 1, 200},
		"less than one per cent":        {[]at{{0, 954}, {100, 945}, {200, 954}}, 0, 0},
		"from more than half":           {[]at{{0, 510}, {100, 300}, {200, 960}}, 1, 210},
		"asked for again at once":       {[]at{{0, 700}, {2000, 300}, {2150, 600}, {2900, 975}}, 1, 400},
		"not to the end of the memory":  {[]at{{0, 700}, {2000, 300}, {2150, 600}, {2900, 974}}, 0, 0},
		"asked again, many readings":    {[]at{{0, 700}, {1980, 700}, {2000, 300}, {2060, 600}, {2900, 960}}, 1, 400},
		"after a few of them":           {[]at{{0, 700}, {1980, 700}, {2000, 300}, {2020, 300}, {2061, 600}, {2900, 960}}, 0, 0},
		"after some work":               {[]at{{0, 700}, {2000, 300}, {2151, 960}}, 0, 0},
		"the same, with little free":    {[]at{{0, 850}, {2000, 300}, {2151, 990}}, 1, 550},
		"and more in the next reading":  {[]at{{0, 850}, {2000, 300}, {2100, 960}, {2200, 990}}, 1, 550},
		"and no more in it":             {[]at{{0, 850}, {2000, 300}, {2100, 960}, {2200, 970}, {2300, 990}}, 0, 0},
		"and less in it":                {[]at{{0, 850}, {2000, 300}, {2100, 960}, {2200, 900}, {3900, 900}, {4000, 990}}, 0, 0},
		"and with some left":            {[]at{{0, 850}, {2000, 300}, {2151, 974}}, 0, 0},
		"with a little more free":       {[]at{{0, 849}, {2000, 300}, {2151, 990}}, 0, 0},
		"a little at once":              {[]at{{0, 700}, {2000, 300}, {2100, 309}, {2200, 990}}, 0, 0},
		"a step at once":                {[]at{{0, 700}, {2000, 300}, {2100, 310}, {2200, 990}}, 1, 400},
		"given back slowly":             {[]at{{0, 700}, {2000, 300}, {2100, 295}, {2250, 990}}, 1, 405},
		"given back in two steps":       {[]at{{0, 700}, {2000, 500}, {2100, 600}, {2200, 300}, {2351, 990}}, 1, 400},
		"the last step decides":         {[]at{{0, 700}, {2000, 500}, {2100, 300}, {2251, 960}}, 0, 0},
		"in the midst of a rise":        {[]at{{0, 700}, {2000, 710}, {3500, 300}, {4500, 960}}, 1, 410},
		"long after a rise":             {[]at{{0, 700}, {2000, 710}, {3501, 300}, {4501, 960}}, 0, 0},
		"a small rise":                  {[]at{{0, 700}, {2000, 709}, {2500, 300}, {3500, 960}}, 0, 0},
		"a rise in parts":               {[]at{{0, 700}, {2000, 705}, {2020, 711}, {2500, 300}, {3500, 960}}, 1, 411},
		"after a fall that was none":    {[]at{{0, 900}, {2000, 500}, {2900, 800}, {3501, 800}, {5001, 400}, {5501, 960}}, 1, 400},
		"long after it":                 {[]at{{0, 900}, {2000, 500}, {2900, 800}, {3501, 800}, {5002, 400}, {5502, 960}}, 0, 0},
		"from less than half":           {[]at{{0, 490}, {100, 300}, {200, 960}}, 0, 0},
		"little was given back":         {[]at{{0, 998}, {100, 978}, {1601, 978}}, 1, 20},
		"the end of a spike":            {[]at{{0, 998}, {100, 978}, {900, 300}, {2600, 300}}, 0, 0},
		"drifts away from the top":      {[]at{{0, 980}, {1000, 973}, {2600, 972}, {2700, 969}, {4300, 969}}, 0, 0},
		"falls behind a drift":          {[]at{{0, 980}, {1000, 973}, {1500, 969}, {3100, 969}}, 1, 11},
		"not yet known":                 {[]at{{0, 998}, {100, 978}, {1600, 978}}, 0, 0},
		"stays just at the limit":       {[]at{{0, 980}, {100, 950}, {1601, 950}}, 1, 30},
		"stays just below it":           {[]at{{0, 980}, {100, 949}, {1601, 949}}, 0, 0},
		"from half":                     {[]at{{0, 500}, {100, 300}, {200, 960}}, 0, 0},
		"and stays below the limit":     {[]at{{0, 998}, {100, 940}, {2900, 940}}, 0, 0},
		"falls in two steps":            {[]at{{0, 980}, {100, 900}, {1400, 300}, {2800, 960}}, 1, 680},
		"a validation that ends":        {[]at{{0, 960}, {100, 50}, {1500, 600}, {110000, 960}}, 0, 0},
		"a climb is none":               {[]at{{0, 100}, {100, 500}, {200, 960}, {300, 990}}, 0, 0},
		"two misses in one window":      {[]at{{0, 980}, {100, 400}, {200, 960}, {300, 500}, {400, 970}}, 2, 580},
		"its own buffer":                {[]at{{0, 800}, {2000, 900}, {2400, 800}, {2900, 960}}, 0, 0},
		"more than that":                {[]at{{0, 800}, {2000, 900}, {2400, 799}, {2900, 960}}, 1, 101},
		"less than that":                {[]at{{0, 800}, {2000, 900}, {2400, 801}, {2900, 960}}, 1, 99},
		"its own, one after another":    {[]at{{0, 800}, {2000, 900}, {2400, 800}, {4000, 910}, {4600, 800}, {5100, 960}}, 0, 0},
		"held for long":                 {[]at{{0, 800}, {2000, 900}, {3501, 800}, {3651, 810}, {4000, 990}}, 1, 100},
		"a unit of work ends":           {[]at{{0, 800}, {2000, 900}, {3501, 800}, {3652, 810}, {4000, 990}}, 0, 0},
		"one unit after another":        {[]at{{0, 170}, {5000, 970}, {9000, 170}, {9400, 960}, {20000, 170}, {20400, 970}, {30000, 170}, {30400, 960}}, 0, 0},
		"to another level":              {[]at{{0, 170}, {5000, 970}, {9000, 170}, {9400, 960}, {20000, 180}, {20400, 970}}, 1, 780},
		"its own, above the limit":      {[]at{{0, 100}, {20, 968}, {4000, 987}, {7200, 968}, {9000, 968}}, 0, 0},
		"again and again":               {[]at{{0, 100}, {20, 968}, {4000, 987}, {7200, 968}, {9000, 968}, {14000, 987}, {17200, 968}, {19000, 968}}, 0, 0},
		"more than that, above it":      {[]at{{0, 100}, {20, 968}, {4000, 987}, {7200, 966}, {9000, 966}}, 1, 21},
		"unchanged readings in between": {[]at{{0, 980}, {20, 400}, {40, 400}, {60, 400}, {80, 980}}, 1, 580},
		"as full as before":             {[]at{{0, 974}, {20, 400}, {40, 400}, {60, 400}, {80, 974}}, 0, 0},
		"full to the end again":         {[]at{{0, 975}, {20, 400}, {40, 400}, {60, 400}, {80, 975}}, 1, 575},
	} {
		t.Run(name, func(t *testing.T) {
			var f FallCounter
			var w Window
			for _, r := range row.readings {
				f.Count(&w, noon.Add(time.Duration(r.ms)*time.Millisecond), r.used*GiB, 1000*GiB)
			}
			if n, ok := w.Falls.Value(); !ok || n != row.falls || w.DeepestFall.Or(0) != row.deepest*GiB {
				t.Errorf("%d falls, deepest %v", n, w.DeepestFall)
			}
		})
	}
	var from FallCounter
	var w Window
	for i, used := range []Bytes{700, 300, 960, 990, 300, 960, 940, 300, 970} { // from below, from the limit, from the limit in two steps
		from.Count(&w, noon.Add(time.Duration(i)*20*time.Millisecond), used*GiB, 1000*GiB)
	}
	if w.Falls.Or(0) != 3 || w.LimitFalls.Or(0) != 2 {
		t.Errorf("%v falls, %v from the limit", w.Falls, w.LimitFalls)
	}
	for from, want := range map[Bytes]bool{949: false, 950: true} {
		var f FallCounter
		f.Add(noon, from*GiB, 1000*GiB)
		f.Add(noon, 300*GiB, 1000*GiB)
		if fall, near := f.Add(noon, 960*GiB, 1000*GiB); !near || fall.FromLimit != want {
			t.Errorf("from %v: %v %+v", from*GiB, near, fall)
		}
	}
	for depth, want := range map[Bytes]bool{127: false, 128: true} { // beside a desktop, on 8 GiB
		var f FallCounter
		f.Add(noon, 8000*MiB, 8192*MiB)
		f.Add(noon.Add(time.Second), (8000-depth)*MiB, 8192*MiB)
		if fall, near := f.Add(noon.Add(3*time.Second), (8000-depth)*MiB, 8192*MiB); near != want {
			t.Errorf("%d MiB: %v %+v", depth, near, fall)
		}
	}
	var f FallCounter
	if _, near := f.Add(noon, GiB, 0); near {
		t.Error("a GPU of unknown size has no limit")
	}
}
