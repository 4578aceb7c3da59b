package ui

import (
	"testing"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
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

// The sentence on a GPU is about what is nearest to its end.
func TestVerdict(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	for _, row := range []struct {
		o    watch.Outlook
		want string
		role theme.Role
	}{
		{watch.Outlook{}, "20.0 GiB free at worst", theme.Dim},
		{watch.Outlook{ByDesign: "vLLM"}, "20.0 GiB free at worst", theme.Dim}, // it holds little of it
		{watch.Outlook{Spike: some(58 * sampler.GiB)}, "peaks leave 21.0 GiB", theme.Dim},
		{watch.Outlook{Spike: some(58 * sampler.GiB), Due: sampler.Some(42.0)}, "peaks leave 21.0 GiB; next in ~40s", theme.Dim},
		{watch.Outlook{Spike: some(81 * sampler.GiB), Due: sampler.Some(42.0)}, "the next peak is 2.0 GiB too large; next in ~40s", theme.Critical},
	} {
		s := gpus(1, 1, false)
		g := &s.GPUs[0]
		g.Memory.Total, g.Memory.Used = some(80*sampler.GiB), some(40*sampler.GiB)
		g.Memory.WorstFree, g.Memory.Reserved = some(20*sampler.GiB), some(sampler.GiB)
		v := model([]*sampler.Snapshot{s}, 100, 30, Options{}).view()
		v.outlook = func(sampler.GPUKey) (watch.Outlook, bool) { return row.o, true }
		if got := v.verdict(g); got != (piece{row.role, row.want}) {
			t.Errorf("%+v: %q in role %d, want %q in %d", row.o, got.text, got.role, row.want, row.role)
		}
	}
}
