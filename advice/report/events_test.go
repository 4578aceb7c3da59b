package report

import (
	"fmt"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Marks up to a minute outside of the recording are told at its ends, others not; a stage is no phase.
func TestMarkBounds(t *testing.T) {
	for at, want := range map[float64]string{-61: "[]", -60: "[0-100]", 0: "[0-100]", 50: "[50-100]", 160: "[100-100]", 161: "[]"} {
		r := New(Options{Outline: true})
		mark := func(kind string) sampler.LogMark {
			return sampler.LogMark{Kind: kind, Time: sampler.Some(time.Unix(1000, 0).Add(seconds(at)))}
		}
		r.Marks([]sampler.LogMark{mark(sampler.MarkStage), mark(sampler.MarkEpoch), mark(sampler.MarkAllocator), {Kind: sampler.MarkEpoch, N: sampler.Some(9)}})
		for _, second := range []float64{0, 50, 100} {
			r.Snapshot(card(second, 48*gibs, gibs))
		}
		got := []string{}
		out := r.Report()
		for _, p := range out.Phases {
			got = append(got, fmt.Sprintf("%v-%v", p.T, p.End))
		}
		if fmt.Sprint(got) != want || len(out.Readings) != len(out.Phases) {
			t.Errorf("at %v s: %v and %d readings, want %v", at, got, len(out.Readings), want)
		}
	}
}

// A phase goes on until another kind or number begins.
func TestPhases(t *testing.T) {
	r := New(Options{Outline: true})
	mark := func(second float64, kind string, n int) {
		r.Marks([]sampler.LogMark{{Kind: kind, N: sampler.Some(n), Time: sampler.Some(time.Unix(1000, 0).Add(seconds(second)))}})
	}
	mark(0, sampler.MarkEpoch, 1)
	mark(10, sampler.MarkEpoch, 1)
	mark(20, sampler.MarkValidation, 1)
	mark(30, sampler.MarkEpoch, 2)
	mark(40, sampler.MarkEpoch, 3)
	for second := range 61 {
		r.Snapshot(card(float64(second), 100*gibs, sampler.Bytes(1+second)*gibs))
	}
	want := "epoch 1 0-20 20, validation 1 20-30 30, epoch 2 30-40 40, epoch 3 40-60 60, "
	got := ""
	for _, p := range r.Report().Phases {
		got += fmt.Sprintf("%s %d %v-%v %d, ", p.Kind, p.N.Or(0), p.T, p.End, p.Peak.Or(0)/gibs)
	}
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Starts and ends that only the snapshots show are told, unless the recording tells them itself; what was there
// from the first snapshot on did not start.
func TestEventsOfSnapshots(t *testing.T) {
	for name, row := range map[string]struct {
		told []Event
		want string
	}{
		"of the snapshots": {nil, "1 process_start 7, 3 process_end 7, "},
		"told":             {[]Event{{Kind: "process_start", PID: sampler.Some(7)}, {Kind: "process_end", PID: sampler.Some(7)}}, "1 process_end 7, 1 process_start 7, "}, // by time, then by kind
		"of another":       {[]Event{{Kind: "process_end", PID: sampler.Some(8)}}, "1 process_end 8, 1 process_start 7, 3 process_end 7, "},
	} {
		r := New(Options{Outline: true})
		for second := range 6 {
			list := []sampler.Process{job(1, gibs)}
			if second >= 1 && second <= 3 {
				list = append(list, job(7, 20*gibs))
			}
			r.Snapshot(card(float64(second), 48*gibs, 30*gibs, list...))
			for _, e := range row.told {
				if second == 1 {
					e.Time = r.at
					r.Event(e)
				}
			}
		}
		got := ""
		for _, e := range r.Report().Events {
			got += fmt.Sprintf("%v %s %d, ", e.T, e.Kind, e.PID.Or(0))
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
	r := New(Options{Outline: true})
	r.Snapshot(card(0, 48*gibs, 30*gibs))
	r.Snapshot(card(1, 48*gibs, 0))
	if list := r.Report().Events; len(list) != 0 {
		t.Errorf("the end of nobody: %+v", list)
	}
}

// A failure that a log tells on a GPU is an event on that one, as its alert is, though a process on another one ended at that time.
func TestEventOnPrintedGPU(t *testing.T) {
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		want  sampler.Opt[int]
	}{
		"printed":           {sampler.OOMEvent{GPUIndex: sampler.Some(1)}, sampler.Some(1)},
		"of a process":      {sampler.OOMEvent{PID: sampler.Some(2)}, sampler.Some(1)},
		"not told: the end": {sampler.OOMEvent{}, sampler.Some(0)},
	} {
		r := New(Options{})
		for second := range 9 {
			s := card(float64(second), 48*gibs, 40*gibs)
			s.GPUs = append(s.GPUs, s.GPUs[0])
			s.GPUs[1].Index, s.GPUs[1].UUID = 1, "b"
			if second < 6 {
				s.GPUs[0].Processes = []sampler.Process{job(1, 40*gibs)}
			}
			s.GPUs[1].Processes = []sampler.Process{job(2, 40*gibs)}
			r.Snapshot(s)
			if second == 6 {
				r.OOM(row.event, r.at, "recording")
			}
		}
		for _, e := range r.Report().Events {
			if e.Kind == "oom" && e.GPU != row.want {
				t.Errorf("%s: on GPU %v", name, e.GPU)
			}
		}
	}
}
