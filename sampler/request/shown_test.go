package request

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Threads that ask several GPUs at once, by slow calls, from before anybody looked: what the driver says of the process on each of them from list to list
// tells where each thread is, though not one reading does. Memory of which no call tells may keep that unknown, and misleads nobody.
func TestShownByLists(t *testing.T) {
	for name, row := range map[string]struct {
		least   float64 // part of the requests of which the GPU is to be told
		rounds  sampler.Bytes
		slow    int // ms
		unheard bool
		long    int  // ms that one call of fifty takes, as where its thread waits for a processor
		inStep  bool // the threads do the same at about the same time
	}{
		"slow calls":                  {0.95, mib, 90, false, 0, false},
		"rounded":                     {0.95, 2 * mib, 90, false, 0, false},
		"brief calls":                 {0.95, mib, 4, false, 0, false},
		"and memory that nobody sees": {0, mib, 90, true, 0, false},
		"some take far longer":        {0.5, mib, 90, false, 900, false},
		"in step":                     {0, 2 * mib, 90, false, 0, true},
		"in step, some far longer":    {0, 2 * mib, 90, false, 900, true},
	} {
		all, right := 0, 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 11))
			gpus := 2 + r.IntN(3)
			s := newScene(t, gpus, people{7: {Environment: map[string]string{}}})
			s.sweeps = true
			s.Late(7, s.now)
			has := make([]sampler.Bytes, gpus)
			for i := range has {
				has[i] = 500 * mib
				s.list(i, 7, sampler.Some(has[i]))
				s.Listed(s.gpus[i].Key(), s.now, s.gpus[i].Processes)
			}
			s.apply()
			var events timeline
			begin := s.now.Add(100 * time.Millisecond)
			end := begin.Add(7 * time.Second)
			of := map[int]int{} // GPUs of threads
			for tid, n := 8, uint64(1); tid < 8+gpus+int(seed%3); tid++ {
				gpu := (tid - 8) % gpus
				of[tid] = gpu
				own := r
				if row.inStep { // the same numbers for all
					own = rand.New(rand.NewPCG(seed, 13))
				}
				var held []sampler.Bytes
				var places []uint64
				var over time.Time // the call before
				for next := begin; next.Before(end); next = next.Add(ms(own.IntN(60))) {
					at, took := next, ms(row.slow/4+own.IntN(row.slow))
					if row.inStep {
						at = at.Add(ms(r.IntN(30)) + time.Duration(tid)) // no two calls begin at one moment
					}
					if at.Before(over) {
						at = over
					}
					if row.long > 0 && r.IntN(50) == 0 {
						took += ms(row.long)
					}
					next, over = next.Add(took), at.Add(took)
					moves := at.Add(time.Duration(r.Int64N(int64(took))))
					if len(held) > 0 && own.IntN(2) == 0 {
						i := own.IntN(len(held))
						b, place := held[i], places[i]
						held, places = slices.Delete(held, i, i+1), slices.Delete(places, i, i+1)
						events.gives(s, tid, at, over, place)
						events.on(moves, func() { has[gpu] -= (b + row.rounds - 1) / row.rounds * row.rounds })
						continue
					}
					b, place := sampler.Bytes(4+own.IntN(400))*mib, n
					n++
					held, places = append(held, b), append(places, place)
					events.on(moves, func() { has[gpu] += (b + row.rounds - 1) / row.rounds * row.rounds })
					events.asks(s, tid, at, over, place, b)
				}
			}
			if row.unheard {
				for at := begin; at.Before(end); at = at.Add(ms(300 + r.IntN(1500))) {
					events.on(at, func() { has[r.IntN(gpus)] += sampler.Bytes(20+r.IntN(300)) * mib })
				}
			}
			for i := range gpus {
				for at := begin.Add(ms(r.IntN(1000))); at.Before(end); at = at.Add(time.Second) {
					took := ms(1 + r.IntN(3))
					var n sampler.Bytes
					events.on(at.Add(-took/2), func() { n = has[i] })
					events.on(at, func() {
						s.Tracker.Listed(s.gpus[i].Key(), at.Truncate(time.Millisecond), took, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
					})
				}
			}
			tell := func() {
				for _, q := range s.apply().Requests {
					all++
					if gpu, known := q.GPU.Value(); known {
						if right++; gpu != of[q.TID] {
							t.Errorf("%s, seed %d: thread %d on GPU %d, not %d", name, seed, q.TID, gpu, of[q.TID])
						}
					}
				}
			}
			for at := begin; at.Before(end); at = at.Add(ms(250)) {
				events.on(at, tell)
			}
			s.play(events, 0)
			s.later(3 * time.Second)
			tell()
		}
		if float64(right) < row.least*float64(all) {
			t.Errorf("%s: the GPUs of %d of %d requests are told", name, right, all)
		}
	}
}

