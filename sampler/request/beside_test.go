package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// What another process is known to have done on a GPU, and what is seen only once, places no request of a thread whose context was set before anybody
// looked. The driver's figures for the process do.
func TestCoincidence(t *testing.T) {
	const n = 440 * mib
	own, other := 7, 8
	for name, row := range map[string]struct {
		others  sampler.Bytes // what process 8 asks for on GPU 0 each time
		context bool          // it makes one there
		unseen  [2]int        // MiB that somebody moves by calls that are not seen
		figures bool          // the driver says what process 7 has
		times   int
		want    int // -1: not known
	}{
		"once":                              {times: 1, want: -1},
		"again":                             {times: 2, want: 1},
		"once, and the figure says so":      {times: 1, figures: true, want: 1},
		"another's call, hidden on its own": {others: n, unseen: [2]int{0, -440}, times: 6, want: -1},
		"the same, with figures":            {others: n, unseen: [2]int{0, -440}, figures: true, times: 2, want: 1},
		"another's call beside":             {others: n, times: 2, want: 1},
		"a smaller call beside":             {others: 100 * mib, times: 2, want: 1},
		"another's context, twice":          {context: true, unseen: [2]int{436, -440}, times: 2, want: -1},
	} {
		s := newScene(t, 2, people{own: {}, other: {Environment: map[string]string{}}})
		s.list(0, own, sampler.Some(gib))
		s.list(1, own, sampler.Some(gib))
		used := [2]sampler.Bytes{10 * gib, 10 * gib}
		has := [2]sampler.Bytes{gib, gib}
		tick := func() {
			for i := range used {
				s.Reading(s.gpus[i].Key(), s.now, used[i])
				if row.figures {
					s.Listed(s.gpus[i].Key(), s.now, []sampler.Process{{PID: own, Memory: sampler.Some(has[i])}})
				}
			}
		}
		var told []sampler.Request
		apply := func() { told = append(told, s.apply().Requests...) }
		tick()
		s.later(ms(300))
		for i := range uint64(row.times) {
			s.call("cuMemAlloc_v2", Call{PID: own, Address: 1 + i, Size: uint64(n), Context: 0xdead, Device: -1})
			if row.others > 0 {
				s.call("cuMemAlloc_v2", Call{PID: other, Address: 1 + i, Size: uint64(row.others), Device: 0})
			}
			if row.context {
				s.call("cuCtxCreate_v2", Call{PID: other, Address: 0xc100 + i, Device: 0, Took: ms(1)})
			}
			used[0] += row.others
			used[1] += n
			has[1] += n
			for i := range used {
				used[i] = sampler.Bytes(int64(used[i]) + int64(row.unseen[i])*int64(mib))
			}
			s.later(ms(40))
			tick()
			s.later(ms(300))
			apply()
			s.later(ms(400))
			apply()
			tick() // a process list takes in what was at rest
		}
		for range 3 {
			s.later(time.Second)
			apply()
		}
		got := -1
		for i, r := range told {
			switch {
			case r.PID != own:
			case !r.GPU.Known():
			case r.GPU.Or(-1) != 1:
				t.Errorf("%s: request %d on GPU %d", name, i, r.GPU.Or(-1))
			default:
				got = 1
			}
		}
		if got != row.want {
			t.Errorf("%s: GPU %d, not %d", name, got, row.want)
		}
		if got < 0 {
			continue
		}
		if p := s.of(1, own); p.Peak != nil && p.Peak.Source == sampler.PeakCalls {
			t.Errorf("%s: a peak on a GPU that is guessed is called exact", name)
		}
	}
}

// What the driver says of a process from one list to the next is evidence for its one thread, not for one of several, of which another may have moved as much;
// nor where it gave back meanwhile what it had before anybody looked.
func TestFiguresOfSeveral(t *testing.T) {
	for name, row := range map[string]struct {
		threads int
		unknown bool
		judged  bool
	}{
		"one thread": {1, false, true},
		"two":        {2, false, false},
		"one, and memory of before is given back": {1, true, false},
	} {
		s := newScene(t, 2, people{7: {}})
		has := [2]sampler.Bytes{gib, gib}
		listed := func() {
			for i := range s.gpus {
				s.gpus[i].Processes = nil
				s.list(i, 7, sampler.Some(has[i]))
			}
			s.listAll()
			s.later(ms(20))
		}
		s.Late(7, s.now)
		listed()
		for i := range row.threads {
			s.call("cuMemAlloc_v2", Call{TID: 8 + i, Address: uint64(8 + i), Size: uint64(64 * mib), Device: -1})
			has[i] += 64 * mib
		}
		if row.unknown {
			s.call("cuMemFree_v2", Call{TID: 8, Address: 1 << 40, Device: -1})
		}
		s.later(ms(100))
		listed()
		judged := false
		for _, f := range s.processes[7].seats[0].follow {
			judged = judged || f.judged > 0
		}
		if judged != row.judged {
			t.Errorf("%s: judged by the figures: %v", name, judged)
		}
	}
}
