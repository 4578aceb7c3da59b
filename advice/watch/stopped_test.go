package watch

import (
	"testing"

	"nvpeak/sampler"
)

// What a process held before anybody looked may become known after it was refused: that is no grant.
func TestKnownLater(t *testing.T) {
	for name, row := range map[string]struct {
		granted int
		went    bool
	}{"known": {4, false}, "granted": {5, true}} {
		var a asking
		refusal := &sampler.Refusal{Time: drivenTime(1), Bytes: 7 * gib, Tries: 2}
		a.fold(&sampler.Requests{Granted: 4, Live: 11 * gib, Whole: true}, 0, drivenTime(0), 5000)
		a.fold(&sampler.Requests{Granted: 4, Refused: 2, Live: 11 * gib, Whole: true, Refusal: refusal}, 1, drivenTime(1), 5000)
		a.fold(&sampler.Requests{Granted: row.granted, Refused: 2, Live: 11*gib + 300*mib, Refusal: refusal}, 2, drivenTime(2), 5000)
		if a.wentOn() != row.went {
			t.Errorf("%s: %v", name, !row.went)
		}
	}
}

// Who is granted memory after a refusal goes on, on whatever GPU that is.
func TestGrantedSomewhere(t *testing.T) {
	for name, row := range map[string]struct {
		gpu  sampler.Opt[int]
		dies bool
	}{"of which GPU?": {sampler.Opt[int]{}, false}, "of another": {sampler.Some(1), false}, "none": {sampler.Some(0), true}} {
		w := ends(2, func(second int, s *sampler.Snapshot) {
			if second != 5 {
				return
			}
			s.Requests = []sampler.Request{{Time: drivenTime(4.3), PID: 7, GPU: sampler.Some(0), Bytes: 15 * gib, Answer: 2, Function: "cuMemAlloc_v2"}}
			if !row.dies {
				s.Requests = append(s.Requests, sampler.Request{Time: drivenTime(4.34), PID: 7, GPU: row.gpu, Bytes: gib, Function: "cuMemAlloc_v2"})
			}
		})
		if got := len(w.Deaths()); (got > 0) != row.dies {
			t.Errorf("%s: %d deaths", name, got)
		}
	}
}

