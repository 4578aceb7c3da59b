package report

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// The peak of a process is the most that was seen of it, or what the driver or its allocator tells, if that can be;
// one sampled before the recording began is of another time.
func TestProcessPeak(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, row := range map[string]struct {
		peak sampler.Peak
		want sampler.Bytes
		t    float64
	}{
		"the driver's":         {sampler.Peak{Bytes: 12 * gibs, Time: start.Add(-time.Hour), Source: sampler.PeakDriver}, 12 * gibs, 0},
		"less than seen":       {sampler.Peak{Bytes: 9 * gibs, Time: start, Source: sampler.PeakDriver}, 10 * gibs, 1},
		"cannot be":            {sampler.Peak{Bytes: sampler.MaxPlausible, Time: start, Source: sampler.PeakDriver}, 10 * gibs, 1},
		"between two readings": {sampler.Peak{Bytes: 12 * gibs, Time: start.Add(time.Second / 2), Source: sampler.PeakSampled}, 12 * gibs, 0.5},
		"as it began":          {sampler.Peak{Bytes: 12 * gibs, Time: start, Source: sampler.PeakSampled}, 12 * gibs, 0},
		"before it began":      {sampler.Peak{Bytes: 12 * gibs, Time: start.Add(-1), Source: sampler.PeakSampled}, 10 * gibs, 1},
	} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, 48*gibs, 20*gibs, job(7, 5*gibs)))
		p := job(7, 10*gibs)
		p.Peak = &row.peak
		r.Snapshot(card(1, 48*gibs, 20*gibs, p))
		r.Snapshot(card(2, 48*gibs, 20*gibs, job(7, 10*gibs)))
		if got := r.Report().Processes[0].Peak; got.Bytes != row.want || got.T != row.t {
			t.Errorf("%s: %v at %v, want %v at %v", name, got.Bytes, got.T, row.want, row.t)
		}
	}
}

// A process of some milliseconds is in no list of the driver: what its calls tell is its peak.
func TestPeakOfWhoWasNeverListed(t *testing.T) {
	r := New(Options{Outline: true})
	at := time.Unix(1000, 0).Add(time.Second / 2)
	r.Snapshot(card(0, 48*gibs, 20*gibs))
	r.Snapshot(card(1, 48*gibs, 20*gibs, sampler.Process{PID: 7, Peak: &sampler.Peak{Bytes: gibs, Time: at, Source: sampler.PeakCallsAlone}}))
	got := r.Report().Processes[0]
	if got.Peak == nil || got.Peak.Bytes != gibs || got.Peak.Source != sampler.PeakCallsAlone || got.Peak.T != 0.5 || got.AtExit.Known() {
		t.Errorf("%+v, at its end %v", got.Peak, got.AtExit)
	}
}

// The mean of a process weighs by time; a figure is held for five seconds when the next does not come.
func TestProcessMean(t *testing.T) {
	for name, row := range map[string]struct {
		at   []float64
		held []sampler.Bytes // GiB; 0: unknown
		want sampler.Opt[sampler.Bytes]
	}{
		"one":             {[]float64{0}, []sampler.Bytes{8}, sampler.Some(8 * gibs)},
		"three":           {[]float64{0, 3, 4}, []sampler.Bytes{8, 4, 2}, sampler.Some(7 * gibs)},
		"held":            {[]float64{0, 1, 2, 7}, []sampler.Bytes{7, 7, 14, 1}, sampler.Some(12 * gibs)},
		"a silence":       {[]float64{0, 1, 2, 7.1}, []sampler.Bytes{7, 7, 14, 1}, sampler.Some(7 * gibs)},
		"unknown for 1 s": {[]float64{0, 1, 2, 3}, []sampler.Bytes{8, 0, 2, 2}, sampler.Some(5 * gibs)},
		"unknown":         {[]float64{0, 1}, []sampler.Bytes{0, 0}, sampler.Opt[sampler.Bytes]{}},
	} {
		r := New(Options{Outline: true})
		for i, at := range row.at {
			p := sampler.Process{PID: 7}
			if row.held[i] > 0 {
				p = job(7, row.held[i]*gibs)
			}
			r.Snapshot(card(at, 48*gibs, 20*gibs, p))
		}
		if got := r.Report().Processes[0].Mean; got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Processes are told by their peaks, the largest first, then by GPU and pid.
func TestProcessOrder(t *testing.T) {
	r := New(Options{Outline: true})
	s := card(0, 48*gibs, 40*gibs, job(5, 2*gibs), job(4, 2*gibs), sampler.Process{PID: 1}, job(9, 3*gibs))
	s.GPUs = append(s.GPUs, s.GPUs[0])
	s.GPUs[1].Index, s.GPUs[1].UUID, s.GPUs[1].Processes = 1, "b", []sampler.Process{job(3, 2*gibs)}
	r.Snapshot(s)
	var got []int
	for _, p := range r.Report().Processes {
		got = append(got, p.PID)
	}
	for i, pid := range []int{9, 4, 5, 3, 1} {
		if got[i] != pid {
			t.Fatalf("%v", got)
		}
	}
}

// A report says of whom calls were missed: its counts are the least there were.
func TestReportOfMissedCalls(t *testing.T) {
	seen, one, other := job(7, 10*gibs), job(8, 9*gibs), job(9, 8*gibs)
	seen.Requests, one.Requests, other.Requests = &sampler.Requests{Refused: 3}, &sampler.Requests{Refused: 3999, Missed: true}, &sampler.Requests{Refused: 3999, Missed: true}
	for want, list := range map[string][]sampler.Process{"": {seen}, "not every call of pid 8 ": {seen, one}, "not every call of 2 processes ": {one, seen, other}} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, 48*gibs, 40*gibs, list...))
		got := strings.Join(r.Report().Notes, "\n")
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for _, p := range r.Report().Processes {
			if p.Requests.Missed != (p.PID != 7) {
				t.Errorf("%+v", p.Requests)
			}
		}
	}
}

// A process has exited when its GPU is seen without it, however little it held, or when its last row tells how it ended; not when the GPU gave no list.
func TestProcessExited(t *testing.T) {
	ended := job(7, 10*gibs)
	ended.Requests = &sampler.Requests{ExitStatus: sampler.Some(1)}
	silent := card(2, 48*gibs, gibs)
	silent.GPUs[0].Memory, silent.GPUs[0].Error = sampler.Memory{}, sampler.Some("timeout")
	for name, row := range map[string]struct {
		last *sampler.Snapshot
		want bool
	}{
		"listed":         {card(2, 48*gibs, 20*gibs, job(7, 10*gibs)), false},
		"gone":           {card(2, 48*gibs, gibs), true},
		"others stay":    {card(2, 48*gibs, gibs, job(8, gibs)), true},
		"its last row":   {card(2, 48*gibs, 20*gibs, ended), true},
		"nobody can say": {silent, false},
	} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, 48*gibs, 20*gibs, job(7, 100*mibs)))
		r.Snapshot(card(1, 48*gibs, 20*gibs, job(7, 100*mibs)))
		r.Snapshot(row.last)
		for _, p := range r.Report().Processes {
			if p.PID == 7 && p.Exited != row.want {
				t.Errorf("%s: exited %v", name, p.Exited)
			}
		}
	}
}
