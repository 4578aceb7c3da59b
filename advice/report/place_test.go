package report

import (
	"slices"
	"testing"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// ended is a recording of a thousand seconds with some ends of jobs.
func ended(list ...Exit) *Reporter {
	r := New(Options{Outline: true})
	r.Snapshot(card(0, 48*gibs, gibs))
	r.Snapshot(card(1000, 48*gibs, gibs))
	for _, x := range list {
		x.Time = r.start.Add(seconds(x.T))
		r.exits = append(r.exits, exit{Exit: x})
	}
	return r
}

func placed(r *Reporter, f LogFailure) float64 {
	return r.PlaceFailures([]LogFailure{f})[0].Time.Or(time.Time{}).Sub(r.start).Seconds()
}

// A time up to two minutes outside of the recording is taken as told, one beyond is of another run.
func TestPlaceByTime(t *testing.T) {
	for told, want := range map[float64]float64{500: 500, -120: -120, -121: 300.001, 1120: 1120, 1121: 300.001} {
		r := ended(Exit{T: 300, PID: 1})
		if got := placed(r, LogFailure{Time: sampler.Some(r.start.Add(seconds(told)))}); got != want {
			t.Errorf("told at %v: placed at %v, want %v", told, got, want)
		}
	}
}

// Lines around a failure bound the end of its job, unless they lie outside of the recording.
func TestPlaceByLines(t *testing.T) {
	for name, row := range map[string]struct {
		since, until float64
		want         float64
	}{
		"the end lies between":           {250, 350, 300.001},
		"a second before the line":       {301, 350, 300.001},
		"earlier":                        {302, 350, 302},
		"two minutes after":              {100, 180, 300.001},
		"later":                          {100, 179, 100},
		"since the start":                {0, 10, 0},
		"since before the start":         {-1, 10, 1000.001},
		"since the end":                  {1000, 1500, 1000.001},
		"all of it after the recording":  {1002, 1500, 300.001},
		"all of it before the recording": {-500, -121, 300.001},
		"just before the recording":      {-500, -120, 1000.001},
	} {
		r := ended(Exit{T: 300, PID: 1})
		f := LogFailure{Since: sampler.Some(r.start.Add(seconds(row.since))), Until: sampler.Some(r.start.Add(seconds(row.until)))}
		if got := placed(r, f); got != row.want {
			t.Errorf("%s: placed at %v, want %v", name, got, row.want)
		}
	}
}

// Of several ends that of the process that a message names is its own, else one whose size fits, else one on its GPU,
// else one after a rise, else the fullest.
func TestPlaceByLooks(t *testing.T) {
	own := func(b sampler.Bytes) sampler.OOMEvent { return sampler.OOMEvent{ProcessInUse: sampler.Some(b)} }
	lesser := Exit{T: 100, PID: 1, Bytes: 10 * gibs, Full: 0.5}
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		other Exit // full, at 200
		rose  bool // the lesser one
		want  float64
	}{
		"the fullest":          {sampler.OOMEvent{}, Exit{PID: 2, Full: 0.9, GPU: 1}, false, 200.001},
		"after a rise":         {sampler.OOMEvent{}, Exit{PID: 2, Full: 0.65, GPU: 1}, true, 100.001},
		"fuller than a rise":   {sampler.OOMEvent{}, Exit{PID: 2, Full: 0.75, GPU: 1}, true, 200.001},
		"its GPU":              {sampler.OOMEvent{GPUIndex: sampler.Some(0)}, Exit{PID: 2, Full: 0.9, GPU: 1}, false, 100.001},
		"its process":          {sampler.OOMEvent{PID: sampler.Some(1)}, Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001},
		"of about its size":    {own(13 * gibs), Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001}, // 10 GiB: over 0.7 of it
		"0.7 of it":            {own(10*gibs*10/7 + 1), Exit{PID: 2, Full: 1, GPU: 1}, false, 200.001},
		"just over 0.7":        {own(10*gibs*10/7 - 1), Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001},
		"1.4 of it and 2 GiB":  {own(8 * gibs * 10 / 14), Exit{PID: 2, Full: 1, GPU: 1}, false, 200.001},
		"just below":           {own(8*gibs*10/14 + 1), Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001},
		"less":                 {own(15 * gibs), Exit{PID: 2, Full: 1, GPU: 1}, false, 200.001},
		"a little more":        {own(6 * gibs), Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001}, // below 1.4 of it and 2 GiB
		"much more":            {own(5 * gibs), Exit{PID: 2, Full: 1, GPU: 1}, false, 200.001},
		"of what it allocated": {sampler.OOMEvent{Allocated: sampler.Some(10 * gibs)}, Exit{PID: 2, Full: 1, GPU: 1}, false, 100.001},
	} {
		row.other.T = 200
		r := ended(lesser, row.other)
		r.exits[0].rose = row.rose
		if got := placed(r, LogFailure{Event: row.event}); got != row.want {
			t.Errorf("%s: placed at %v, want %v", name, got, row.want)
		}
	}
}