// How long a process lived on after its refusal is counted until it ended, not until that was told, where both are known.
func TestEndsBeforeItIsTold(t *testing.T) {
	for name, row := range map[string]struct {
		lived float64 // after the refusal; 0: only that it has ended is known
		dies  bool
	}{"in time": {9.9, true}, "later": {10.1, false}, "not known": {0, false}} {
		w := New(Options{})
		for i := range 17 {
			s := snapshotOf(float64(i), 16384, 5000)
			p := processOf(7, "python a.py", 6000)
			p.Requests = &sampler.Requests{Granted: 3, Live: 6 * gib, Largest: 6 * gib, Peak: 6 * gib, Whole: true}
			if i >= 4 {
				p.Requests.Refused, p.Requests.Refusal = 3, &sampler.Refusal{Time: drivenTime(4), Bytes: 15 * gib, Smallest: 15 * gib, Function: "cuMemAlloc_v2", Tries: 3}
			}
			if i == 15 {
				p.Requests.ExitStatus = sampler.Some(137)
				if row.lived > 0 {
					p.Requests.ExitTime = drivenTime(4 + row.lived)
				}
			}
			if i <= 15 {
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			w.Add(s)
		}
		if deaths := w.Deaths(); (len(deaths) > 0) != row.dies {
			t.Errorf("%s: %d deaths", name, len(deaths))
		}
	}
}

// What another thread had called for before the refusal, and was granted after it, says nothing of what came of that, wherever it is.
func TestGrantedAmid(t *testing.T) {
	for name, row := range map[string]struct {
		gpu, tid, took int
		later          bool // in the next snapshot
		dies           bool
	}{
		"elsewhere, called for before": {1, 9, 60, false, true}, "elsewhere, since": {1, 9, 30, false, false}, "told later": {1, 9, 60, true, true},
		"here, called for before": {0, 9, 60, false, true}, "here, since": {0, 9, 30, false, false}, "here, told later": {0, 9, 60, true, true},
	} {
		w := New(Options{})
		for i := range 14 {
			s := snapshotOf(float64(i), 16384, 5000)
			s.GPUs[0].UUID = "a"
			other := s.GPUs[0]
			other.Index, other.UUID = 1, "b"
			s.GPUs, s.Door = append(s.GPUs, other), &sampler.Door{}
			p := processOf(7, "python a.py", 6000)
			p.Requests = &sampler.Requests{Granted: 3, Live: 6 * gib, Largest: 6 * gib, Peak: 6 * gib, Whole: true}
			if i >= 5 {
				p.Requests.Refused, p.Requests.Refusal = 3, &sampler.Refusal{Time: drivenTime(4.9), Bytes: 15 * gib, Smallest: 15 * gib, Function: "cuMemAlloc_v2", Tries: 3}
			}
			granted := 5
			if row.later {
				granted = 6
			}
			if i == 5 {
				s.Requests = []sampler.Request{{Time: drivenTime(4.9), PID: 7, GPU: sampler.Some(0), UUID: "a", Bytes: 15 * gib, Answer: 2, Function: "cuMemAlloc_v2"}}
			}
			if i == granted {
				s.Requests = append(s.Requests, sampler.Request{Time: drivenTime(4.95), PID: 7, TID: row.tid, GPU: sampler.Some(row.gpu), UUID: s.GPUs[row.gpu].UUID, Bytes: gib, Function: "cuMemAlloc_v2", Took: row.took})
			}
			if i >= granted && row.gpu == 0 {
				p.Requests.Granted, p.Requests.Live = 4, 7*gib
			}
			if i == 11 {
				p.Requests.ExitStatus, p.Requests.ExitTime = sampler.Some(1), drivenTime(10.9)
			}
			if i <= 11 {
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			w.Add(s)
		}
		if deaths := w.Deaths(); (len(deaths) > 0) != row.dies {
			t.Errorf("%s: %d deaths", name, len(deaths))
		}
	}
}

// Who has given back all that it had on a GPU, and is refused once more, has failed where it is ended at once, if it works on another GPU, too: of one
// alone it may wait for room.
func TestEmptiedGPU(t *testing.T) {
	for name, row := range map[string]struct {
		gpu    int // where it was granted memory before
		tries  int
		freed  sampler.Bytes
		status int
		lived  float64
		dies   bool
	}{
		"it works on another":     {1, 2, 3 * gib, 137, 0.1, true},
		"by SIGTERM":              {1, 2, 3 * gib, 143, 1.9, true},
		"it lived on for a while": {1, 2, 3 * gib, 137, 2.1, false},
		"on no other":             {0, 2, 3 * gib, 137, 0.1, false},
		"it asked once":           {1, 1, 0, 137, 0.1, false},
	} {
		w := New(Options{})
		for i := range 12 {
			s := snapshotOf(float64(i), 16384, 5000)
			s.GPUs = append(s.GPUs, s.GPUs[0])
			s.GPUs[1].Index, s.GPUs[1].UUID = 1, "GPU-1"
			p := processOf(7, "python a.py", 3000)
			p.Requests = &sampler.Requests{Granted: 3, Live: 3 * gib, Largest: 3 * gib, Peak: 3 * gib, Whole: true}
			if i == 3 {
				s.Requests = []sampler.Request{{Time: drivenTime(2.5), PID: 7, GPU: sampler.Some(row.gpu), Bytes: gib, Function: "cuMemAlloc_v2"}}
			}
			if i >= 7 {
				p.Requests.Live, p.Requests.Refused = 0, row.tries
				p.Requests.Refusal = &sampler.Refusal{Time: drivenTime(6), Bytes: 15 * gib, Smallest: 15 * gib, Function: "cuMemAlloc_v2", Tries: row.tries, Freed: row.freed}
			}
			if i == 9 {
				p.Requests.ExitStatus, p.Requests.ExitTime = sampler.Some(row.status), drivenTime(6+row.lived)
			}
			if i <= 9 {
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			w.Add(s)
		}
		if got := len(w.Deaths()); (got > 0) != row.dies {
			t.Errorf("%s: %d deaths", name, got)
		}
	}
}
