package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// levels are the findings of a rule as level and id.
func levels(list []finding) string {
	out := []string{}
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s %d", f.level, f.id))
	}
	return fmt.Sprint(out)
}

// fullOf is a GPU of 20000 MiB at 100 s whose processes hold so much, which they have for as long as it was watched.
func fullOf(used float64, procs ...sampler.Process) *Facts {
	w := New(Options{})
	for i := range 101 {
		w.Add(snapshotOf(float64(i), 20000, used, procs...))
	}
	f := w.facts(time.Time{})
	f.gpu = w.gpus[0]
	return &f
}

// What nobody has is told where a need lacks just that: over 1 GiB and 5 % of the GPU, and no less than what is missing.
func TestNobodyHasIt(t *testing.T) {
	for name, row := range map[string]struct {
		total, nobody, need float64 // the rest of the GPU is a process's
		want                bool
	}{
		"it would fit":       {40000, 2000, 2000, true},
		"not even then":      {40000, 2000, 2001, false},
		"5 % of the GPU":     {40000, 2000, 1, true},
		"less than that":     {40000, 1999, 1, false},
		"a GiB":              {10000, 1024, 1, true},
		"less":               {10000, 1023, 1, false},
		"nothing is missing": {40000, 2000, 0, false},
	} {
		w := New(Options{Need: sampler.Some(series.Bytes(row.need))})
		p := processOf(7, "python a.py", row.total-row.nobody)
		for i := range 10 {
			s := snapshotOf(float64(i), row.total, row.total, p)
			s.GPUs[0].Memory.Unattributed = sampler.Some(series.Bytes(row.nobody))
			w.Add(s)
		}
		f := w.facts(time.Time{})
		f.gpu = w.gpus[0]
		if got := len(checkUnattributed(&f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A process that has ended holds nothing, however long the driver lists it: what it had is left behind.
func TestEndedIsNotListed(t *testing.T) {
	w := New(Options{})
	for i := range 60 {
		p := processOf(7, "python a.py", 20000)
		p.Ended = i >= 30
		s := snapshotOf(float64(i), 40000, 20000, p)
		s.GPUs[0].Memory.Unattributed = sampler.Some(sampler.Bytes(0)) // the driver says whose it is
		w.Add(s)
	}
	if g := w.gpus[0]; len(g.procs) != 0 || g.orphan.pid != 7 || g.left() < 19000 {
		t.Errorf("%d processes, left behind %.0f of %+v", len(g.procs), g.left(), g.orphan)
	}
}

// Memory grows by hand in an interactive program on a GPU that is mostly idle.
func TestByHand(t *testing.T) {
	for _, row := range []struct {
		command string
		busy    float64
		want    bool
	}{{"python -m ipykernel", 0.49, true}, {"python -m ipykernel", 0.5, false}, {"python -m ipykernel", nan, false}, {"python train.py", 0.1, false}} {
		g := &gpu{busy: row.busy}
		if got := g.byHand(&proc{process: &sampler.Process{Command: row.command}}); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
		if g.byHand(nil) {
			t.Error("nobody works by hand")
		}
	}
}

// Utilization of late comes to that of now within minutes.
func TestBusyOfLate(t *testing.T) {
	g := &gpu{busy: nan}
	for i, row := range []struct{ percent, least, most float64 }{{-1, 0, 0}, {80, 0.8, 0.8}, {0, 0.78, 0.79}, {-1, 0.78, 0.79}, {100, 0.78, 0.80}} {
		g.last = &sampler.GPU{}
		if row.percent >= 0 {
			g.last.Utilization.GPU = sampler.Some(int(row.percent))
		}
		if g.foldBusy(); i > 0 && !(g.busy >= row.least && g.busy <= row.most) || i == 0 && !equal(g.busy, nan) {
			t.Errorf("after %v %%: %v", row.percent, g.busy)
		}
	}
	for range 300 {
		g.foldBusy()
	}
	if g.busy < 0.99 || g.busy > 1 {
		t.Errorf("after five minutes: %v", g.busy)
	}
}

// A neighbor is told who took 256 MiB, and 2 % of the GPU, since a peak that does not fit beside it any more.
func TestNeighborBounds(t *testing.T) {
	for name, row := range map[string]struct {
		peak, others float64 // of the process; what the others held at its peak
		holds, other float64 // now
		want         bool
	}{
		"does not fit":   {16000, 100, 8000, 5000, true},
		"just fits":      {15020, 100, 8000, 5000, false},
		"just does not":  {15021, 100, 8000, 5000, true},
		"took 2 %":       {16000, 4600, 8000, 5000, true},
		"took less":      {16000, 4601, 8000, 5000, false},
		"at its peak":    {8000, 100, 8000, 13000, false},
		"idle":           {16000, 100, 1919, 5000, false},
		"not quite idle": {16000, 100, 1920, 5000, true},
	} {
		f := fullOf(row.holds+row.other, processOf(1, "python a.py", row.holds), processOf(2, "python b.py", row.other))
		for _, p := range f.gpu.procs {
			p.peak.reset(0)
			p.peak.now = peakAt{value: p.series.Value}
			if p.pid == 1 {
				p.peak.now, p.series.Peak = peakAt{row.peak, row.others, 50}, row.peak
			}
		}
		if got := len(checkNeighbor(f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	p := &proc{}
	for peak, want := range map[float64]bool{9500: true, 9499: false} { // of this run; the last one came to 10000
		p.series.Value, p.series.Peak = 100, peak
		if got := p.idle(10000); got != want {
			t.Errorf("a peak of %v: idle %v", peak, got)
		}
	}
}

// newest names who came or grew within the time, else the largest.
func TestNewestNeighbor(t *testing.T) {
	of := func(pid int, first, value, base float64) *proc {
		p := &proc{pid: pid, first: first}
		p.series.Value, p.series.Base, p.series.Samples = value, base, 1
		return p
	}
	for name, row := range map[string]struct {
		procs []*proc
		want  int
	}{
		"came":        {[]*proc{of(1, 0, 9000, 9000), of(2, 90, 500, 500), of(3, 0, 9999, 9999)}, 2},
		"came before": {[]*proc{of(2, 89, 500, 500), of(3, 0, 900, 900)}, 3},
		"grew":        {[]*proc{of(2, 0, 500, 244), of(3, 0, 900, 900)}, 2},
		"grew less":   {[]*proc{of(2, 0, 500, 245), of(3, 0, 900, 900)}, 3},
		"nobody":      {nil, 0},
	} {
		g := &gpu{seen: 100, procs: append(row.procs, of(9, 99, 1, 0))}
		got := 0
		if p := g.newest(g.procs[len(g.procs)-1], 10); p != nil {
			got = p.pid
		}
		if got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// Imbalance is told with less than 8 % free and 2 GiB, or a fifth of the GPU, more than the others of the job.
func TestImbalanceBounds(t *testing.T) {
	for name, row := range map[string]struct {
		total, used, other float64
		otherCommand       string
		want               bool
	}{
		"a fifth more":    {20000, 18500, 14500, "", true},
		"less":            {20000, 18500, 14501, "", false},
		"8 % are free":    {20000, 18400, 14000, "", false},
		"2 GiB more":      {8000, 7800, 5752, "", true},
		"less than 2 GiB": {8000, 7800, 5753, "", false},
		"of another job":  {20000, 18500, 10000, "python other.py", false},
	} {
		w := New(Options{})
		for i := range 200 {
			command := "python a.py"
			s := snapshotOf(float64(i), row.total, row.used, processOf(1, command, row.used))
			if row.otherCommand != "" {
				command = row.otherCommand
			}
			s.GPUs = append(s.GPUs, gpuOf(1, row.total, row.other, processOf(2, command, row.other)))
			w.Add(s)
		}
		f := w.facts(time.Time{})
		f.gpu = w.gpus[0]
		if got := len(checkImbalance(&f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
		w.gpus[1].total++
		if checkImbalance(&f) != nil {
			t.Errorf("%s: beside a GPU of another size", name)
		}
		w.gpus[1].total--
		w.gpus[1].seen--
		if checkImbalance(&f) != nil {
			t.Errorf("%s: beside a GPU that is listed no more", name)
		}
	}
}

// What was read between two snapshots is of whoever made it rise, else of who holds most of the GPU, if anybody does.
func TestMostBetweenSnapshots(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	window := func(most float64, pid int, rose time.Time) *sampler.Window {
		w := &sampler.Window{Max: series.Bytes(most), MaxTime: at}
		if pid != 0 {
			w.RisePID, w.RiseTime = sampler.Some(pid), sampler.Some(rose)
		}
		return w
	}
	for name, row := range map[string]struct {
		a, b   float64
		window *sampler.Window
		want   string
	}{
		"nothing known":     {5000, 1000, nil, "7: 5000, 8: 1000"},
		"no more than now":  {5000, 1000, window(6000, 0, at), "7: 5000, 8: 1000"},
		"of the largest":    {5000, 1000, window(36000, 0, at), "7: 35000, 8: 1000"},
		"of the one told":   {5000, 1000, window(36000, 8, at), "8: 31000, 7: 5000"},
		"told of another":   {5000, 1000, window(36000, 8, at.Add(-time.Second)), "7: 35000, 8: 1000"},
		"nobody holds half": {1000, 1000, window(36000, 0, at), "7: 1000, 8: 1000"},
		"what cannot be":    {5000, 1000, &sampler.Window{Max: sampler.MaxPlausible, MaxTime: at}, "7: 5000, 8: 1000"},
	} {
		used := row.a + row.b
		if name == "nobody holds half" {
			used = 9000
		}
		s := snapshotOf(0, 40000, used, processOf(7, "python a.py", row.a), processOf(8, "python b.py", row.b))
		s.GPUs[0].Memory.Window = row.window
		c := NewChecker(series.Bytes(20000))
		c.Add(s)
		var got []string
		for _, h := range c.Answer().GPUs[0].Holders {
			if h.PID != 0 {
				got = append(got, fmt.Sprintf("%d: %.0f", h.PID, h.Most.MiB()))
			}
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: %q, want %s", name, got, row.want)
		}
	}
}

// The least free memory of a window is from when somebody had more than now: who, stands first, with the most.
func TestHoldersOfAWindow(t *testing.T) {
	at := func(seconds, spiky, steady float64, peak *sampler.Peak) sampler.Snapshot {
		a, b := processOf(7, "python a.py", spiky), processOf(8, "python b.py", steady)
		a.Peak = peak
		return snapshotOf(seconds, 40000, spiky+steady, b, a)
	}
	before := at(0, 1000, 5000, nil).Time.Add(-time.Minute)
	for name, row := range map[string]struct {
		between float64
		peak    *sampler.Peak
		want    string
	}{
		"nothing happened":             {1000, nil, "8: 5000 of 5000, 7: 1000 of 1000"},
		"a snapshot in between":        {30000, nil, "7: 1000 of 30000, 8: 5000 of 5000"},
		"a peak between two snapshots": {1000, &sampler.Peak{Bytes: series.Bytes(33000), Time: before.Add(61 * time.Second)}, "7: 1000 of 33000, 8: 5000 of 5000"},
		"a peak of before the window":  {1000, &sampler.Peak{Bytes: series.Bytes(33000), Time: before.Add(59 * time.Second)}, "8: 5000 of 5000, 7: 1000 of 1000"},
		"a peak that cannot be":        {1000, &sampler.Peak{Bytes: sampler.MaxPlausible, Time: before.Add(61 * time.Second)}, "8: 5000 of 5000, 7: 1000 of 1000"},
	} {
		c := NewChecker(series.Bytes(20000))
		c.Add(at(0, 1000, 5000, nil))
		c.Add(at(1, row.between, 5000, nil))
		c.Add(at(2, 1000, 5000, row.peak))
		var got []string
		for _, h := range c.Answer().GPUs[0].Holders {
			if h.PID != 0 {
				got = append(got, fmt.Sprintf("%d: %.0f of %.0f", h.PID, h.Bytes.MiB(), h.Most.MiB()))
			}
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: %q, want %s", name, got, row.want)
		}
	}
}

// A page of metrics tells the peaks of processes since it was begun to be kept, and not when they were.
func TestPeaksOfBeforeTheWindow(t *testing.T) {
	at := func(seconds, peak float64) sampler.Snapshot {
		p := processOf(7, "python a.py", 1000)
		s := snapshotOf(seconds, 40000, 1000, p)
		s.GPUs[0].Processes[0].Peak = &sampler.Peak{Bytes: series.Bytes(peak), Time: s.Time}
		return s
	}
	for name, row := range map[string]struct{ peaks, want []float64 }{
		"from before":      {[]float64{33000, 33000, 33000}, []float64{1000, 1000, 1000}},
		"a new one":        {[]float64{33000, 34000, 34000}, []float64{1000, 34000, 34000}},
		"from now on":      {[]float64{1000, 20000, 20000}, []float64{1000, 20000, 20000}},
		"begun anew there": {[]float64{33000, 1000, 2000}, []float64{1000, 1000, 1000}},
	} {
		c := NewChecker(series.Bytes(39500))
		for i, peak := range row.peaks {
			c.Add(at(float64(i), peak))
			if h := c.Answer().GPUs[0].Holders; len(h) != 1 || h[0].Most != series.Bytes(row.want[i]) {
				t.Errorf("%s, snapshot %d: %+v", name, i, h)
			}
		}
	}
}

// A GPU whose figures end within the window is not known to fit, however much was free before.
func TestCheckerWithoutFigures(t *testing.T) {
	c := NewChecker(series.Bytes(20000))
	s := snapshotOf(0, 80000, 10000)
	s.GPUs[0].Memory.Free = sampler.Some(series.Bytes(70000))
	c.Add(s)
	if fits, known := c.Answer().GPUs[0].Fits(); !fits || !known {
		t.Fatal(fits, known)
	}
	s = snapshotOf(1, 80000, 10000)
	s.GPUs[0].Memory, s.GPUs[0].Error = sampler.Memory{}, sampler.Some("the driver does not answer")
	c.Add(s)
	if _, known := c.Answer().GPUs[0].Fits(); known || c.Answer().Known() {
		t.Error("it is known")
	}
}
