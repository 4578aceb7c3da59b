package request

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Whenever the driver is asked what a process has, and whenever that is taken: calls that are counted long before they are answered make no peak too
// high, and none that is called exact is another.
func TestLateAnswers(t *testing.T) {
	const (
		context = 500 * mib
		takes   = 80 * time.Millisecond
	)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		has, peak := context, context
		type event struct {
			at time.Time
			do func()
		}
		var events []event
		on := func(at time.Time, do func()) { events = append(events, event{at, do}) }
		type block struct {
			address uint64
			bytes   sampler.Bytes
		}
		var held []block
		begin := s.now.Add(100 * time.Millisecond)
		end := begin.Add(6 * time.Second)
		for at, address := begin, uint64(1); at.Before(end); at = at.Add(ms(5 + r.IntN(60))) {
			if len(held) > 0 && r.IntN(2) == 0 {
				b := held[0]
				held = held[1:]
				on(at, func() { has -= b.bytes; s.free(b.address) })
				continue
			}
			b := block{address, sampler.Bytes(8*(1+r.IntN(40))) * mib}
			address++
			held = append(held, b)
			on(at, func() { has += b.bytes; peak = max(peak, has) })
			at = at.Add(takes)
			on(at, func() {
				s.call("cuMemAlloc_v2", Call{Address: b.address, Size: uint64(b.bytes), Context: 0xc000, Device: -1, Took: takes})
			})
		}
		for at := begin.Add(ms(r.IntN(1000))); at.Before(end); at = at.Add(time.Second) {
			on(at.Add(300*time.Microsecond), func() {
				s.Listed(s.gpus[0].Key(), s.now.Add(time.Millisecond).Truncate(time.Millisecond), []sampler.Process{{PID: 7, Memory: sampler.Some(has)}})
			})
			on(at.Add(ms(r.IntN(300))), func() { s.apply() })
		}
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
		for _, e := range events {
			s.now = e.at.Add(-time.Millisecond) // a call takes one
			e.do()
		}
		s.now = end.Add(time.Second)
		if p := s.of(0, 7).Peak; p != nil && (p.Bytes > peak || p.Source == sampler.PeakCalls && p.Bytes != peak) {
			t.Errorf("seed %d: %+v, and the most was %v", seed, p, peak)
		}
	}
}

// What is given back is told when that begins: on a busy machine the driver may be asked before it is done. Such a figure makes no peak too high,
// and what it shows twice is believed.
func TestSlowFrees(t *testing.T) {
	const context = 500 * mib
	for what, row := range map[string]struct {
		second, want sampler.Bytes
	}{"once": {gib + context, 5*gib + context}, "again": {2*gib + context, 6*gib + context}} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		list := func(n sampler.Bytes) {
			s.later(ms(60))
			s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
			s.later(ms(300))
			s.apply()
		}
		s.alloc(1, gib)
		list(gib + context)
		for i, n := range []sampler.Bytes{2*gib + context, row.second} {
			s.alloc(2, gib)
			s.free(2)
			if list(n); i == 0 {
				if p := s.of(0, 7).Peak; p.Bytes != 2*gib+context {
					t.Errorf("%s: after one figure %+v", what, p)
				}
			}
		}
		s.later(time.Second)
		s.alloc(3, 4*gib)
		if p := s.of(0, 7).Peak; p.Bytes != row.want || p.Source != sampler.PeakCalls {
			t.Errorf("%s: %+v, not %v", what, p, row.want)
		}
	}
}

// A list that takes the driver long tells of some moment meanwhile: calls of then may be in it or not, and what is exact stays so.
func TestSlowLists(t *testing.T) {
	for name, row := range map[string]struct {
		call   func(s *scene)
		listed sampler.Bytes // as it began
		top    sampler.Bytes
	}{
		"grants": {func(s *scene) { s.alloc(2, 4*gib) }, 3 * gib, 7 * gib},
		"frees":  {func(s *scene) { s.free(1) }, 3 * gib, 9 * gib},
	} {
		s := newScene(t, 1, people{7: {}})
		key := s.gpus[0].Key()
		list := func(took time.Duration, n sampler.Bytes) {
			s.Tracker.Listed(key, s.now, took, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
		}
		s.context(0)
		s.alloc(1, 2*gib)
		s.list(0, 7, sampler.Some(3*gib))
		s.later(ms(500))
		list(0, 3*gib) // its context takes 1 GiB
		s.later(ms(500))
		row.call(s)
		s.later(ms(15))
		list(ms(20), row.listed)
		s.later(ms(500))
		if name == "frees" {
			s.alloc(3, 8*gib)
		}
		s.later(ms(500))
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != row.top || p.Peak.Source != sampler.PeakCalls {
			t.Errorf("%s: %+v, not %v", name, p.Peak, row.top)
		}
	}
}
