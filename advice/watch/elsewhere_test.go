package watch

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// A process that is refused a context on one GPU, makes one on another, is granted memory there and fails some seconds later did not
// die of the refusal; one that was on the other GPU already, is granted nothing to speak of there, or fails at once, did.
func TestWentElsewhere(t *testing.T) {
	for name, row := range map[string]struct {
		came, ends int // seconds after the refusal
		granted    sampler.Bytes
		want       int // deaths
	}{
		"goes on on another GPU":  {1, 8, 3 * gib, 0},
		"is granted next to none": {1, 8, mib, 1},
		"was there before":        {-1, 8, 3 * gib, 1},
		"fails at once":           {0, 1, 3 * gib, 1},
	} {
		w := New(Options{})
		for i := range 5 + row.ends {
			s := snapshotOf(float64(i), 16384, 5000)
			other := s.GPUs[0]
			other.Index, other.UUID, other.Processes = 1, "GPU-other", nil
			proc := func(r sampler.Requests) sampler.Process {
				p := processOf(7, "python a.py", 0)
				p.Memory, p.StartTime, r.Whole = sampler.Opt[sampler.Bytes]{}, sampler.Some(drivenTime(0.3)), true
				if i == 2+row.ends {
					r.ExitStatus = sampler.Some(1)
				}
				p.Requests = &r
				return p
			}
			if i == 2 || i == 2+row.ends {
				s.GPUs[0].Processes = []sampler.Process{proc(sampler.Requests{Refused: 1,
					Refusal: &sampler.Refusal{Time: drivenTime(1.9), Function: "cuCtxCreate_v4", Tries: 1, Free: sampler.Some(100 * mib)}})}
			}
			if i >= 2+row.came && i <= 2+row.ends {
				other.Processes = []sampler.Process{proc(sampler.Requests{Granted: 1, Live: row.granted, Largest: row.granted, Peak: row.granted})}
			}
			s.GPUs, s.Door = append(s.GPUs, other), &sampler.Door{}
			w.Add(s)
		}
		if deaths := w.Deaths(); len(deaths) != row.want {
			t.Errorf("%s: %d deaths, want %d", name, len(deaths), row.want)
		}
	}
}

// A process that is refused a context on one GPU, where it holds nothing, and is granted memory on the one that it has used before goes on. All of
// that may be in one snapshot.
func TestWentBack(t *testing.T) {
	for name, row := range map[string]struct {
		at      float64 // when it is granted some; it is refused at 1.9
		granted sampler.Bytes
		ends    int // seconds after the snapshot that tells so
		want    int // deaths
	}{
		"goes on":                 {1.95, 3 * gib, 6, 0},
		"at the same moment":      {1.9, 3 * gib, 6, 0},
		"in the next snapshot":    {2.3, 3 * gib, 6, 0},
		"was granted that before": {1.85, 3 * gib, 6, 1},
		"is granted next to none": {1.95, mib, 3, 1},
		"fails at once":           {1.95, 0, 1, 1},
		"at once, granted little": {1.95, mib, 1, 1},
		"less than an eighth":     {1.95, 128*mib - 1, 1, 1},
		"in place of a context":   {1.95, 128 * mib, 1, 0},
	} {
		w := New(Options{})
		for i := range 5 + row.ends {
			s := snapshotOf(float64(i), 16384, 5000)
			other := s.GPUs[0]
			other.Index, other.UUID = 1, "GPU-other"
			p := processOf(7, "python a.py", 6000)
			p.StartTime, p.Requests = sampler.Some(drivenTime(0.3)), &sampler.Requests{Granted: 1, Live: 6 * gib, Largest: 6 * gib, Peak: 6 * gib, Whole: true}
			q := p
			q.Memory, q.Requests = sampler.Opt[sampler.Bytes]{}, &sampler.Requests{Refused: 1, Whole: true,
				Refusal: &sampler.Refusal{Time: drivenTime(1.9), Function: "cuDevicePrimaryCtxRetain", Tries: 1}}
			if i == 2+row.ends {
				q.Requests.ExitStatus, p.Requests.ExitStatus = sampler.Some(1), sampler.Some(1)
			}
			if i <= 2+row.ends {
				other.Processes = []sampler.Process{p}
			}
			if i >= 2 && i <= 2+row.ends {
				s.GPUs[0].Processes = []sampler.Process{q}
			}
			if at := drivenTime(row.at); row.granted > 0 && !at.After(s.Time) && at.After(s.Time.Add(-time.Second)) {
				s.Requests = []sampler.Request{{Time: at, PID: 7, GPU: sampler.Some(1), UUID: "GPU-other", Bytes: row.granted, Function: "cuMemAlloc_v2"}}
			}
			s.GPUs, s.Door = append(s.GPUs, other), &sampler.Door{}
			w.Add(s)
		}
		if deaths := w.Deaths(); len(deaths) != row.want {
			t.Errorf("%s: %d deaths, want %d", name, len(deaths), row.want)
		}
	}
}

// A process that was refused on two GPUs, or on one that is known and one that is not, has died once: of the last refusal.
func TestDiesOnce(t *testing.T) {
	context := func(at float64) *sampler.Refusal {
		return &sampler.Refusal{Time: drivenTime(at), Function: "cuDevicePrimaryCtxRetain", Tries: 1}
	}
	memory := func(at float64) *sampler.Refusal {
		return &sampler.Refusal{Time: drivenTime(at), Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", Tries: 1}
	}
	for name, row := range map[string]struct {
		here, there, nowhere *sampler.Refusal
		after                int // snapshots after the first, in which the second is told
		want                 int // GPU; -1: none
	}{
		"two contexts":                      {context(4.1), context(4.2), nil, 0, 1},
		"the other way round":               {context(4.2), context(4.1), nil, 0, 0},
		"a context, then memory of another": {context(4.1), memory(4.2), nil, 0, 1},
		"one after another":                 {context(4.1), context(4.2), nil, 1, 0},
		"and where nobody knows":            {context(4.1), nil, context(4.2), 0, -1},
	} {
		w := New(Options{})
		for i := range 9 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 40900), gpuOf(1, 40960, 40900)}, Door: &sampler.Door{}}
			s.GPUs[0].UUID, s.GPUs[1].UUID = "a", "b"
			proc := func(r *sampler.Refusal) []sampler.Process {
				p := processOf(7, "python a.py", 0)
				p.Memory, p.StartTime = sampler.Opt[sampler.Bytes]{}, sampler.Some(drivenTime(0.3))
				p.Requests = &sampler.Requests{Refused: 1, Whole: true, Refusal: r, ExitStatus: sampler.Some(1)}
				return []sampler.Process{p}
			}
			if i == 5 {
				s.GPUs[0].Processes = proc(row.here)
			}
			if i == 5+row.after && row.there != nil {
				s.GPUs[1].Processes = proc(row.there)
			}
			if i == 5 && row.nowhere != nil {
				s.Unplaced = proc(row.nowhere)
			}
			w.Add(s)
		}
		if list := w.Open(); len(list) != 1 || list[0].Level != sampler.LevelCritical || list[0].GPU.Or(-1) != row.want {
			t.Errorf("%s: %d alerts: %+v", name, len(list), list)
		}
		if deaths := w.Deaths(); len(deaths) != 1 {
			t.Errorf("%s: %d deaths", name, len(deaths))
		}
	}
}
