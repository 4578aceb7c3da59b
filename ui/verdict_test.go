package ui

import (
	"strings"
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
		{watch.Outlook{Spike: some(50 * sampler.GiB)}, "peaks leave 29.0 GiB", theme.Dim},
		{watch.Outlook{Spike: some(58 * sampler.GiB)}, "peaks leave 20.0 GiB", theme.Dim}, // as the peak did
		{watch.Outlook{Spike: some(58 * sampler.GiB), Due: sampler.Some(42.0)}, "peaks leave 20.0 GiB; next in ~40s", theme.Dim},
		{watch.Outlook{Spike: some(58 * sampler.GiB), Due: sampler.Some(0.2)}, "peaks leave 20.0 GiB; next in ~1s", theme.Dim},
		{watch.Outlook{Spike: some(58 * sampler.GiB), Due: sampler.Some(0.0)}, "peaks leave 20.0 GiB; next due now", theme.Dim},
		{watch.Outlook{Spike: some(79 * sampler.GiB / 2), Due: sampler.Some(55.0)}, "peaks leave 39.0 GiB; next in ~55s", theme.Dim}, // it is in one
		{watch.Outlook{Spike: some(30 * sampler.GiB), Due: sampler.Some(55.0)}, "20.0 GiB free at worst", theme.Dim},                 // and this is none
		{watch.Outlook{Spike: some(81 * sampler.GiB), Due: sampler.Some(42.0)}, "the next spike is 2.0 GiB too large; next in ~40s", theme.Critical},
	} {
		s := gpus(1, 1, false)
		g := &s.GPUs[0]
		g.Memory.Total, g.Memory.Used = some(80*sampler.GiB), some(40*sampler.GiB)
		g.Memory.Peak = &sampler.Peak{Bytes: 59 * sampler.GiB}
		g.Memory.WorstFree, g.Memory.Reserved = some(20*sampler.GiB), some(sampler.GiB)
		v := model([]*sampler.Snapshot{s}, 100, 30, Options{}).view()
		v.outlook = func(sampler.GPUKey) (watch.Outlook, bool) { return row.o, true }
		if got := v.verdict(g); got != (piece{row.role, row.want}) {
			t.Errorf("%+v: %q in role %d, want %q in %d", row.o, got.text, got.role, row.want, row.role)
		}
	}
}

// Where an alert tells of the next minutes the sentence says the same, in the same figures.
func TestVerdictOfAlert(t *testing.T) {
	s := gpus(1, 1, false)
	s.GPUs[0].Memory.WorstFree = sampler.Some(20 * sampler.GiB)
	for _, row := range []struct {
		a    sampler.Alert
		want string
	}{
		{sampler.Alert{Kind: sampler.AlertGrowth, Level: sampler.LevelNotice, ETA: sampler.Some(240.0)}, "full in ~4m at this rate"},
		{sampler.Alert{Kind: sampler.AlertRepeatSpike, Level: sampler.LevelWarning, ETA: sampler.Some(20.0), Numbers: map[string]float64{"short_bytes": 3 << 30}},
			"the next spike is 3.0 GiB too large; next in ~20s"},
		{sampler.Alert{Kind: sampler.AlertRepeatSpike, Level: sampler.LevelWarning, Numbers: map[string]float64{"short_bytes": 300 << 20}}, "the next spike is 300 MiB too large"},
		{sampler.Alert{Kind: sampler.AlertNeed, Level: sampler.LevelWarning, PID: sampler.Some(7), Numbers: map[string]float64{"short_bytes": 4 << 30}}, "4.0 GiB more is needed"},
	} {
		v := model([]*sampler.Snapshot{s}, 100, 30, Options{}).view()
		row.a.Key, row.a.GPU = s.GPUs[0].Key(), sampler.Some(0)
		v.alerts = []sampler.Alert{row.a}
		if got := v.verdict(&s.GPUs[0]); got.text != row.want || got.role != levelRole(row.a.Level) {
			t.Errorf("%s: %+v, want %q", row.a.Kind, got, row.want)
		}
	}
	lost := s.GPUs[0]
	lost.Memory.Used, lost.Processes = sampler.Opt[sampler.Bytes]{}, nil
	if got := model([]*sampler.Snapshot{s}, 100, 30, Options{}).view().verdict(&lost); got.text != "" {
		t.Errorf("of a GPU that gives no figures it says %q", got.text)
	}
}

// The color of a peak says whether it was a danger: a harmless one is calm, as is what is full by design, in figures, bars
// and plots.
func TestPeaksAreColoredByDanger(t *testing.T) {
	for _, row := range []struct {
		peak   sampler.Bytes
		design string
		want   theme.Role
		plot   theme.Role // of the topmost of the plot
	}{
		{30 * sampler.GiB, "", theme.Peak, theme.Area2}, {66 * sampler.GiB, "", theme.Notice, theme.Area4}, {79 * sampler.GiB, "", theme.Critical, theme.Area6},
		{79 * sampler.GiB, "vLLM", theme.Peak, theme.Area3},
	} {
		s := gpus(1, 1, false)
		g := &s.GPUs[0]
		g.Memory.Total, g.Memory.Used, g.Memory.Peak = sampler.Some(80*sampler.GiB), sampler.Some(row.peak), &sampler.Peak{Bytes: row.peak}
		v := model([]*sampler.Snapshot{s}, 100, 30, Options{}).view()
		v.outlook = func(sampler.GPUKey) (watch.Outlook, bool) { return watch.Outlook{ByDesign: row.design}, true }
		peaks := []piece{v.memoryFigures(g)[0], v.lineFigures(g, 60)[1]}
		for _, p := range peaks {
			if p.role != row.want || strings.Contains(p.text, "!") && row.want != theme.Critical {
				t.Errorf("peak of %v, %q by design: %q in role %d, want %d", row.peak, row.design, p.text, p.role, row.want)
			}
		}
		if got := v.laneRole(g)(percent(row.peak, 80*sampler.GiB)); got != row.plot {
			t.Errorf("peak of %v, %q by design: the plot is in role %d, want %d", row.peak, row.design, got, row.plot)
		}
	}
}

// The sentence on a GPU has the figures of the alert that it is of.
func TestVerdictRoundsAsTheAlert(t *testing.T) {
	alerts := 0
	for _, length := range []time.Duration{605 * time.Second, 608 * time.Second, 612 * time.Second} {
		v := model(play(t, "neighbour", length), 140, 45, Options{}).view()
		for _, a := range v.alerts {
			g := v.snap.Find(a.Key)
			if a.Kind != sampler.AlertRepeatSpike || g == nil {
				continue
			}
			alerts++
			_, text, _ := strings.Cut(v.verdict(g).text, " is ")
			size, _, ok := strings.Cut(text, " too large")
			if !ok || !strings.Contains(a.Text, " "+size+" too large") {
				t.Errorf("%v: %q of %q", length, v.verdict(g).text, a.Text)
			}
		}
	}
	if alerts == 0 {
		t.Error("no alert")
	}
}
