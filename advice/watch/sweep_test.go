package watch

import (
	"fmt"
	"testing"

	"nvpeak/sampler"
)

// A run is told of as it begins when three of its command, with smaller numbers in one place, lead to more than there is; by fewer, by runs that
// level off, or where anything else differs, nothing is known.
func TestSweep(t *testing.T) {
	for name, row := range map[string]struct {
		commands []string
		peaks    []float64 // of 49000
		want     bool
	}{
		"doubles":            {[]string{"bench.py --batch-size 8", "bench.py --batch-size 16", "bench.py --batch-size 32", "bench.py --batch-size 64"}, []float64{8290, 15550, 29764}, true},
		"fits":               {[]string{"bench.py --batch-size 4", "bench.py --batch-size 8", "bench.py --batch-size 16", "bench.py --batch-size 32"}, []float64{6630, 12062, 22996}, false},
		"by squares":         {[]string{"train.py --size=256 -v", "train.py --size=320 -v", "train.py --size=384 -v", "train.py --size=448 -v"}, []float64{16200, 24000, 34000}, false},
		"by squares, larger": {[]string{"train.py --size=256 -v", "train.py --size=320 -v", "train.py --size=384 -v", "train.py --size=512 -v"}, []float64{16200, 24000, 34000}, true},
		"only two":           {[]string{"bench.py --batch-size 16", "bench.py --batch-size 32", "bench.py --batch-size 64"}, []float64{15550, 29764}, false},
		"levels off":         {[]string{"fit.py 10", "fit.py 20", "fit.py 30", "fit.py 80"}, []float64{20000, 38000, 41000}, false},
		"falls":              {[]string{"fit.py 10", "fit.py 20", "fit.py 30", "fit.py 80"}, []float64{40000, 41000, 39000}, false},
		"smaller now":        {[]string{"fit.py 10", "fit.py 20", "fit.py 30", "fit.py 5"}, []float64{15000, 30000, 45000}, false},
		"two numbers":        {[]string{"fit.py 10 1", "fit.py 20 2", "fit.py 30 3", "fit.py 80 4"}, []float64{15000, 30000, 45000}, false},
		"no number":          {[]string{"fit.py a1", "fit.py a2", "fit.py a3", "fit.py a8"}, []float64{15000, 30000, 45000}, false},
		"another program":    {[]string{"fit.py 10", "fit.py 20", "fit.py 30", "test.py 80"}, []float64{15000, 30000, 45000}, false},
	} {
		w := New(Options{})
		at := 0.0
		for i, command := range row.commands {
			seconds, used := 120.0, 1500.0
			if i < len(row.peaks) {
				used = row.peaks[i]
			} else {
				seconds = 20
			}
			for from := at; at < from+seconds; at++ {
				w.Add(snapshotOf(at, 49000, used, processOf(100+i, "python "+command, used)))
			}
			for from := at; at < from+10; at++ {
				w.Add(snapshotOf(at, 49000, 300))
			}
		}
		told := warnedOf(w, sampler.AlertNeed)
		if told != row.want {
			t.Errorf("%s: told %v: %s", name, told, fmt.Sprint(w.Past()))
		}
	}
}
