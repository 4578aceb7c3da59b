package request

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A list tells where a device of a process is only if it was made while the process had a context of that: one that has come and gone between two lists
// is where the process says, or nobody knows, whichever other GPU lists the process.
func TestListsOfDevices(t *testing.T) {
	type step struct {
		retain, release int // device and one
		device          int // and one, where it asks
		list            int // GPU and one, which alone lists it then
		later           time.Duration
	}
	long := step{later: 2 * time.Second}
	for name, row := range map[string]struct {
		steps []step
		said  bool // the process says which GPU it means by a number
		want  int  // GPU of the first request, -1: not known
		then  int  // and of the second
	}{
		"it ends before a list":                  {[]step{{retain: 4}, {device: 4}, {release: 4}, {retain: 2}, {list: 2}, long}, true, 3, -1},
		"and nothing is said":                    {[]step{{retain: 4}, {device: 4}, {release: 4}, {retain: 2}, {list: 2}, long}, false, -1, -1},
		"and it asks on the other":               {[]step{{retain: 4}, {device: 4}, {release: 4}, {retain: 2}, {list: 2}, {device: 2}, {list: 2}, long}, true, 3, 1},
		"and on the other, and nothing is said":  {[]step{{retain: 4}, {device: 4}, {release: 4}, {retain: 2}, {list: 2}, {device: 2}, {list: 2}, long}, false, -1, 1},
		"it comes and goes between two lists":    {[]step{{retain: 2}, {list: 2}, {retain: 1}, {device: 1}, {release: 1}, {list: 2}, long}, true, 0, -1},
		"it was listed once, long ago":           {[]step{{retain: 4}, {device: 4}, {list: 4}, {release: 4}, {retain: 2}, {list: 2}, {later: 2 * leaves}, {list: 2}, long}, true, 3, -1},
		"it is there, and the list says another": {[]step{{retain: 4}, {device: 4}, {release: 4}, {retain: 2}, {list: 3}, {device: 2}, {list: 3}, long}, true, 3, 2},
	} {
		host := people{7: {}}
		if row.said {
			host = people{7: {Environment: map[string]string{}}}
		}
		s := newScene(t, 4, host)
		s.listAll()
		got := []int{}
		tell := func() {
			for _, q := range s.apply().Requests {
				got = append(got, q.GPU.Or(-1))
			}
		}
		for i, x := range row.steps {
			switch {
			case x.retain > 0:
				s.context(x.retain - 1)
			case x.release > 0:
				s.call(primaryRelease, Call{Device: x.release - 1})
			case x.device > 0:
				s.call("cuMemAlloc_v2", Call{Address: uint64(i), Size: uint64(gib), Context: 0xc000 + uint64(x.device) - 1, Device: -1}) //nolint:gosec // a few
			case x.list > 0:
				s.later(ms(100))
				for g := range s.gpus {
					s.gpus[g].Processes = nil
				}
				s.list(x.list-1, 7, sampler.Some(gib))
				s.listAll()
				s.later(ms(100))
				tell()
			default:
				s.later(x.later)
				tell()
			}
		}
		s.later(waitFirst)
		tell()
		if got = append(got, -1); got[0] != row.want || got[1] != row.then {
			t.Errorf("%s: told on %v, not %d and %d", name, got, row.want, row.then)
		}
		if key := s.processes[7].seats[0].at; row.said && key != s.gpus[row.want].Key() {
			t.Errorf("%s: it is on %v in the end", name, key)
		}
	}
}

// Contexts of several GPUs come and go, some between two lists: which GPU is asked may stay unknown where the process does not say, and is never told wrongly.
func TestDevicesComeAndGo(t *testing.T) {
	const gpus = 4
	right, all := [2]int{}, [2]int{}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 23))
		said := seed % 2
		host := people{7: {}}
		if said == 1 {
			host = people{7: {Environment: map[string]string{}}}
		}
		s := newScene(t, gpus, host)
		s.Begins(7)
		s.listAll()
		contexts := map[uint64]int{} // of which device
		has := [gpus]sampler.Bytes{}
		truth := map[sampler.Bytes]int{} // by size
		listing := s.now.Add(ms(r.IntN(1000)))
		passes := func(d time.Duration) {
			end := s.now.Add(d)
			for ; !listing.After(end); listing = listing.Add(time.Second) {
				if listing.After(s.now) {
					s.now = listing
				}
				for g := range s.gpus {
					if s.gpus[g].Processes = nil; has[g] > 0 {
						s.list(g, 7, sampler.Some(has[g]))
					}
				}
				s.listAll()
				s.later(ms(8))
				for _, q := range s.apply().Requests {
					all[said]++
					gpu, known := q.GPU.Value()
					if known && gpu != truth[q.Bytes] {
						t.Errorf("seed %d: told on %d, of %d", seed, gpu, truth[q.Bytes])
					} else if known {
						right[said]++
					}
				}
			}
			if end.After(s.now) {
				s.now = end
			}
		}
		held, next := map[uint64]sampler.Bytes{}, uint64(1)
		for range 6 + r.IntN(30) {
			list := slices.Sorted(maps.Keys(contexts))
			switch k := r.IntN(6); {
			case len(list) == 0 || k == 0:
				device := r.IntN(gpus)
				if c := uint64(0xc000 + device); held[c] == 0 { //nolint:gosec // small
					s.context(device)
					contexts[c], held[c] = device, 400*mib
					has[device] += held[c]
				}
			case k == 1:
				c := list[r.IntN(len(list))]
				s.call(primaryRelease, Call{Device: contexts[c]})
				has[contexts[c]] -= held[c]
				delete(contexts, c)
				delete(held, c)
			default:
				c := list[r.IntN(len(list))]
				n := sampler.Bytes(next) * mib
				s.call("cuMemAlloc_v2", Call{Address: next, Size: uint64(n), Context: c, Device: -1})
				next++
				truth[n] = contexts[c]
				has[contexts[c]] += n
				held[c] += n
			}
			passes(ms([]int{1, 30, 200, 1200, 3000}[r.IntN(5)]))
		}
		passes(8 * time.Second)
	}
	if right[1] < all[1] || right[0] < all[0]/4 {
		t.Errorf("the GPUs of %d of %d are told, and where the process says, of %d of %d", right[0], all[0], right[1], all[1])
	}
}
