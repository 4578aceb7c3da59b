package request

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Of a process that is looked at from some time on, something may be missed if it made a context before.
func TestLookedAt(t *testing.T) {
	for name, row := range map[string]struct {
		before, heard bool // it made a context before, and that is heard by then
		whole         bool
	}{"before": {true, true, false}, "heard later": {true, false, false}, "after": {false, false, true}} {
		s := newScene(t, 1, people{7: {}})
		at := s.now.Add(ms(10))
		if !row.heard {
			s.LookedAt(7, at)
		}
		if !row.before {
			s.later(ms(20))
		}
		s.context(0)
		if row.heard {
			s.LookedAt(7, at)
		}
		s.later(ms(20))
		s.alloc(1, gib)
		if r := s.requests(0); r.Whole != row.whole {
			t.Errorf("%s: whole %v", name, r.Whole)
		}
		if n := s.apply().Door.Unseen; (n == 0) != row.whole || n > 1 {
			t.Errorf("%s: calls of %d processes were not seen", name, n)
		}
	}
}

// A process has called before its new libcuda was looked at, unless its begin is seen, or it was there before calls were seen at all. That is
// told also of who is never heard, once it is gone.
func TestLibraryOfItsOwn(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(*scene)
		want int
	}{
		"heard in its middle":                                   {func(s *scene) { s.Late(7, s.now); s.alloc(1, gib); s.alloc(2, gib); s.Late(7, s.now) }, 1},
		"begins":                                                {func(s *scene) { s.Late(7, s.now); s.Begins(7); s.alloc(1, gib) }, 0},
		"had begun":                                             {func(s *scene) { s.Begins(7); s.Late(7, s.now); s.alloc(1, gib) }, 0},
		"there before":                                          {func(s *scene) { s.Late(6, s.now); s.call("cuMemAlloc_v2", Call{PID: 6, Address: 1, Size: 1000}) }, 0},
		"had just loaded it, makes a context":                   {func(s *scene) { s.Loads(7, s.now); s.context(0); s.alloc(1, gib); s.free(1) }, 0},
		"had just loaded it, begins":                            {func(s *scene) { s.Loads(7, s.now); s.Begins(7); s.context(0); s.alloc(1, gib) }, 0},
		"had just loaded it, is given memory":                   {func(s *scene) { s.Loads(7, s.now); s.alloc(1, gib) }, 1},
		"had just loaded it, knows another context":             {func(s *scene) { s.Loads(7, s.now); s.context(1); s.alloc(1, gib) }, 1},
		"had just loaded it, gives back what nobody knows":      {func(s *scene) { s.Loads(7, s.now); s.context(0); s.free(1) }, 1},
		"had just loaded it, asks a pool of the driver":         {func(s *scene) { s.Loads(7, s.now); s.context(0); s.within(0, 0, 0x9001, 1, gib); s.alloc(2, gib) }, 0},
		"had just loaded it, asks a pool that nobody knows":     {func(s *scene) { s.Loads(7, s.now); s.context(0); s.fromPool(); s.alloc(2, gib) }, 1},
		"had just loaded it, asks that last":                    {func(s *scene) { s.Loads(7, s.now); s.context(0); s.fromPool() }, 1},
		"had just loaded it, which was found late all the same": {func(s *scene) { s.Loads(7, s.now); s.Late(7, s.now); s.context(0) }, 1},
		"had just loaded it, is gone":                           {func(s *scene) { s.Loads(8, s.now); s.apply(); s.later(silent) }, 1},
		"never heard":                                           {func(s *scene) { s.Late(7, s.now) }, 0},
		"never heard, gone":                                     {func(s *scene) { s.Late(8, s.now); s.apply(); s.later(silent) }, 1},
		"began, gone":                                           {func(s *scene) { s.Late(8, s.now); s.Begins(8); s.apply(); s.later(silent) }, 0},
	} {
		s := newScene(t, 1, people{7: {}})
		row.do(s)
		for range 2 {
			snap := s.apply()
			if n := snap.Door.Unseen; n != row.want {
				t.Errorf("%s: calls of %d processes were not seen", name, n)
			}
			for _, p := range snap.GPUs[0].Processes {
				if p.Requests.Whole && row.want > 0 || strings.HasPrefix(name, "had just") && p.Requests.Whole != (row.want == 0) {
					t.Errorf("%s: whole %v", name, p.Requests.Whole)
				}
			}
		}
	}
}

func (s *scene) fromPool() {
	s.call("cuMemAllocFromPoolAsync", Call{Address: 1, Size: uint64(gib), Context: 0x9001, Device: -1})
}

// What is read while a call is at work may have what it gives, and is not counted twice.
func TestReadWithinACall(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	key := s.gpus[0].Key()
	s.Reading(key, s.now, gib)
	s.later(ms(500))
	s.Reading(key, s.now.Add(ms(-20)), 31*gib)
	s.Listed(key, s.now.Add(ms(-20)), []sampler.Process{{PID: 7, Memory: sampler.Some(30 * gib)}})
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(30 * gib), Context: 0xc000, Device: -1, Took: ms(40)})
	s.later(2 * time.Second)
	s.refused(20 * gib)
	p := s.of(0, 7)
	if free := p.Requests.Refusal.Free; !free.Equal(sampler.Some(17 * gib)) {
		t.Errorf("%v free", free)
	}
	if p.Peak != nil && p.Peak.Bytes > 31*gib {
		t.Errorf("%+v", p.Peak)
	}
}

// What a pool of the driver keeps for later is in the driver's figure for the process, and is not held: of one whose first calls were missed the lower bounds are
// without it.
func TestPoolOfWhoWasThere(t *testing.T) {
	for pool, want := range map[string]sampler.Bytes{"cuMemAllocAsync": 24 * mib, "cuMemAlloc_v2": 332*mib + 21*mib} {
		s := newScene(t, 1, people{6: {}})
		s.call(pool, Call{PID: 6, Address: 1, Size: uint64(3 * mib), Context: 0xdead, Device: -1})
		s.later(ms(100))
		s.list(0, 6, sampler.Some(332*mib)) // 300 of its context, and a step of the pool
		s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
		s.later(ms(100))
		s.call(pool, Call{PID: 6, Address: 2, Size: uint64(21 * mib), Context: 0xdead, Device: -1})
		s.later(ms(100))
		if r := s.of(0, 6).Requests; r.Peak != want || r.Live != want || r.Whole {
			t.Errorf("%s: %+v, want %v", pool, r, want)
		}
	}
}
