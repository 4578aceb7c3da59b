package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// Of a process that was there before nobody knows how much the blocks were that it gives back: what it holds is told as a lower bound, and its peak never as
// less than that. The next list knows it anew.
func TestBlocksOfBeforeAreGivenBack(t *testing.T) {
	s := newScene(t, 1, people{6: {}})
	key, has := s.gpus[0].Key(), 4*gib
	s.list(0, 6, sampler.Some(has))
	s.alloc6(1, 100*mib)
	has += 100 * mib
	most := has
	list := func(took time.Duration) {
		s.later(ms(200))
		s.Tracker.Listed(key, s.now, took, []sampler.Process{{PID: 6, Memory: sampler.Some(has)}})
		s.later(ms(200))
	}
	list(0)
	check := func(what string, want sampler.Bytes) {
		t.Helper()
		r := s.of(0, 6).Requests
		if r.Live != want || r.Live > has || r.Peak < r.Live || r.Peak > most || r.Whole {
			t.Errorf("%s: live %v, peak %v; want %v of %v, at most %v", what, r.Live, r.Peak, want, has, most)
		}
	}
	check("at first", has)
	s.free6(0x777)
	has -= gib
	check("a block of before is gone", 100*mib)
	s.alloc6(2, 900*mib)
	has += 900 * mib
	check("and more was given", 1000*mib)
	list(0)
	check("a list knows", has)
	s.free6(0x778)
	has -= gib
	check("another one is gone", 1000*mib)
	s.call("cuMemAlloc_v2", Call{PID: 6, Size: uint64(40 * gib), Context: 0xdead, Device: -1, Answer: outOfMemory})
	s.alloc6(3, 10*mib)
	has += 10 * mib
	list(0)
	check("it must not look as if it went on after a refusal", 1010*mib)
	s.later(matters)
	check("until that is no matter any more", has)
}

// A list that was asked for before a block of before was given back, and came after it, may have that still: it tells neither what is held nor a peak.
func TestBlockOfBeforeIsGivenBackAmidAList(t *testing.T) {
	for _, after := range []time.Duration{ms(10), ms(100), ms(190)} {
		s := newScene(t, 1, people{6: {}})
		key := s.gpus[0].Key()
		s.list(0, 6, sampler.Some(600*mib))
		s.alloc6(1, 10*mib)
		s.later(ms(300))
		s.free6(0x777) // of 120 MiB
		s.later(ms(200) - after)
		s.Tracker.Listed(key, s.now, ms(200), []sampler.Process{{PID: 6, Memory: sampler.Some(600 * mib)}})
		s.later(ms(300))
		for i := range uint64(10) {
			s.alloc6(2+i, 50*mib)
		}
		p := s.of(0, 6)
		if held := (480 + 500) * mib; p.Requests.Live > held || p.Requests.Peak > held || p.Peak != nil && p.Peak.Bytes > held {
			t.Errorf("%v before the list: live %v, peak %v, %+v; held %v", after, p.Requests.Live, p.Requests.Peak, p.Peak, held)
		}
	}
}

func (s *scene) alloc6(at uint64, n sampler.Bytes) {
	s.call("cuMemAlloc_v2", Call{PID: 6, Address: at, Size: uint64(n), Context: 0xdead, Device: -1})
}

func (s *scene) free6(at uint64) { s.call("cuMemFree_v2", Call{PID: 6, Address: at, Device: -1}) }
