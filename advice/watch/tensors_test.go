package watch

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// A process that grows is no leak where the log shows that its tensors do not.
func TestTensorsOfTheLog(t *testing.T) {
	for what, row := range map[string]struct {
		allocated func(t float64) float64 // GiB; nil: the log says nothing
		want      string
	}{
		"no log":            {nil, sampler.LevelWarning},
		"tensors grow":      {func(t float64) float64 { return 4 + t/100 }, sampler.LevelWarning},
		"tensors stay":      {func(float64) float64 { return 4 }, sampler.LevelNotice},
		"only at the start": {func(t float64) float64 { return map[bool]float64{true: 4}[t < 200] }, sampler.LevelWarning},
	} {
		t.Run(what, func(t *testing.T) {
			w := New(Options{})
			worst := ""
			for i := range 3000 {
				s := float64(i)
				if row.allocated != nil && i%20 == 0 {
					w.Mark(sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: gigabytes(row.allocated(s)), Time: sampler.Some(time.Unix(int64(i), 0))})
				}
				held := 20000 + max(0, s-100)*20
				for _, a := range w.Add(snapshotOf(s, 81920, held+300, processOf(7, "python train.py", held))) {
					if a.Kind == "growth" && (worst == "" || a.Level != sampler.LevelNotice) {
						worst = a.Level
					}
				}
			}
			if row.want == sampler.LevelNotice && worst != sampler.LevelNotice || row.want != sampler.LevelNotice && worst != sampler.LevelWarning && worst != sampler.LevelCritical {
				t.Errorf("growth is said as %q, want %q", worst, row.want)
			}
		})
	}
}

func gigabytes(g float64) sampler.Opt[sampler.Bytes] {
	if g == 0 {
		return sampler.Opt[sampler.Bytes]{}
	}
	return sampler.Some(sampler.Bytes(g * float64(sampler.GiB)))
}

// However long a log, its readings stay bounded and reach back to the start.
func TestTensorsAreBounded(t *testing.T) {
	w := New(Options{})
	for i := range 5 * maxReadings {
		w.Add(snapshotOf(float64(i), 81920, 10000))
		w.Mark(sampler.LogMark{Allocated: gigabytes(1 + float64(i)/1000)})
	}
	if n := len(w.tensors.readings); n > maxReadings || w.tensors.readings[0].t > 10 {
		t.Errorf("%d readings since %v", n, w.tensors.readings[0].t)
	}
	if rise, known := w.tensors.rise(0, w.clock.Now); !known || rise < 3000 || rise > 4000 {
		t.Errorf("rise %v, %v", rise, known)
	}
}