// Where lists tell of one GPU and readings had told of another, both begin anew.
func TestContradicted(t *testing.T) {
	a, b := sampler.GPUKey{ID: "GPU-0"}, sampler.GPUKey{ID: "GPU-1"}
	for name, row := range map[string]struct {
		elected, told, want sampler.GPUKey
	}{
		"nothing was told":         {sampler.GPUKey{}, sampler.GPUKey{}, a},
		"the same":                 {a, sampler.GPUKey{}, a},
		"another":                  {b, sampler.GPUKey{}, sampler.GPUKey{}},
		"another, and lists since": {b, a, a},
	} {
		s := &seat{elected: row.elected, told: row.told}
		w := &showing{fits: []bool{false, true}, slips: []float64{1, 1e-5}}
		if w.place([]*seat{s}, a); s.elected != row.want || s.told != row.want {
			t.Errorf("%s: %v, told of %v", name, s.elected, s.told)
		}
	}
}

// Memory of before anybody looked that is given back moves the driver's figure by nobody knows how much: no list is compared across that, and no reading.
func TestGivenBackUnknown(t *testing.T) {
	for name, row := range map[string]struct {
		unknown, slowly bool
		compared        bool
	}{
		"all is known":                  {false, false, true},
		"a piece of before":             {true, false, false},
		"a piece of before, in a while": {true, true, false},
	} {
		s := newScene(t, 2, people{7: {}})
		has := 4 * gib
		listed := func() {
			for i := range s.gpus {
				s.gpus[i].Processes = nil
				s.list(i, 7, sampler.Some(has))
			}
			s.listAll()
			s.later(ms(500))
			s.apply()
			s.later(ms(500))
		}
		s.Late(7, s.now)
		for tid := 8; tid < 10; tid++ {
			s.call("cuMemAlloc_v2", Call{TID: tid, Address: uint64(tid), Size: uint64(64 * mib), Device: -1})
		}
		number := uint64(77)
		if row.slowly {
			s.call("cuMemFree_v2", Call{TID: 8, Address: 1 << 40, Device: -1, Other: number})
		}
		listed()
		switch {
		case row.slowly:
			s.Lingered(7, number, s.now)
		case row.unknown:
			s.call("cuMemFree_v2", Call{TID: 8, Address: 1 << 40, Device: -1, Other: number})
		}
		s.call("cuMemAlloc_v2", Call{TID: 8, Address: 10, Size: uint64(128 * mib), Device: -1})
		at := s.now
		listed()
		listed()
		g := s.gpu(s.gpus[0].Key())
		if got := len(s.processes[7].showing(s.gpus[0].Key()).fits) > 0; got != row.compared {
			t.Errorf("%s: lists compared: %v", name, got)
		}
		if _, _, known := g.beside(nil, at.Add(-ms(10)), at); known != row.compared {
			t.Errorf("%s: readings compared: %v", name, known)
		}
		listed() // the next ones are from after that
		if len(s.processes[7].showing(s.gpus[0].Key()).fits) == 0 {
			t.Errorf("%s: no lists of later are compared", name)
		}
	}
}
