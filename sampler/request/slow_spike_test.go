package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// listing lists what the process 7 has once a second, for the first time at one, until each moment that it is told.
func (s *scene) listing(next time.Time, has *sampler.Bytes) func(until time.Time) {
	return func(until time.Time) {
		for ; next.Before(until); next = next.Add(time.Second) {
			s.now = next
			s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(*has)}})
			s.later(ms(10))
			s.apply()
		}
		s.now = until
	}
}

// A spike that was seen is the most, however long what is given back after it takes, and whichever lists fall into that.
func TestSpikeBeforeASlowFree(t *testing.T) {
	const context, block = 300 * mib, 256 * mib
	for _, took := range []time.Duration{ms(90), ms(400), time.Second, 2500 * time.Millisecond} {
		for shift := time.Duration(0); shift < time.Second; shift += ms(20) {
			s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
			s.Begins(7)
			has := context + 200*mib
			lists := s.listing(s.now.Add(ms(100)), &has)
			s.context(0)
			s.alloc(1, 200*mib)
			lists(s.now.Add(1200*time.Millisecond + shift))
			s.alloc(52, block)
			s.free(52)
			began := s.now.Add(ms(1))
			s.now = began
			s.Call(Call{Time: s.now, Function: function("cuMemFree_v2"), PID: 7, TID: 7, Address: 1, Device: -1, Other: uint64(began.UnixNano())})
			lists(began.Add(took))
			has -= 200 * mib
			s.Lingered(7, uint64(began.UnixNano()), s.now)
			lists(s.now.Add(2300 * time.Millisecond))
			if p := s.of(0, 7).Peak; p == nil || p.Bytes != context+200*mib+block || p.Source != sampler.PeakCalls {
				t.Errorf("%v, begun %v after a list: %+v", took, shift, p)
			}
		}
	}
}

// What is given or given back for long, with a process list meanwhile, is counted once: no peak is told that never was, and none as exact that is not.
func TestListsAmidSlowCalls(t *testing.T) {
	const context, small, block = 300 * mib, 100 * mib, 256 * mib
	for name, row := range map[string]struct {
		before, takes, gives sampler.Bytes // held before, and of that given back at last; or given at first
		spike                sampler.Bytes
	}{
		"given back": {small + block, small, 0, 0},
		"given":      {0, 0, 2 * block, block},
	} {
		for _, took := range []time.Duration{ms(90), ms(400), ms(900), 2500 * time.Millisecond} {
			for shift := time.Duration(0); shift < time.Second; shift += ms(20) {
				s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
				s.Begins(7)
				has := context + row.before
				lists := s.listing(s.now.Add(shift), &has)
				s.context(0)
				truth := context + max(row.before, row.spike, row.gives)
				if row.gives == 0 {
					s.alloc(1, small)
					s.alloc(2, block)
					lists(s.now.Add(ms(50)))
					began := s.now
					s.Call(Call{Time: s.now, Function: function("cuMemFree_v2"), PID: 7, TID: 7, Address: 1, Device: -1, Other: uint64(began.UnixNano())})
					lists(began.Add(took))
					has -= row.takes
					s.Lingered(7, uint64(began.UnixNano()), s.now)
				} else {
					s.alloc(2, row.spike)
					s.free(2)
					began := s.now
					has += row.gives
					lists(began.Add(took))
					s.Call(Call{Time: s.now, Function: function("cuMemAlloc_v2"), PID: 7, TID: 7, Address: 3, Size: uint64(row.gives), Context: 0xc000, Device: -1, Took: took})
				}
				lists(s.now.Add(2300 * time.Millisecond))
				if p := s.of(0, 7).Peak; p == nil || p.Bytes > truth || p.Source == sampler.PeakCalls && p.Bytes != truth {
					t.Errorf("%s within %v, a list %v after the begin: %+v of %v", name, took, shift, p, truth)
				}
			}
		}
	}
}
