package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// A process of which what it gives back is not looked at takes and gives memory all the time beside one that is refused some. What is free is
// told by the last reading and the calls of all others since, and as about so much.
func TestFreeBesideOneNotHeard(t *testing.T) {
	const own = 3 * gib // taken right before the refusal, after the reading
	for name, row := range map[string]struct {
		letGo  string
		ended  bool          // the other one, by then
		later  time.Duration // than the last reading it is refused
		unread time.Duration // of that
		about  bool
		known  bool // how much is free
	}{
		"frees are not heard":    {"cuMemFree_v2", false, ms(24), ms(24), true, true},
		"nor what it is given":   {"cuMemAlloc_v2", false, ms(24), ms(24), true, true},
		"the machine stalls":     {"cuMemFree_v2", false, ms(424), ms(424), true, false},
		"what is read stands":    {"cuMemFree_v2", false, ms(424), ms(24), true, true},
		"contexts are not heard": {"cuCtxSetCurrent", false, ms(24), ms(24), false, true}, // all that moves memory is
		"it has ended meanwhile": {"cuMemFree_v2", true, ms(24), ms(24), false, true},
		"all is heard":           {"", false, ms(424), ms(424), false, true},
	} {
		host := people{7: {}, 8: {}, 9: {}}
		s := newScene(t, 2, host)
		s.sweeps = true
		s.context(0)
		s.call("cuDevicePrimaryCtxRetain", Call{PID: 8, Address: 0xc000, Device: 0})
		s.list(0, 7, sampler.Some(gib))
		s.list(0, 8, sampler.Some(gib))
		s.list(1, 9, sampler.Some(gib))
		s.Reading(s.gpus[0].Key(), s.now, 31*gib)
		s.later(ms(600))
		s.apply()
		if row.letGo != "" {
			s.LetGo(8, function(row.letGo), s.now.Add(10*time.Second))
		}
		at := uint64(0)
		give := func() { // 20 MiB, for a moment
			at++
			if row.letGo != "cuMemAlloc_v2" {
				s.call("cuMemAlloc_v2", Call{PID: 8, Address: at, Size: uint64(20 * mib), Context: 0xc000, Device: -1})
			}
			if row.letGo != "cuMemFree_v2" {
				s.call("cuMemFree_v2", Call{PID: 8, Address: at, Device: -1})
			}
		}
		for round := range 12 { // readings each 20 ms; in the end with a call so near that it may be in them or not
			s.Reading(s.gpus[0].Key(), s.now, 31*gib+sampler.Bytes(round%2)*mib)
			if round < 7 {
				s.later(ms(5))
			}
			give()
			s.later(ms(5))
			give()
			s.later(ms(10))
		}
		if row.ended {
			delete(host, 8)
			s.gpus[0].Processes = s.gpus[0].Processes[:1]
			s.later(ms(20))
			s.Reading(s.gpus[0].Key(), s.now, 31*gib)
			s.later(ms(5))
			s.apply()
		}
		s.later(row.later - ms(20) - time.Millisecond)
		s.ReadUntil(s.now.Add(-row.unread))
		s.alloc(1000, own)
		s.later(ms(3))
		s.refused(20 * gib)
		r := s.requests(0).Refusal
		free, known := r.Free.Value()
		if known != row.known || known && (free > 14*gib || free < 14*gib-20*mib || r.FreeAbout != row.about || row.about && r.FreeAge.Or(99) > 40) {
			t.Errorf("%s: %v free, about %v, by a reading of %v ms", name, r.Free, r.FreeAbout, r.FreeAge)
		}
		s.refused(10 * gib) // less than about what is free
		if r := s.requests(0).Refusal; r.Free.Known() == row.about || r.FreeAbout {
			t.Errorf("%s: 10 GiB refused with %v free, about %v", name, r.Free, r.FreeAbout)
		}
		s.Reading(s.gpus[1].Key(), s.now, gib)
		s.call("cuDevicePrimaryCtxRetain", Call{PID: 9, Address: 0xc001, Device: 1})
		s.call("cuMemAlloc_v2", Call{PID: 9, Size: uint64(60 * gib), Context: 0xc001, Device: -1, Answer: outOfMemory})
		if r := s.of(1, 9).Requests.Refusal; r.FreeAbout {
			t.Errorf("%s: on another GPU, too: %+v", name, r)
		}
	}
}
