package report

import (
	"maps"
	"testing"
	"time"

	"nvpeak/sampler"
)

// The holders at a peak that was over when the processes were listed have its memory, too: the one who
// took it, or nobody that is known.
func TestHoldersOfSpike(t *testing.T) {
	for _, row := range []struct {
		pid  sampler.Opt[int]
		late bool // the rise is another than the peak
		want map[int]sampler.Bytes
	}{
		{sampler.Some(2), true, map[int]sampler.Bytes{1: 8 * sampler.GiB, 2: 2 * sampler.GiB}},
		{sampler.Some(2), false, map[int]sampler.Bytes{1: 8 * sampler.GiB, 2: 12 * sampler.GiB}},
		{sampler.Opt[int]{}, false, map[int]sampler.Bytes{1: 8 * sampler.GiB, 2: 2 * sampler.GiB, 0: 10 * sampler.GiB}},
	} {
		r, at := New(Options{}), time.Unix(1_700_000_000, 0).UTC()
		for i := range 5 {
			now, used := at.Add(time.Duration(i)*time.Second), 10*sampler.GiB
			m := sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(70 * sampler.GiB), Window: &sampler.Window{Min: used, Max: used, MaxTime: now, Readings: 50}}
			if i == 2 {
				m.Window.Max, m.Window.Rise, m.Window.RiseTime, m.Window.RisePID = 2*used, sampler.Some(used), sampler.Some(now), row.pid
				if row.late {
					m.Window.RiseTime = sampler.Some(now.Add(-time.Millisecond))
				}
			}
			other := sampler.GPU{Index: 1, UUID: "b", Memory: sampler.Memory{Total: m.Total, Used: m.Used}, Processes: []sampler.Process{{PID: 2, Memory: sampler.Some(3 * sampler.GiB)}}}
			r.Snapshot(&sampler.Snapshot{Time: now, GPUs: []sampler.GPU{{UUID: "a", Memory: m, Processes: []sampler.Process{
				{PID: 1, Memory: sampler.Some(8 * sampler.GiB)}, {PID: 2, Memory: sampler.Some(2 * sampler.GiB)}}}, other}})
		}
		out := r.Report()
		for _, p := range out.Processes {
			want := row.want[p.PID]
			if p.GPU == 1 {
				want = 3 * sampler.GiB
			}
			if p.AtPeak != sampler.Some(want) {
				t.Errorf("process %d of GPU %d held %v at the peak, want %v", p.PID, p.GPU, p.AtPeak, want)
			}
		}
		got := out.GPUs[0].Holders
		if len(got) != len(row.want) {
			t.Errorf("holders %+v, want %v", got, row.want)
		}
		for i, h := range got {
			if h.Bytes != row.want[h.PID] || i > 0 && h.Bytes > got[i-1].Bytes {
				t.Errorf("holders %+v, want %v", got, row.want)
			}
		}
	}
}

// A process whose own peak is of the moment at which its GPU was fullest held that then: the holders are no less than the table of processes says.
func TestHoldersAtTheirOwnPeak(t *testing.T) {
	for name, row := range map[string]struct {
		before time.Duration // of the peak of the process, before that of the GPU
		want   map[int]sampler.Bytes
	}{
		"at the same moment": {0, map[int]sampler.Bytes{1: 8 * gibs, 2: 11 * gibs, 0: gibs}},
		"before":             {time.Millisecond, map[int]sampler.Bytes{1: 8 * gibs, 2: 2 * gibs, 0: 2 * gibs}},
	} {
		r := New(Options{Outline: true})
		for i := range 4 {
			p := job(2, 2*gibs)
			s := card(float64(i), 80*gibs, 12*gibs, job(1, 8*gibs), p)
			g := &s.GPUs[0]
			g.Memory.Unattributed = sampler.Some(2 * gibs)
			if i == 2 {
				at := s.Time.Add(-time.Second / 2)
				g.Memory.Window = &sampler.Window{Min: 12 * gibs, Max: 20 * gibs, MaxTime: at, Readings: 50}
				g.Processes[1].Peak = &sampler.Peak{Bytes: 11 * gibs, Time: at.Add(-row.before), Source: sampler.PeakCalls}
			}
			r.Snapshot(s)
		}
		got := map[int]sampler.Bytes{}
		for _, h := range r.Report().GPUs[0].Holders {
			got[h.PID] = h.Bytes
		}
		if !maps.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
