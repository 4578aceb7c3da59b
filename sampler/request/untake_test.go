package request

import (
	"testing"

	"nvpeak/sampler"
)

// What a call does not give back, since it fails, is held as before: memory, a handle, and a mapping.
func TestFailed(t *testing.T) {
	const piece, at = 5, 0x7000
	release := func(s *scene, n uint64) { s.call("cuMemRelease", Call{Address: piece, Other: n, Device: -1}) }
	unmap := func(s *scene, n uint64) {
		s.call("cuMemUnmap", Call{Address: at, Size: uint64(gib), Other: n, Device: -1})
	}
	free := func(s *scene, n uint64) { s.call("cuMemFree_v2", Call{Address: 1, Other: n, Device: -1}) }
	async := func(s *scene, n uint64) { s.call("cuMemFreeAsync", Call{Address: 2, Other: n, Device: -1}) }
	fails := func(s *scene, n uint64) { s.Failed(7, n, s.now) }
	for name, row := range map[string]struct {
		do   func(s *scene)
		left sampler.Bytes // of 1 GiB, 2 of a pool, and a piece of 1 that is mapped
	}{
		"a free":                       {func(s *scene) { free(s, 90); fails(s, 90) }, 4 * gib},
		"one that did not fail":        {func(s *scene) { free(s, 90); fails(s, 91) }, 3 * gib},
		"a second one of the same":     {func(s *scene) { free(s, 90); free(s, 91); fails(s, 91) }, 3 * gib},
		"a function within it":         {func(s *scene) { free(s, 90); free(s, 91); fails(s, 91); fails(s, 90) }, 4 * gib},
		"and then it works":            {func(s *scene) { free(s, 90); fails(s, 90); free(s, 91) }, 3 * gib},
		"to a pool":                    {func(s *scene) { async(s, 90); fails(s, 90) }, 4 * gib},
		"two, of which the first did":  {func(s *scene) { free(s, 90); async(s, 91); fails(s, 90) }, 2 * gib},
		"the handle":                   {func(s *scene) { release(s, 90); fails(s, 90); unmap(s, 91) }, 4 * gib},
		"the mapping":                  {func(s *scene) { unmap(s, 90); fails(s, 90); release(s, 91) }, 4 * gib},
		"the mapping, at last":         {func(s *scene) { release(s, 90); unmap(s, 91); fails(s, 91) }, 4 * gib},
		"the mapping, then it works":   {func(s *scene) { release(s, 90); unmap(s, 91); fails(s, 91); unmap(s, 92) }, 3 * gib},
		"told twice":                   {func(s *scene) { free(s, 90); fails(s, 90); fails(s, 90) }, 4 * gib},
		"the place is somebody else's": {func(s *scene) { free(s, 90); s.alloc(1, 3*gib); fails(s, 90) }, 6 * gib},
		"what nobody knows":            {func(s *scene) { s.call("cuMemFree_v2", Call{Address: 99, Other: 90, Device: -1}); fails(s, 90) }, 4 * gib},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		s.async(0, 0, 2, 2*gib)
		s.call("cuMemCreate", Call{Address: piece, Size: uint64(gib), Device: 0})
		s.call("cuMemMap", Call{Address: at, Size: uint64(gib), Other: piece, Device: -1})
		row.do(s)
		r := s.requests(0)
		if r.Live != row.left || r.Whole != (name != "the place is somebody else's") {
			t.Errorf("%s: %v is held, not %v; whole %v", name, r.Live, row.left, r.Whole)
		}
		if s.alloc(3, 5*gib); s.requests(0).Peak != row.left+5*gib {
			t.Errorf("%s: peak %v, not %v", name, s.requests(0).Peak, row.left+5*gib)
		}
	}
	New(people{}).Failed(7, 1, noon) // of nobody
}

// What was freed between a refusal and what follows, and was not in the end, makes no near miss.
func TestFailedAfterRefusal(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, gib)
	s.refused(60 * gib)
	s.call("cuMemFree_v2", Call{Address: 1, Other: 90, Device: -1})
	s.Failed(7, 90, s.now)
	if s.alloc(2, 60*gib); s.requests(0).Refusal.Freed != 0 || s.requests(0).Refusal.Outcome != sampler.RefusalGranted {
		t.Errorf("%+v", s.requests(0).Refusal)
	}
}

// A piece is held until what has retained its handle has released it, too.
func TestRetained(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	live := func() sampler.Bytes { return s.requests(0).Live }
	release := func() { s.call("cuMemRelease", Call{Address: 5, Device: -1}) }
	retain := func(answer int) {
		s.call("cuMemRetainAllocationHandle", Call{Address: 5, Device: -1, Answer: answer})
	}
	s.call("cuMemCreate", Call{Address: 5, Size: uint64(gib), Device: 0})
	s.call("cuMemMap", Call{Address: 0x7000, Size: uint64(gib), Other: 5, Device: -1})
	release()
	retain(success)
	retain(success)
	retain(1)
	release()
	if live() != gib {
		t.Errorf("%v is held while it is mapped", live())
	}
	s.call("cuMemUnmap", Call{Address: 0x7000, Size: uint64(gib), Device: -1})
	if live() != gib {
		t.Errorf("%v is held while it is retained", live())
	}
	if release(); live() != 0 {
		t.Errorf("%v is held after all", live())
	}
	retain(success) // of what nobody knows
	if live() != 0 {
		t.Errorf("%v", live())
	}
}

// What is read while the driver gives memory back, which may take it long, may still have that. What was free later is counted from there.
func TestLingered(t *testing.T) {
	for name, lingers := range map[string]bool{"at once": false, "late": true} {
		s := newScene(t, 1, people{7: {}})
		key := s.gpus[0].Key()
		s.context(0)
		s.alloc(1, 20*gib)
		s.alloc(2, 10*gib)
		s.later(ms(100))
		s.call("cuMemFree_v2", Call{Address: 1, Other: 90, Device: -1})
		s.later(ms(100))
		used := 10 * gib
		if lingers {
			used = 30 * gib
		}
		s.Reading(key, s.now, used)
		s.later(ms(100))
		if lingers {
			s.Lingered(7, 90, s.now)
		}
		s.later(ms(10))
		s.alloc(3, 30*gib)
		s.refused(20 * gib)
		if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(8 * gib)) {
			t.Errorf("%s: %v free, not 8 GiB", name, r.Refusal.Free)
		}
	}
	New(people{}).Lingered(7, 1, noon) // of nobody
}
