package sampler

import (
	"math/rand/v2"
	"testing"
	"time"
)

func applied(w *Watermarks, s *Snapshot) *Memory {
	w.Apply(s)
	return &s.GPUs[0].Memory
}

// TestWatermarksWithoutWindows: a hand-written recording has only total and used.
func TestWatermarksWithoutWindows(t *testing.T) {
	w := NewWatermarks()
	for i, row := range []struct {
		used, peak Bytes
		peakAt     int
	}{{9 * GiB, 9 * GiB, 0}, {47 * GiB, 47 * GiB, 1}, {47 * GiB, 47 * GiB, 1}, {9 * GiB, 47 * GiB, 1}, {48 * GiB, 48 * GiB, 4}} {
		at := noon.Add(time.Duration(i) * time.Second)
		s := &Snapshot{Time: at, GPUs: []GPU{{Memory: Memory{Total: Some(80 * GiB), Used: Some(row.used)}}}}
		m := applied(w, s)
		want := Peak{row.peak, noon.Add(time.Duration(row.peakAt) * time.Second), PeakSampled}
		if m.Peak == nil || *m.Peak != want {
			t.Errorf("after %v the peak is %v, want %v", row.used, m.Peak, want)
		}
		if m.WorstFree.Known() {
			t.Errorf("free is not known, but at worst it was %v", m.WorstFree)
		}
	}
}

// TestWatermarkOfTheWindow: the peak is the window's, at the moment when it was reached.
func TestWatermarkOfTheWindow(t *testing.T) {
	for _, row := range []struct {
		name string
		used Bytes // at the end of the window
	}{{"a spike", 9 * GiB}, {"a rise that stays", 47 * GiB}} {
		s := shot(noon, row.used)
		reached := noon.Add(-700 * time.Millisecond)
		s.GPUs[0].Memory.Reserved = Some(GiB)
		s.GPUs[0].Memory.Free = Some(79*GiB - row.used)
		s.GPUs[0].Memory.Window = &Window{Min: 9 * GiB, Max: 47 * GiB, MaxTime: reached, Readings: 50}
		m := applied(NewWatermarks(), s)
		if *m.Peak != (Peak{47 * GiB, reached, PeakSampled}) {
			t.Errorf("%s: the peak is %+v", row.name, *m.Peak)
		}
		if got := m.WorstFree.Or(0); got != 32*GiB {
			t.Errorf("%s: least free is %v, want 80 - 1 - 47 GiB", row.name, got)
		}
	}
}

func TestWatermarkIgnoresAnEmptyWindow(t *testing.T) {
	w := NewWatermarks()
	s := &Snapshot{Time: noon, GPUs: []GPU{{Memory: Memory{Window: &Window{Missed: 3}}}}}
	if m := applied(w, s); m.Peak != nil || m.WorstFree.Known() {
		t.Errorf("nothing was read, but peak %+v and least free %v", m.Peak, m.WorstFree)
	}
}

// TestWatermarkWhileLost: a GPU that gives no figures keeps its peak.
func TestWatermarkWhileLost(t *testing.T) {
	w := NewWatermarks()
	w.Apply(shot(noon, 47*GiB))
	lost := &Snapshot{Time: noon.Add(time.Second), GPUs: []GPU{{UUID: "GPU-0", Error: Some("GPU is lost")}}}
	if m := applied(w, lost); m.Peak == nil || m.Peak.Bytes != 47*GiB || m.WorstFree.Or(0) != 33*GiB {
		t.Errorf("peak %+v, least free %v", m.Peak, m.WorstFree)
	}
}

func TestWatermarksReset(t *testing.T) {
	w := NewWatermarks()
	w.Apply(shot(noon, 47*GiB, 1))
	w.Reset()
	s := shot(noon.Add(time.Second), 9*GiB, 1)
	s.GPUs[0].Processes[0].Memory = Some(MiB)
	m := applied(w, s)
	if *m.Peak != (Peak{9 * GiB, s.Time, PeakSampled}) || m.WorstFree.Or(0) != 71*GiB {
		t.Errorf("after a reset: peak %+v, least free %v", m.Peak, m.WorstFree)
	}
	if p := s.GPUs[0].Processes[0].Peak; p.Bytes != MiB || !p.Time.Equal(s.Time) {
		t.Errorf("after a reset the process has the peak %+v", p)
	}
}

