package request

import (
	"math"
	"slices"
	"testing"

	"nvpeak/sampler"
)

// What moved while calls of others may have moved it, too.
func TestExplained(t *testing.T) {
	for name, row := range map[string]struct {
		moved float64
		parts []float64
		off   float64
		sets  matches
	}{
		"nothing":                {0, nil, 0, matches{1}},
		"by nobody":              {40, nil, 40, matches{}},
		"by one":                 {40, []float64{40}, 0, matches{0, 1}},
		"by none of them":        {0, []float64{40, 60}, 0, matches{1}},
		"by two, or by another":  {100, []float64{40, 60, 100}, 0, matches{0, 1, 1}},
		"what one gave back":     {-20, []float64{40, -60}, 0, matches{0, 0, 1}},
		"rounded":                {41, []float64{40, 60}, 1, matches{0, 1}},
		"by more than at once":   {100, []float64{10, 20, 30, 40}, 0, matches{}},
		"by three":               {90, []float64{10, 20, 30, 40}, 0, matches{0, 0, 0, 1}},
		"nearly":                 {50, []float64{40, 20}, 10, matches{}},
		"by each of two as well": {40, []float64{40, 40}, 0, matches{0, 2}},
	} {
		if off := least(row.moved, row.parts); math.Abs(off-row.off) > 1e-9 {
			t.Errorf("%s: %v off, want %v", name, off, row.off)
		}
		for _, call := range []float64{16, -200} {
			if with, _ := matching(row.moved+call, call, row.parts); with != row.sets {
				t.Errorf("%s: %v with a call of %v, want %v", name, with, call, row.sets)
			}
			if _, without := matching(row.moved, call, row.parts); without != row.sets {
				t.Errorf("%s: %v without a call of %v, want %v", name, without, call, row.sets)
			}
		}
	}
}

// What may have moved between two readings: what was certainly between them as a whole for each thread, and each call by itself that one of the two fell on.
func TestBetween(t *testing.T) {
	a, b := &seat{}, &seat{}
	x := &strays{blind: math.MinInt64}
	for _, m := range []struct {
		from, until int // ms
		mib         float64
		by          *seat
	}{{0, 10, 1, a}, {60, 99, 16, b}, {90, 101, 2, a}, {103, 105, 4, a}, {104, 106, 8, a}, {107, 108, 64, b}, {118, 170, 32, b}, {121, 122, 128, a}} {
		x.add(stray{nanos(noon.Add(ms(m.from))), nanos(noon.Add(ms(m.until))), m.mib, m.by})
	}
	last, next := noon.Add(ms(100)), noon.Add(ms(120))
	for name, row := range map[string]struct {
		but  *seat
		call *moving
		want []float64
	}{
		"all":          {nil, nil, []float64{12, 64, 16, 2, 32}},
		"but a thread": {a, nil, []float64{64, 16, 32}},
		"but a call":   {b, &moving{at: noon.Add(ms(99)), mib: 16}, []float64{12, 64, 2, 32}},
	} {
		if parts, known := x.between(last, next, row.but, row.call); !known || !slices.Equal(parts, row.want) {
			t.Errorf("%s: %v, %v", name, parts, known)
		}
	}
	for i := range straysSlow {
		x.add(stray{nanos(last), nanos(next), float64(i), &seat{}})
	}
	if _, known := x.between(last, next.Add(1), nil, nil); known {
		t.Error("known though they are many")
	}
	x.blind = nanos(last)
	if _, known := x.between(last, next, nil, nil); known {
		t.Error("known though some are forgotten")
	}
}

// A thread that the use of a GPU follows is a stray there and nowhere else, one whose GPU is not known on each that its process uses, and one that says which
// it asks on none.
func TestAstray(t *testing.T) {
	s := newScene(t, 3, people{7: {}})
	for i := range 2 {
		s.list(i, 7, sampler.Some(gib))
	}
	s.apply()
	s.Late(7, s.now)
	for tid := 8; tid < 10; tid++ {
		s.call("cuMemAlloc_v2", Call{TID: tid, Address: uint64(tid), Size: uint64(64 * mib), Device: -1})
	}
	counts := func() (list [3]int) {
		s.strays = nil
		for i := range s.gpus {
			list[i] = len(s.astray(s.gpus[i].Key()).list)
		}
		return list
	}
	if got := counts(); got != [3]int{2, 2, 0} {
		t.Errorf("%v", got)
	}
	seats := s.processes[7].seats
	seats[0].at, seats[0].guessed = s.gpus[1].Key(), true
	if got := counts(); got != [3]int{1, 2, 0} {
		t.Errorf("one guessed: %v", got)
	}
	s.call("cuMemAlloc_v2", Call{PID: 8, TID: 20, Address: 1, Size: uint64(64 * mib), Device: -1}) // which no list has yet
	if got := counts(); got != [3]int{2, 3, 1} {
		t.Errorf("with one of another process: %v", got)
	}
	s.later(2 * listsCome)
	s.listAll()
	if got := counts(); got != [3]int{1, 2, 0} {
		t.Errorf("with one of a process that is on none of the GPUs: %v", got)
	}
	seats[0].guessed = false
	if got := counts(); got != [3]int{1, 1, 0} {
		t.Errorf("one known: %v", got)
	}
}
