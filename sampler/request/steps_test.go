package request

import (
	"testing"

	"nvpeak/sampler"
)

// What a pool that the driver made by itself has given, and what was asked for beside it, is of one GPU, which is known later: the
// peak is that of both together, to the byte, or told to be a lower bound.
func TestPeakOfTwoSeats(t *testing.T) {
	type call struct {
		pool  bool
		alloc uint64 // GiB, which is its address too
		free  uint64
	}
	a, p, free, take := func(n uint64) call { return call{alloc: n} }, func(n uint64) call { return call{pool: true, alloc: n} },
		func(n uint64) call { return call{free: n} }, func(n uint64) call { return call{pool: true, free: n} }
	for name, row := range map[string]struct {
		calls []call
		again int // times that a piece of the pool comes and goes before them
		want  sampler.Bytes
		whole bool
	}{
		"one after the other":             {[]call{a(5), free(5), p(3), take(3)}, 0, 5 * gib, true},
		"together":                        {[]call{a(5), p(3), take(3), free(5), a(1)}, 0, 8 * gib, true},
		"together, and something is left": {[]call{p(2), a(5), p(3), take(3), a(1)}, 0, 10 * gib, true},
		"too many to say":                 {[]call{a(5), p(3), take(3), free(5), a(1)}, maxSteps, 5 * gib, false},
		"too many, and it is certain":     {[]call{a(5), p(3)}, maxSteps, 8 * gib, true},
	} {
		s := newScene(t, 2, people{7: {}})
		s.context(0)
		s.call("cuMemAlloc_v2", Call{Address: 99, Size: 0, Context: 0xc000, Device: -1})
		do := func(c call) {
			context, alloc, take := uint64(0xc000), "cuMemAlloc_v2", "cuMemFree_v2"
			if c.pool {
				context, alloc, take = 0xb000, "cuMemAllocFromPoolAsync", "cuMemFreeAsync"
			}
			if c.free > 0 {
				s.call(take, Call{Address: c.free, Device: -1})
				return
			}
			s.call(alloc, Call{Address: c.alloc, Size: c.alloc << 30, Context: context, Device: -1})
		}
		for range row.again {
			do(p(1))
			do(take(1))
		}
		for _, c := range row.calls {
			do(c)
		}
		s.list(0, 7, sampler.Some(9*gib))
		if r := s.requests(0); r.Peak != row.want || r.Whole != row.whole {
			t.Errorf("%s: %v, whole %v; not %v", name, r.Peak, r.Whole, row.want)
		}
		do(a(20))
		if r, n := s.requests(0), len(s.processes[7].steps); n != 0 || r.Whole != row.whole {
			t.Errorf("%s: %d steps are kept then, whole %v", name, n, r.Whole)
		}
	}
}

// So it is of three.
func TestPeakOfThreeSeats(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	p := newProcess(7)
	var seats [3]*seat
	for i := range seats {
		seats[i] = p.seat(&Call{Device: -1, TID: i + 1}, false)
	}
	hold := func(i int, n sampler.Bytes) {
		c := Call{Time: s.now, Address: uint64(n), Size: uint64(n), Device: -1}
		p.hold(&c, seats[i], n)
	}
	for i, n := range []sampler.Bytes{10, 20, 40} {
		hold(i, n)
	}
	p.takes(&Call{Address: 20, Device: -1})
	hold(0, 15) // 65 of 70
	for _, x := range seats {
		x.at = s.gpus[0].Key()
	}
	s.join(p)
	if y := seats[0].tally; y.peak != 70 || y.live != 65 || y.lower || seats[2].tally != y {
		t.Errorf("%+v", y)
	}
}
