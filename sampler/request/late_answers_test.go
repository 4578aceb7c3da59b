package request

import (
	"math/rand/v2"
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
		var events timeline
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
				events.on(at, func() { has -= b.bytes; s.free(b.address) })
				continue
			}
			b := block{address, sampler.Bytes(8*(1+r.IntN(40))) * mib}
			address++
			held = append(held, b)
			events.on(at, func() { has += b.bytes; peak = max(peak, has) })
			at = at.Add(takes)
			events.on(at, func() {
				s.call("cuMemAlloc_v2", Call{Address: b.address, Size: uint64(b.bytes), Context: 0xc000, Device: -1, Took: takes})
			})
		}
		for at := begin.Add(ms(r.IntN(1000))); at.Before(end); at = at.Add(time.Second) {
			events.on(at.Add(300*time.Microsecond), func() {
				s.Listed(s.gpus[0].Key(), s.now.Add(time.Millisecond).Truncate(time.Millisecond), []sampler.Process{{PID: 7, Memory: sampler.Some(has)}})
			})
			events.on(at.Add(ms(r.IntN(300))), func() { s.apply() })
		}
		s.play(events, time.Millisecond) // a call takes one
		s.now = end.Add(time.Second)
		if p := s.of(0, 7).Peak; p != nil && (p.Bytes > peak || p.Source == sampler.PeakCalls && p.Bytes != peak) {
			t.Errorf("seed %d: %+v, and the most was %v", seed, p, peak)
		}
	}
}

// What is given back is told when that begins, and its end if that took long: until one knows, a figure of meanwhile tells no peak. It is believed once
// the thread calls again, or is not heard for so long.
func TestFigureWhileGivingBack(t *testing.T) {
	const context = 500 * mib
	for name, row := range map[string]struct {
		after func(s *scene)
		want  sampler.Bytes // with 4 GiB more at last
	}{
		"it took long":           {func(s *scene) { s.Lingered(7, 1, s.now) }, 4*gib + context},
		"the thread calls again": {func(s *scene) { s.alloc(3, mib); s.free(3) }, 5*gib + context},
		"nothing is heard of it": {func(s *scene) { s.later(givingBack) }, 5*gib + context},
		"another thread calls": {func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: 4, Size: uint64(mib), TID: 8, Context: 0xc000, Device: -1})
		}, 5*gib + context},
		"the first is told later": {func(s *scene) { s.apply(); s.later(ms(100)); s.apply(); s.Lingered(7, 1, s.now) }, 4*gib + context},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(2, gib)
		s.later(ms(50))
		s.call("cuMemFree_v2", Call{Address: 2, Device: -1, Other: 1})
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(gib + context)}})
		s.later(ms(20))
		if p := s.of(0, 7).Peak; p.Bytes != gib {
			t.Errorf("%s: meanwhile %+v", name, p)
		}
		row.after(s)
		s.later(givingBack)
		s.apply()
		s.alloc(5, 4*gib)
		if p := s.of(0, 7).Peak; p.Bytes/gib != row.want/gib || p.Bytes > row.want+mib || (p.Source == sampler.PeakCalls) != (row.want > 5*gib) {
			t.Errorf("%s: %+v, not %v", name, p, row.want)
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
