package request

import (
	"testing"

	"nvpeak/sampler"
)

// Memory of the host that functions for the GPU's give is none of the GPU's, and that it was refused is no refusal there: a program that
// was refused some of the GPU may take it in its place.
func TestOnHost(t *testing.T) {
	const pool = 0x9001
	for name, row := range map[string]struct {
		function string
		call     Call
	}{
		"a piece":                       {"cuMemCreate", Call{Device: onHost}},
		"of a pool":                     {"cuMemAllocFromPoolAsync", Call{Context: pool, Device: -1}},
		"of a thread's, of a pool, too": {"cuMemAllocFromPoolAsync_ptsz", Call{Context: pool, Device: -1}},
	} {
		for _, pools := range []string{"cuMemPoolCreate", "cuMemGetDefaultMemPool", "cuMemGetMemPool"} {
			s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
			s.context(0)
			s.alloc(1, gib)
			s.call(pools, Call{Address: pool, Device: onHost})
			asks := func(at uint64, n sampler.Bytes, answer int) {
				c := row.call
				c.Address, c.Size, c.Answer = at, uint64(n), answer
				s.call(row.function, c)
			}
			asks(0, 64*gib, outOfMemory)
			if r := s.requests(0); r.Refused != 0 || r.Refusal != nil || r.Largest != gib {
				t.Errorf("%s, by %s: refused %+v", name, pools, r)
			}
			s.refused(8 * gib)
			asks(2, 8*gib, success)
			s.call("cuMemRelease", Call{Address: 2, Device: -1})
			if r := s.requests(0); r.Live != gib || r.Peak != gib || r.Granted != 1 || r.Refusal.Outcome != sampler.RefusalOther {
				t.Errorf("%s, by %s: %+v, %+v", name, pools, r, r.Refusal)
			}
			if snap := s.apply(); len(snap.GPUs[1].Processes) != 0 || snap.Door.Untold != 0 {
				t.Errorf("%s, by %s: %+v", name, pools, snap)
			}
		}
	}
}

// Who was refused nothing but memory of the host has died of none of a GPU's.
func TestRefusedByTheHost(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.call("cuMemCreate", Call{Size: uint64(gib), Device: onHost, Answer: outOfMemory})
	s.Ended(7, s.now, 1<<8)
	if snap := s.apply(); len(snap.Unplaced) != 0 || len(snap.GPUs[0].Processes) != 0 || len(snap.Requests) != 0 {
		t.Errorf("%+v", snap)
	}
}

// Who moves to the host what lay on the GPU, to make room for what was refused, and is granted that then, came near its end.
func TestSpilled(t *testing.T) {
	for what, row := range map[string]struct {
		frees   bool
		flushes int
	}{"room was made": {true, 1}, "none was": {false, 0}} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.alloc(1, 2*gib)
		s.refused(3 * gib)
		s.call("cuMemHostAlloc", Call{Address: 9, Size: uint64(2 * gib), Context: 0xc000, Device: -1})
		if row.frees {
			s.free(1)
		}
		s.alloc(2, 3*gib)
		if r := s.requests(0); r.Flushes != row.flushes {
			t.Errorf("%s: %d near misses, %+v", what, r.Flushes, r.Refusal)
		}
	}
}