// What the driver tells of the whole life of a process is no peak since a reset, until it is a new one.
func TestResetOfToldPeaks(t *testing.T) {
	for _, source := range []string{PeakDriver, PeakCalls, PeakCallsAlone, PeakAllocator} {
		w := NewWatermarks()
		step := func(i int, used, told Bytes) *Peak {
			s := shot(noon.Add(time.Duration(i)*time.Second), 60*GiB, 1)
			p := &s.GPUs[0].Processes[0]
			p.Memory, p.Peak = Opt[Bytes]{}, &Peak{told, noon, source}
			if used > 0 {
				p.Memory = Some(used)
			}
			w.Apply(s)
			return p.Peak
		}
		step(0, 50*GiB, 47*GiB) // sampled more than was told
		w.Reset()
		for i, row := range []struct {
			used, told, want Bytes
			source           string
		}{{0, 47 * GiB, 0, ""}, {9 * GiB, 47 * GiB, 9 * GiB, PeakSampled}, {12 * GiB, 47 * GiB, 12 * GiB, PeakSampled}, {9 * GiB, 48 * GiB, 48 * GiB, source}, {9 * GiB, 48 * GiB, 48 * GiB, source}} {
			switch p := step(1+i, row.used, row.told); {
			case p == nil && row.want > 0, p != nil && (p.Bytes != row.want || p.Source != row.source):
				t.Errorf("%s, snapshot %d: %+v, want %v %s", source, i, p, row.want, row.source)
			}
		}
	}
}

// What the calls tell of the whole life of a process they correct as slow ones are answered, also downwards; what was read is not taken back by that.
func TestCallsCorrectTheirPeak(t *testing.T) {
	type step struct {
		used, told Bytes
		source     string
		want       Bytes
		wantSource string
	}
	for name, row := range map[string]struct {
		steps []step
		reset int // after that many; 0: never
	}{
		"corrected":                   {[]step{{9 * GiB, 40 * GiB, PeakAtLeast, 40 * GiB, PeakAtLeast}, {9 * GiB, 30 * GiB, PeakCalls, 30 * GiB, PeakCalls}}, 0},
		"below what was read":         {[]step{{35 * GiB, 40 * GiB, PeakCalls, 40 * GiB, PeakCalls}, {9 * GiB, 30 * GiB, PeakCalls, 35 * GiB, PeakSampled}}, 0},
		"nothing told anymore":        {[]step{{9 * GiB, 40 * GiB, PeakCalls, 40 * GiB, PeakCalls}, {9 * GiB, 0, "", 40 * GiB, PeakCalls}}, 0},
		"the driver corrects nothing": {[]step{{9 * GiB, 40 * GiB, PeakDriver, 40 * GiB, PeakDriver}, {9 * GiB, 30 * GiB, PeakDriver, 40 * GiB, PeakDriver}}, 0},
		"corrected after a reset, then more": {[]step{{9 * GiB, 40 * GiB, PeakCalls, 40 * GiB, PeakCalls}, {9 * GiB, 30 * GiB, PeakCalls, 9 * GiB, PeakSampled},
			{9 * GiB, 33 * GiB, PeakCalls, 33 * GiB, PeakCalls}}, 1},
	} {
		w := NewWatermarks()
		for i, x := range row.steps {
			if row.reset > 0 && i == row.reset {
				w.Reset()
			}
			s := shot(noon.Add(time.Duration(i)*time.Second), 60*GiB, 1)
			p := &s.GPUs[0].Processes[0]
			if p.Memory, p.Peak = Some(x.used), nil; x.told > 0 {
				p.Peak = &Peak{x.told, noon, x.source}
			}
			w.Apply(s)
			if p.Peak == nil || p.Peak.Bytes != x.want || p.Peak.Source != x.wantSource {
				t.Errorf("%s, snapshot %d: %+v, want %v %s", name, i, p.Peak, x.want, x.wantSource)
			}
		}
	}
}

