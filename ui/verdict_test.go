package ui

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// How long nothing has moved is told from the first minute on, and by what was watched only; a move ends it.
func TestStillFor(t *testing.T) {
	m := New(t.Context(), &silent{}, Options{})
	for i, row := range []struct {
		until int // seconds
		used  sampler.Bytes
		want  time.Duration
	}{
		{30, 10 * sampler.GiB, 0}, {70, 10 * sampler.GiB, time.Minute}, {700, 10 * sampler.GiB, 10 * time.Minute},
		{705, 20 * sampler.GiB, 0}, {790, 20 * sampler.GiB, time.Minute},
	} {
		from := 0
		if m.folds.newest != nil {
			from = int(m.folds.newest.Time.Sub(afternoon)/time.Second) + 1
		}
		for at := from; at <= row.until; at++ {
			s := gpus(1, 0, false)
			s.Time = afternoon.Add(time.Duration(at) * time.Second)
			g := &s.GPUs[0]
			g.Memory.Used = sampler.Some(row.used)
			g.Memory.Window = &sampler.Window{Min: row.used, Max: row.used, MaxTime: s.Time, Readings: 50}
			m.take([]*sampler.Snapshot{s})
		}
		if got := m.view().stillFor(&m.folds.newest.GPUs[0]); got != row.want {
			t.Errorf("step %d, after %d s: still for %v, want %v", i, row.until, got, row.want)
		}
	}
}
