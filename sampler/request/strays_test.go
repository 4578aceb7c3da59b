package request

import (
	"math"
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
		if got := matching(row.moved, row.parts); got != row.sets {
			t.Errorf("%s: %v, want %v", name, got, row.sets)
		}
	}
}

// What may have moved between two readings: what was certainly between them as a whole for each thread, and each call by itself that one of the two fell on.
func TestBetween(t *testing.T) {
	a, b := &seat{}, &seat{}
	at := func(from, until int, n float64, by *seat) stray {
		return stray{moving{noon.Add(ms(from)), noon.Add(ms(until)), n}, by}
	}
	x := &strays{longest: ms(60), list: []stray{
		at(0, 10, 1, a), at(60, 99, 16, b), at(90, 101, 2, a), at(103, 105, 4, a), at(104, 106, 8, a), at(107, 108, 64, b), at(118, 170, 32, b), at(121, 122, 128, a),
	}}
	none := func(*stray) bool { return false }
	parts, known := x.between(noon.Add(ms(100)), noon.Add(ms(120)), none)
	sum := 0.0
	for _, n := range parts {
		sum += n
	}
	if !known || len(parts) != 5 || parts[0] != 12 || parts[1] != 64 || sum != 12+64+16+2+32 {
		t.Errorf("%v, %v", parts, known)
	}
	if parts, _ = x.between(noon.Add(ms(100)), noon.Add(ms(120)), func(m *stray) bool { return m.by == a }); len(parts) != 3 {
		t.Errorf("%v of the other", parts)
	}
	x.blind = noon.Add(ms(100))
	if _, known = x.between(noon.Add(ms(100)), noon.Add(ms(120)), none); known {
		t.Error("known though forgotten")
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
	seats[0].guessed = false
	if got := counts(); got != [3]int{1, 1, 0} {
		t.Errorf("one known: %v", got)
	}
}