// A failure that the program survived is put at the highest peak, in whatever order the GPUs come.
func TestPlaceSurvived(t *testing.T) {
	for _, peaks := range [][2]sampler.Bytes{{40, 30}, {30, 40}, {40, 40}} {
		r := New(Options{Outline: true})
		for second := range 5 {
			s := card(float64(second), 48*gibs, gibs)
			s.GPUs = append(s.GPUs, s.GPUs[0])
			s.GPUs[1].Index, s.GPUs[1].UUID = 1, "b"
			if second == 1 || second == 3 {
				s.GPUs[second/2].Memory.Used = sampler.Some(peaks[second/2] * gibs)
			}
			r.Snapshot(s)
		}
		want := 1.0
		if peaks[1] > peaks[0] {
			want = 3
		}
		if got := placed(r, LogFailure{Event: sampler.OOMEvent{Recovered: true}}); got != want {
			t.Errorf("peaks of %v GiB: placed at %v", peaks, got)
		}
	}
	r := New(Options{Outline: true})
	r.Snapshot(&sampler.Snapshot{Time: time.Unix(1000, 0)})
	if got := placed(r, LogFailure{Event: sampler.OOMEvent{Recovered: true}}); got != 0.001 {
		t.Errorf("without a peak: placed at %v", got)
	}
}

// A process that was there until the end did not die when another one ended.
func TestPlaceOfAlive(t *testing.T) {
	for pid, want := range map[int]float64{7: 3.001, 8: 1.001} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, 48*gibs, 40*gibs, job(7, 10*gibs), job(9, 20*gibs)))
		r.Snapshot(card(1, 48*gibs, 40*gibs, job(7, 10*gibs), job(9, 20*gibs)))
		r.Snapshot(card(2, 48*gibs, 20*gibs, job(7, 10*gibs)))
		r.Snapshot(card(3, 48*gibs, 20*gibs, job(7, 10*gibs)))
		if got := placed(r, LogFailure{Event: sampler.OOMEvent{PID: sampler.Some(pid)}}); got != want {
			t.Errorf("of process %d: placed at %v, want %v", pid, got, want)
		}
	}
}

// A message that comes after its process was gone is told with what that process was; one of host memory is not.
func TestRecallAfterExit(t *testing.T) {
	for kind, want := range map[string]sampler.Bytes{sampler.MemoryGPU: 30 * gibs, sampler.MemoryHost: 0} {
		r := New(Options{})
		r.Snapshot(card(0, 48*gibs, 31*gibs, job(7, 30*gibs)))
		r.Snapshot(card(1, 48*gibs, gibs))
		r.Snapshot(card(2, 48*gibs, gibs))
		r.OOM(sampler.OOMEvent{Kind: sampler.KindCUDA, MemoryKind: kind}, r.at.Add(time.Second), "log")
		got := sampler.Bytes(0)
		for _, h := range r.Recall(explain.Incident{}).Histories {
			if h != nil {
				got = h.Process.Or(0)
			}
		}
		if got != want {
			t.Errorf("%s: the process held %v, want %v", kind, got, want)
		}
	}
}

