package watch

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// What came of a warning: the failure on its GPU while it was open or soon after, or nothing.
func TestOutcome(t *testing.T) {
	gpu, other := sampler.GPUKey{ID: "a"}, sampler.GPUKey{ID: "b"}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	warned := func(kind string, end float64) sampler.Alert {
		a := sampler.Alert{Kind: kind, Key: gpu, T: 100, Time: start.Add(100 * time.Second)}
		if end > 0 {
			a.End = sampler.Some(end)
		}
		return a
	}
	failed := func(key sampler.GPUKey, at float64) sampler.Alert {
		return sampler.Alert{Kind: sampler.AlertOOM, Key: key, T: at, Time: start.Add(time.Duration(at) * time.Second)}
	}
	of := func(pid int, a sampler.Alert) sampler.Alert {
		a.PID = sampler.Some(pid)
		return a
	}
	for name, row := range map[string]struct {
		warning     sampler.Alert
		failure     sampler.Alert
		now         float64
		came, known bool
	}{
		"while it was open":       {warned(sampler.AlertGrowth, 0), failed(gpu, 130), 131, true, true},
		"as it ended":             {warned(sampler.AlertRepeatSpike, 130), failed(gpu, 132), 133, true, true},
		"a failure of another":    {warned(sampler.AlertGrowth, 130), failed(other, 132), 200, false, true},
		"a failure before":        {warned(sampler.AlertGrowth, 130), failed(gpu, 90), 200, false, true},
		"a failure much later":    {warned(sampler.AlertGrowth, 130), failed(gpu, 500), 501, false, true},
		"still open":              {warned(sampler.AlertGrowth, 0), failed(other, 130), 200, false, false},
		"too early to say":        {warned(sampler.AlertGrowth, 130), failed(other, 130), 150, false, false},
		"may be, and did not":     {warned(sampler.AlertFlush, 130), failed(other, 130), 300, false, false},
		"may be, and was refused": {warned(sampler.AlertFlush, 130), failed(gpu, 130), 300, true, true},
		"of the process":          {of(7, warned(sampler.AlertFlush, 130)), of(7, failed(gpu, 130)), 300, true, true},
		"of another process":      {of(7, warned(sampler.AlertFlush, 130)), of(8, failed(gpu, 130)), 300, false, false},
		"of nobody known":         {of(7, warned(sampler.AlertFlush, 130)), failed(gpu, 130), 300, true, true},
		"of a neighbor":           {of(7, warned(sampler.AlertNeighbor, 130)), of(8, failed(gpu, 130)), 300, true, true},
		"no warning":              {warned(sampler.AlertXID, 130), failed(gpu, 130), 300, false, false},
	} {
		got, came, known := Outcome(row.warning, []sampler.Alert{row.warning, row.failure}, start.Add(time.Duration(row.now)*time.Second))
		if came != row.came || known != row.known || came && got.T != row.failure.T {
			t.Errorf("%s: %v at %v, known %v", name, came, got.T, known)
		}
	}
}
