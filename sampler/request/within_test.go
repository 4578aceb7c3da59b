package request

import (
	"testing"

	"nvpeak/sampler"
)

// within is a call of cuMemAllocAsync on a stream, while the context of a device is current, that asks a pool for memory by another function.
func (s *scene) within(device int, stream, pool, at uint64, n sampler.Bytes) {
	context := uint64(0xc000 + device)
	s.call("cuMemAllocFromPoolAsync", Call{Address: at, Size: uint64(n), Context: pool, Device: -1})
	s.Within(Call{Time: s.now, PID: 7, TID: 7, Size: uint64(function("cuMemAllocAsync")), Address: pool, Other: stream, Context: context, Device: -1})
}

// The pool that a function asks within the library is of the GPU of the stream that it was given, from the first request on; who made the pool
// nobody has seen.
func TestWithin(t *testing.T) {
	for name, row := range map[string]struct {
		play func(s *scene)
		want int
	}{
		"the default stream": {func(s *scene) { s.within(1, 0, 0x9001, 1, gib) }, 1},
		"a stream of another": {func(s *scene) {
			s.call("cuStreamCreate", Call{Address: 0x57, Context: 0xc001, Device: -1})
			s.within(0, 0x57, 0x9001, 1, gib)
		}, 1},
		"a stream of before": {func(s *scene) { s.within(0, 0x57, 0x9001, 1, gib) }, -1},
		"a stream of a green one": {func(s *scene) {
			s.call("cuGreenCtxCreate", Call{Address: 0x6001, Device: 1})
			s.call("cuGreenCtxStreamCreate", Call{Address: 0x57, Context: 0x6001, Device: -1})
			s.within(0, 0x57, 0x9001, 1, gib)
		}, 1},
		"another pool is there now": {func(s *scene) {
			s.call("cuDeviceGetDefaultMemPool", Call{Address: 0x9001, Device: 0})
			s.within(1, 0, 0x9001, 1, gib)
			s.free(1)
			s.call("cuMemAllocFromPoolAsync", Call{Address: 2, Size: uint64(gib), Context: 0x9001, Device: -1})
		}, 1},
	} {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.context(1)
		row.play(s)
		list := s.apply().Requests
		s.later(waitFirst)
		list = append(list, s.apply().Requests...)
		if last := list[len(list)-1]; last.GPU.Or(-1) != row.want {
			t.Errorf("%s: %+v, want GPU %d", name, last, row.want)
		}
	}
}

// What a pool is asked for within and by its handle is one tally, with what the GPU was asked for else.
func TestWithinTally(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.context(1)
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc001, Device: -1})
	s.within(1, 0, 0x9001, 2, gib)
	s.within(1, 0, 0x9001, 3, gib)
	if r := s.requests(1); r.Granted != 3 || r.Live != 3*gib || r.Peak != 3*gib || !r.Whole {
		t.Errorf("%+v", r)
	}
}

// A process that holds memory on a GPU that is not known may hold more on each.
func TestUnplacedPool(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.context(1)
	s.alloc(1, gib)
	if r := s.requests(0); !r.Whole {
		t.Fatalf("before: %+v", r)
	}
	s.call("cuMemAllocFromPoolAsync", Call{Address: 2, Size: uint64(gib), Context: 0x9001, Device: -1})
	if r := s.requests(0); r.Whole {
		t.Errorf("%+v", r)
	}
}

// What a pool of which the GPU is learned later gives after a refusal is in the reading after that, and what is free is not that. A reading from before the context
// of whichever GPU that is says nothing.
func TestFreeOfUnplacedPool(t *testing.T) {
	for name, row := range map[string]struct {
		context bool // after the reading
		want    sampler.Opt[sampler.Bytes]
	}{
		"before the context": {true, sampler.Opt[sampler.Bytes]{}},
		"after it":           {false, sampler.Some(8 * gib)},
	} {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		key := s.gpus[1].Key()
		read := func(used sampler.Bytes) {
			s.later(ms(100))
			s.Reading(key, s.now, used)
			s.later(ms(100))
		}
		if row.context {
			read(40 * gib)
		}
		s.context(0)
		s.context(1)
		if !row.context {
			read(40 * gib)
		}
		ask := func(n sampler.Bytes, answer int) {
			s.call("cuMemAllocFromPoolAsync", Call{Address: 1, Size: uint64(n), Context: 0x9001, Device: -1, Answer: answer})
		}
		ask(20*gib, outOfMemory)
		ask(gib, success)
		s.later(ms(20))
		s.Reading(key, s.now, 41*gib)
		s.list(1, 7, sampler.Some(gib))
		s.Listed(key, s.now, s.gpus[1].Processes)
		s.later(ms(500))
		s.apply()
		s.later(ms(100))
		if r := s.requests(1); !r.Refusal.Free.Equal(row.want) {
			t.Errorf("%s: free %v, want %v", name, r.Refusal.Free, row.want)
		}
	}
}