// A recording often ends with its job: a failure is that of the process which waits for refused memory then, unless one that ended looks more like it.
func TestPlaceAtTheEnd(t *testing.T) {
	waits := func(pid int, outcome string, status int) sampler.Process {
		p := job(pid, 40*gibs)
		p.Command = "python late.py"
		p.Requests = &sampler.Requests{ExitStatus: sampler.Some(status), Refusal: &sampler.Refusal{Bytes: 9 * gibs, Smallest: 9 * gibs, Tries: 1, Outcome: outcome}}
		return p
	}
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		last  sampler.Process
		want  float64
	}{
		"it waits":                     {sampler.OOMEvent{}, waits(9, sampler.RefusalOpen, 1), 3.001},
		"for that size":                {sampler.OOMEvent{Requested: sampler.Some(9 * gibs)}, waits(9, sampler.RefusalOpen, 1), 3.001},
		"for another size":             {sampler.OOMEvent{Requested: sampler.Some(30 * gibs)}, waits(9, sampler.RefusalOpen, 1), 1.001},
		"it got it":                    {sampler.OOMEvent{}, waits(9, sampler.RefusalFlush, 1), 1.001},
		"it ended well":                {sampler.OOMEvent{}, waits(9, sampler.RefusalOpen, 0), 1.001},
		"it was refused nothing":       {sampler.OOMEvent{}, job(9, 40*gibs), 1.001},
		"the log is of the one before": {sampler.OOMEvent{Context: &sampler.LogContext{Scripts: []string{"early.py"}}}, waits(9, sampler.RefusalOpen, 1), 1.001},
		"the log is of this one":       {sampler.OOMEvent{Context: &sampler.LogContext{Scripts: []string{"late.py"}}}, waits(9, sampler.RefusalOpen, 1), 3.001},
	} {
		r, before := New(Options{Outline: true}), job(8, 40*gibs)
		before.Command = "python early.py"
		r.Snapshot(card(0, 48*gibs, 41*gibs, before))
		r.Snapshot(card(1, 48*gibs, 41*gibs, before))
		r.Snapshot(card(2, 48*gibs, gibs))
		r.Snapshot(card(3, 48*gibs, 41*gibs, row.last))
		if got := placed(r, LogFailure{Event: row.event}); got != row.want {
			t.Errorf("%s: placed at %v, want %v", name, got, row.want)
		}
	}
}

// The report is about the last failure, and the others of its run.
func TestOwnFailures(t *testing.T) {
	of := func(t float64, pid int, command, from string) failed {
		return failed{t: t, pid: sampler.Some(pid), from: from, incident: explain.Incident{Command: command}}
	}
	for name, row := range map[string]struct {
		fails []failed
		want  []int
	}{
		"two programs":               {[]failed{of(10, 1, "a", fromDriver), of(20, 2, "b", fromDriver)}, []int{2}},
		"ranks of one":               {[]failed{of(20, 2, "b", fromDriver), of(21, 3, "b", fromDriver)}, []int{2, 3}},
		"the same, begun again":      {[]failed{of(10, 1, "b", fromDriver), of(20, 2, "b", fromDriver)}, []int{2}},
		"long before":                {[]failed{of(20, 2, "b", fromDriver), of(141, 3, "b", fromDriver)}, []int{3}},
		"a log tells of one before":  {[]failed{of(10, 1, "a", "log"), of(20, 2, "b", fromDriver)}, []int{1}},
		"a log, and another of this": {[]failed{of(20, 2, "b", "log"), of(21, 3, "b", fromDriver)}, []int{2, 3}},
	} {
		r := New(Options{Outline: true})
		r.fails = row.fails
		for pid, first := range map[int]float64{1: 0, 2: 15, 3: 15} {
			r.procs[sampler.ProcessKey{PID: pid}] = &processFold{Process: Process{PID: pid, First: first}}
		}
		var got []int
		for _, f := range r.ownFailures() {
			got = append(got, f.pid.Or(0))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
