package request

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A cache is emptied by slow calls, and what is asked for then is refused all the same, slowly, too: what was free at that moment is told as it was, or as
// not known, whenever the memory is read meanwhile, and whenever that is told.
func TestFreeAmidSlowFrees(t *testing.T) {
	const context, block, rest = 500 * mib, 256 * mib, 40 * gib
	known := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		has, at := context+rest, s.now.Add(100*time.Millisecond)
		begin, key, blocks := at, s.gpus[0].Key(), uint64(2+r.IntN(8))
		var events timeline
		slow := func() time.Duration { return ms(30 + r.IntN(60)) }
		for n := range blocks {
			took := slow()
			events.on(at.Add(took/2), func() { has += block })
			at = at.Add(took)
			events.on(at, func() {
				s.Call(Call{Time: s.now, Function: function("cuMemAlloc_v2"), PID: 7, TID: 7, Address: n + 1, Size: uint64(block), Context: 0xc000, Device: -1, Took: took})
			})
		}
		at = at.Add(ms(r.IntN(2000)))
		refused := func() {
			took := slow()
			at = at.Add(took)
			events.on(at, func() {
				s.Call(Call{Time: s.now, Function: function("cuMemAlloc_v2"), PID: 7, TID: 7, Size: uint64(20 * gib), Context: 0xc000, Device: -1, Answer: outOfMemory, Took: took})
			})
		}
		refused()
		for n := range blocks {
			took, began := slow(), uint64(at.UnixNano())
			events.on(at, func() {
				s.Call(Call{Time: s.now, Function: function("cuMemFree_v2"), PID: 7, TID: 7, Address: n + 1, Device: -1, Other: began})
			})
			events.on(at.Add(took/2), func() { has -= block })
			at = at.Add(took)
			events.on(at, func() { s.Lingered(7, began, s.now) })
		}
		refused()
		if r.IntN(2) == 0 {
			refused()
		}
		end := at.Add(ms(500 + r.IntN(3000)))
		s.sweeps = true
		late, passed := ms(r.IntN(250)), begin
		was, stood := has, begin
		s.Reading(key, s.now, has)
		var readings []func() // that have not been passed on
		for read := begin.Add(-ms(r.IntN(20))); read.Before(end); read = read.Add(ms(20)) {
			events.on(read, func() {
				if at, before, now, last := s.now.Truncate(time.Millisecond), was, has, stood; now != before {
					readings = append(readings, func() { s.Reading(key, last, before) }, func() { s.Reading(key, at, now) })
					was = now
				}
				stood = s.now.Truncate(time.Millisecond)
			})
		}
		for tick := begin; tick.Before(end); tick = tick.Add(ms(250)) { // they are passed on some time before each snapshot
			events.on(tick, func() {
				if len(readings) == 0 && s.now.Sub(passed) < time.Second { // nothing is passed on of a GPU that stands still, but once a second
					return
				}
				for _, tell := range readings {
					tell()
				}
				readings, passed = nil, s.now
				s.ReadUntil(stood)
			})
			events.on(tick.Add(late), func() { s.apply() })
		}
		s.play(events, 0)
		if free, ok := s.requests(0).Refusal.Free.Value(); ok {
			if known++; free != 48*gib-context-rest {
				t.Errorf("seed %d: %v free, not %v: %+v", seed, free, 48*gib-context-rest, s.requests(0).Refusal)
			}
		}
	}
	if true {
		t.Log(known)
	}
	if known < 450 {
		t.Errorf("known of %d", known)
	}
}
