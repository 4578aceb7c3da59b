package request

import (
	"math/rand/v2"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Two threads a GPU, and more than one GPU, with slow calls, from before anybody looked: the use jumps with the calls of each. Where threads do the same
// on several GPUs at the same time, or all of them ask for one size, that may keep it unknown, and misleads nobody.
func TestJumps(t *testing.T) {
	for name, row := range map[string]struct {
		least  float64 // part of the requests of which the GPU is to be told
		every  int     // ms from reading to reading
		inStep bool    // each two threads, on two GPUs, ask for the same at the same time
		lag    int     // or so many ms later, at most
		seldom bool    // all GPUs but the first are read each 200 ms
		size   sampler.Bytes
	}{
		"each on its own":                 {0.9, 20, false, 0, false, 0},
		"read half as often":              {0.7, 40, false, 0, false, 0},
		"read seldom":                     {0, 150, false, 0, false, 0},
		"in step on two GPUs":             {0, 20, true, 0, false, 0},
		"nearly in step":                  {0, 20, true, 10, false, 0},
		"less so":                         {0, 20, true, 40, false, 0},
		"less so, and read half as often": {0, 40, true, 80, false, 0},
		"by far":                          {0, 20, true, 160, false, 0},
		"in step, and others seldom":      {0, 20, true, 20, true, 0},
		"one size":                        {0, 20, false, 0, false, 32 * mib},
		"in step on two GPUs, by size":    {0, 20, true, 0, false, 32 * mib},
	} {
		all, right := 0, 0
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, 12))
			gpus := 2 + r.IntN(2)
			s := newScene(t, gpus, people{7: {Environment: map[string]string{}}})
			s.sweeps = true
			s.Late(7, s.now)
			has := make([]sampler.Bytes, gpus)
			for i := range has {
				has[i] = 500 * mib
				s.gpu(s.gpus[i].Key()).take(s.now, has[i])
			}
			s.apply()
			var events timeline
			begin := s.now.Add(100 * time.Millisecond)
			end := begin.Add(7 * time.Second)
			n := uint64(1)
			for tid := 8; tid < 8+2*gpus; tid++ {
				gpu := (tid - 8) % gpus
				own := r
				if row.inStep { // the same numbers for two threads
					own = rand.New(rand.NewPCG(seed, uint64(tid-8)/2)) //nolint:gosec // few
				}
				var held []sampler.Bytes
				var places []uint64
				var over time.Time // the call before
				for next := begin; next.Before(end); next = next.Add(ms(own.IntN(5))) {
					at, took := next.Add(ms(r.IntN(row.lag+1))+time.Duration(tid)), ms(20+own.IntN(70)) // no two calls begin at one moment
					if at.Before(over) {
						at = over
					}
					over = at.Add(took)
					next = next.Add(took)
					moves := at.Add(time.Duration(own.Int64N(int64(took))))
					if len(held) > 0 && own.IntN(2) == 0 {
						b, place := held[0], places[0]
						held, places = held[1:], places[1:]
						events.gives(s, tid, at, over, place)
						events.on(moves, func() { has[gpu] -= b })
						continue
					}
					b, place := sampler.Bytes(16+2*own.IntN(40))*mib, n
					if row.size > 0 {
						b = row.size
					}
					n++
					held, places = append(held, b), append(places, place)
					events.asks(s, tid, at, over, place, b)
					events.on(moves, func() { has[gpu] += b })
				}
			}
			for i := range gpus {
				var before sampler.Bytes
				every := row.every
				if row.seldom && i > 0 {
					every = 200
				}
				for at := begin.Add(ms(r.IntN(every))); at.Before(end); at = at.Add(ms(every)) {
					events.on(at, func() {
						if g := s.gpu(s.gpus[i].Key()); has[i] != before { // of others the last before that
							g.take(at.Add(-ms(every)), before)
							g.take(at, has[i])
							before = has[i]
						}
					})
				}
			}
			tell := func() {
				for _, q := range s.apply().Requests {
					all++
					if gpu, known := q.GPU.Value(); known {
						if right++; gpu != (q.TID-8)%gpus {
							t.Errorf("%s, seed %d: thread %d on GPU %d", name, seed, q.TID, gpu)
						}
					}
				}
			}
			for at := begin; at.Before(end); at = at.Add(ms(250)) {
				events.on(at, func() { s.ReadUntil(s.now); tell() })
			}
			s.play(events, 0)
			s.later(3 * time.Second)
			s.ReadUntil(s.now)
			tell()
		}
		t.Logf("%s: the GPUs of %d of %d requests are told", name, right, all)
		if float64(right) < row.least*float64(all) {
			t.Errorf("%s: the GPUs of %d of %d requests are told", name, right, all)
		}
	}
}

// The GPU that the use jumps on is told where the others were looked at, too, and speak against it.
func TestJumpsAt(t *testing.T) {
	a, b, c := sampler.GPUKey{ID: "GPU-0"}, sampler.GPUKey{ID: "GPU-1"}, sampler.GPUKey{ID: "GPU-2"}
	for name, row := range map[string]struct {
		follow map[sampler.GPUKey]*follower
		want   sampler.GPUKey
	}{
		"clearly":                      {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: 9}, b: {tried: 20, jumped: -9}}, a},
		"nearly":                       {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: 8.9}, b: {tried: 20, jumped: -9}}, sampler.GPUKey{}},
		"another may be":               {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: 9}, b: {tried: 20, jumped: -8.9}, c: {tried: 20, jumped: -9}}, sampler.GPUKey{}},
		"another was never looked at":  {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: 9}, b: {}}, sampler.GPUKey{}},
		"both":                         {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: 9}, b: {tried: 20, jumped: 12}}, sampler.GPUKey{}},
		"of three":                     {map[sampler.GPUKey]*follower{a: {tried: 20, jumped: -9}, b: {tried: 20, jumped: 12}, c: {tried: 9, jumped: -9}}, b},
		"nothing was compared with it": {nil, sampler.GPUKey{}},
	} {
		if got := (&seat{follow: row.follow}).jumpsAt(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Where all that a GPU ever does are jumps of one size, one more or less says nothing.
func TestJumpsOfOneSize(t *testing.T) {
	for name, mib := range map[string]float64{"that size": 32, "another": 64} {
		var g gpu
		used := sampler.Bytes(gib)
		for i := range 2 * keptReadings {
			used += sampler.Bytes(i%2) * 64 * sampler.MiB
			used -= 32 * sampler.MiB
			g.take(noon.Add(ms(20*i)), used)
		}
		f := &follower{}
		f.jumps(&seat{}, moving{noon.Add(ms(3000)), noon.Add(ms(5000)), mib}, &g, &strays{})
		if f.tried != 1 || !(f.jumped > -1 && f.jumped < 1) {
			t.Errorf("%s: %d tried, %v", name, f.tried, f.jumped)
		}
	}
}
