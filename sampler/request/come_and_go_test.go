package request

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Contexts of a process come and go with what was asked for in them, quickly or slowly, under our eyes or from before: whenever the driver is asked what it has, no peak
// is told that never was, and none that is called exact is another.
func TestContextsComeAndGo(t *testing.T) {
	exact, all := 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 17))
		late, slow := seed%4 == 3, seed%3 == 2
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		var has, peak sampler.Bytes
		var sampled *sampler.Peak
		type block struct {
			context, at uint64
			n           sampler.Bytes
		}
		var held []block
		sizes := map[uint64]sampler.Bytes{}          // of contexts that there are
		size := sampler.Bytes(300+r.IntN(120)) * mib // of each, as is taken for granted
		next, last := uint64(1), uint64(0xd000)
		moves := func(n int64) {
			has = sampler.Bytes(int64(has) + n) //nolint:gosec // small
			peak = max(peak, has)
		}
		takes := func() time.Duration {
			if slow {
				return ms(20 + r.IntN(70))
			}
			return ms(1)
		}
		listing := s.now.Add(ms(100 + r.IntN(1000)))
		seen := false
		// passes lets time pass, in which the driver is asked each second.
		passes := func(d time.Duration) {
			for end := s.now.Add(d); ; {
				if listing.After(end) {
					s.now = end
					return
				}
				if listing.After(s.now) {
					s.now = listing
				}
				listing = listing.Add(time.Second)
				s.gpus[0].Processes = nil
				if has > 0 {
					s.list(0, 7, sampler.Some(has))
					if sampled == nil || has > sampled.Bytes {
						sampled = &sampler.Peak{Bytes: has, Source: sampler.PeakSampled}
					}
					s.gpus[0].Processes[0].Peak = sampled
				}
				s.Tracker.Listed(s.gpus[0].Key(), s.now, 0, s.gpus[0].Processes)
				s.later(ms(6))
				for _, p := range s.apply().GPUs[0].Processes {
					if p.Peak != nil && p.Peak.Bytes > peak {
						t.Errorf("seed %d: %+v, not above %v", seed, p.Peak, peak)
					}
				}
			}
		}
		call := func(name string, c Call, took time.Duration, n int64) {
			began := s.now
			ends := Functions[function(name)].Effect == Ends || Functions[function(name)].Effect == Takes
			c.Function, c.PID, c.TID, c.Time = function(name), 7, 7, began
			if ends && seen {
				c.Other = uint64(began.UnixNano()) //nolint:gosec // after 1970
				s.Call(c)
			}
			part := time.Duration(r.Int64N(int64(took) + 1))
			passes(part)
			moves(n)
			passes(took - part)
			if ends && seen && took > time.Millisecond && Functions[c.Function].Effect == Takes {
				s.Lingered(7, c.Other, s.now)
			}
			if !ends && seen {
				c.Time, c.Took = s.now, took
				s.Call(c)
			}
		}
		context := func() (c uint64) {
			list := []uint64{}
			for c := range sizes {
				list = append(list, c)
			}
			slices.Sort(list)
			return list[r.IntN(len(list))]
		}
		step := func() {
			switch k := r.IntN(10); {
			case len(sizes) == 0 || k == 0 && len(sizes) < 4:
				c, name := uint64(0xc000), "cuDevicePrimaryCtxRetain"
				if sizes[c] > 0 || r.IntN(2) == 0 {
					last++
					c, name = last, "cuCtxCreate_v2"
				}
				n := size
				call(name, Call{Address: c, Device: 0}, takes(), int64(n)) //nolint:gosec // small
				sizes[c] = n
			case k == 1:
				c := context()
				n := sizes[c]
				delete(sizes, c)
				held = slices.DeleteFunc(held, func(b block) bool {
					if b.context == c {
						n += b.n
					}
					return b.context == c
				})
				if c == 0xc000 {
					call("cuDevicePrimaryCtxReset_v2", Call{Device: 0}, takes(), -int64(n)) //nolint:gosec // small
					return
				}
				call("cuCtxDestroy_v2", Call{Address: c, Device: -1}, takes(), -int64(n)) //nolint:gosec // small
			case k < 6 || len(held) == 0:
				b := block{context(), next, sampler.Bytes(2*(1+r.IntN(400))) * mib}
				next++
				call("cuMemAlloc_v2", Call{Address: b.at, Size: uint64(b.n), Context: b.context, Device: -1}, takes(), int64(b.n)) //nolint:gosec // small
				held = append(held, b)
			default:
				i := r.IntN(len(held))
				b := held[i]
				held = slices.Delete(held, i, i+1)
				call("cuMemFree_v2", Call{Address: b.at, Device: -1}, takes(), -int64(b.n)) //nolint:gosec // small
			}
			if r.IntN(3) == 0 {
				passes(ms(r.IntN(1500)))
			} else {
				passes(ms(r.IntN(30)))
			}
		}
		if late {
			for range r.IntN(12) {
				step()
			}
			s.older = map[int]bool{7: true}
			s.Late(7, s.now)
			peak, sampled, listing = has, nil, s.now
			passes(ms(20))
		} else {
			s.Begins(7)
		}
		seen = true
		for range 3 + r.IntN(30) {
			step()
		}
		passes(2500 * time.Millisecond)
		for _, p := range s.apply().GPUs[0].Processes {
			if all++; p.Peak == nil || sampled != nil && p.Peak.Bytes < sampled.Bytes { // which is told then
				continue
			}
			if p.Peak.Source == sampler.PeakCalls {
				exact++
			}
			if p.Peak.Bytes > peak || p.Peak.Source == sampler.PeakCalls && p.Peak.Bytes != peak {
				t.Errorf("seed %d: %+v, not %v", seed, p.Peak, peak)
			}
		}
	}
	if exact < all*63/100 {
		t.Errorf("%d of %d peaks are called exact", exact, all)
	}
}