// TestProcessPeaks: the driver's accounting is exact and beats what was sampled.
func TestProcessPeaks(t *testing.T) {
	exact := &Peak{20 * GiB, noon.Add(-time.Minute), PeakDriver}
	for _, row := range []struct {
		name    string
		memory  []Bytes // one per snapshot
		peak    *Peak   // as the source gives it
		want    Bytes
		sources string
	}{
		{"sampled", []Bytes{5 * GiB, 9 * GiB, 7 * GiB}, nil, 9 * GiB, PeakSampled},
		{"driver higher", []Bytes{5 * GiB, 9 * GiB}, exact, 20 * GiB, PeakDriver},
		{"driver equal", []Bytes{20 * GiB}, exact, 20 * GiB, PeakDriver},
		{"driver lower", []Bytes{21 * GiB}, exact, 21 * GiB, PeakSampled},
		{"allocator", []Bytes{5 * GiB}, &Peak{6 * GiB, noon, PeakAllocator}, 6 * GiB, PeakAllocator},
	} {
		w := NewWatermarks()
		var got *Peak
		for i, b := range row.memory {
			s := shot(noon.Add(time.Duration(i)*time.Second), 40*GiB, 4242)
			s.GPUs[0].Processes[0].Memory = Some(b)
			s.GPUs[0].Processes[0].Peak = row.peak
			w.Apply(s)
			got = s.GPUs[0].Processes[0].Peak
		}
		if got == nil || got.Bytes != row.want || got.Source != row.sources {
			t.Errorf("%s: %+v, want %v %s", row.name, got, row.want, row.sources)
		}
	}
	if *exact != (Peak{20 * GiB, noon.Add(-time.Minute), PeakDriver}) {
		t.Error("the source's peak was changed")
	}
}

func TestProcessOfUnknownMemory(t *testing.T) {
	s := shot(noon, GiB, 1)
	s.GPUs[0].Processes[0].Memory = Opt[Bytes]{}
	NewWatermarks().Apply(s)
	if p := s.GPUs[0].Processes[0].Peak; p != nil {
		t.Errorf("the memory of the process was never known, its peak is %+v", p)
	}
}

// TestSnapshotsDoNotShare: a snapshot that was handed on is never changed.
func TestSnapshotsDoNotShare(t *testing.T) {
	w := NewWatermarks()
	first := shot(noon, 9*GiB, 1)
	w.Apply(first)
	w.Apply(shot(noon.Add(time.Second), 47*GiB, 1))
	w.Process(first.GPUs[0].Processes[0].Key(GPUKey{ID: "GPU-0"}), 40*GiB, noon.Add(2*time.Second))
	if first.GPUs[0].Memory.Peak.Bytes != 9*GiB || first.GPUs[0].Processes[0].Peak.Bytes != GiB {
		t.Error("a later snapshot changed the peaks of an earlier one")
	}
}

// TestWatermarksAgainstModel: the peak is the largest of everything that was said, the
// least free the smallest, whatever is missing.
func TestWatermarksAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		w := NewWatermarks()
		var most Bytes
		least := 80 * GiB
		seen := false
		for i := range 30 {
			at := noon.Add(time.Duration(i) * time.Second)
			used := Bytes(rnd.Uint64N(uint64(80 * GiB)))
			s := shot(at, used)
			switch m := &s.GPUs[0].Memory; rnd.IntN(3) {
			case 0:
				*m = Memory{Total: m.Total}
			case 1:
				top := used + Bytes(rnd.Uint64N(uint64(80*GiB-used)))
				m.Window = &Window{Min: used / 2, Max: top, MaxTime: at.Add(-time.Second / 2), Readings: 1 + rnd.IntN(50)}
				most, least, seen = max(most, top), min(least, 80*GiB-top), true
			default:
				most, least, seen = max(most, used), min(least, 80*GiB-used), true
			}
			m := applied(w, s)
			if (m.Peak != nil) != seen || seen && (m.Peak.Bytes != most || m.WorstFree.Or(0) != least) {
				t.Fatalf("peak %+v and least free %v, want %v and %v", m.Peak, m.WorstFree, most, least)
			}
		}
	}
}

// TestWatermarksPrune: processes that are gone are forgotten once there are many, live
// ones never.
func TestWatermarksPrune(t *testing.T) {
	w := NewWatermarks()
	at := noon
	for i := range 3 * maxMarks {
		at = at.Add(time.Second)
		s := shot(at, GiB, 1, 10+i)
		if i > 0 {
			s.GPUs[0].Processes[0].Memory = Some(MiB)
		}
		w.Apply(s)
		if len(w.procs) > maxMarks+1 {
			t.Fatalf("%d processes are kept", len(w.procs))
		}
		if i > 0 && s.GPUs[0].Processes[0].Peak.Bytes != GiB {
			t.Fatalf("after %d jobs the peak of the one that lives is %v", i, s.GPUs[0].Processes[0].Peak)
		}
	}
}

func BenchmarkWatermarksApply64x32(b *testing.B) {
	s := crowd(64, 32)
	w := NewWatermarks()
	for b.Loop() {
		w.Apply(s)
	}
}
