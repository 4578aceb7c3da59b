package request

import (
	"testing"

	"nvpeak/sampler"
)

// What a context takes of the GPU no call tells: where nobody has read since it was made, what was free is not known. Nor is it where more would
// be in use than there is, for the reading had the grant already.
func TestFreeUnknown(t *testing.T) {
	for name, row := range map[string]struct {
		used, after sampler.Bytes
		ended       bool
		free        sampler.Opt[sampler.Bytes]
	}{
		"nothing is read after":          {used: gib},
		"it is gone by then":             {used: gib, after: 2 * gib, ended: true},
		"it is there still":              {used: gib, after: 42 * gib, free: sampler.Some(6 * gib)},
		"the reading has the grant, too": {used: 42 * gib},
	} {
		s := newScene(t, 1, people{7: {}})
		s.Reading(s.gpus[0].Key(), s.now, row.used)
		s.later(ms(20))
		s.context(0)
		s.alloc(1, 40*gib)
		s.refused(20 * gib)
		if row.ended {
			s.Ended(7, s.now, 256)
		}
		s.later(ms(15))
		if row.after > 0 {
			s.Reading(s.gpus[0].Key(), s.now, row.after)
		}
		r := s.requests(0).Refusal
		if !r.Free.Equal(row.free) || r.FreeAge.Known() != row.free.Known() {
			t.Errorf("%s: %v free, by a reading of %v ms; want %v", name, r.Free, r.FreeAge, row.free)
		}
	}
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.later(ms(3))
	s.Reading(s.gpus[0].Key(), s.now, 41*gib)
	s.now = s.now.Add(ms(3))
	s.alloc(1, 40*gib)
	s.refused(20 * gib)
	if r := s.requests(0).Refusal; r.Free.Known() {
		t.Errorf("counted twice: %v free", r.Free)
	}
}

// leaving is a host whose process ends before its first request is looked at.
type leaving struct {
	people
	gone bool
	was  map[int]sampler.Process
}

func (h *leaving) Identify(list []sampler.Process) {
	if !h.gone {
		h.people.Identify(list)
		h.was[list[0].PID] = list[0]
		return
	}
	for i := range list {
		if p, ok := h.was[list[i].PID]; ok {
			list[i] = p
			list[i].Visible, list[i].Ended = false, true
		}
	}
}

// Who a process is, and with that its GPU, is known if it was met before it asked, however soon it ended.
func TestMet(t *testing.T) {
	for _, met := range []bool{true, false} {
		h := &leaving{people: people{7: {Name: "python", Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "1"}}}, was: map[int]sampler.Process{}}
		s := newScene(t, 2, nil)
		s.Tracker = New(h)
		s.Begin(nil)
		s.apply()
		if met {
			s.Meet(7)
		}
		h.gone = true
		s.context(0)
		s.alloc(1, 40*gib)
		s.refused(20 * gib)
		s.Ended(7, s.now, 256)
		rows := s.apply().GPUs[1].Processes
		if !met {
			if len(rows) != 0 {
				t.Errorf("not met: %+v", rows)
			}
			continue
		}
		if len(rows) != 1 || rows[0].Ended || rows[0].Name != "python" || rows[0].Requests.Refused != 1 || rows[0].Requests.ExitStatus.Or(0) != 1 {
			t.Errorf("met: %+v", rows)
		}
	}
}
