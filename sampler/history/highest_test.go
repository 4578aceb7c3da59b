package history

import (
	"math/rand/v2"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Highest gives what looking at every reading gives, whatever the order of asking.
func TestHighest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	start := time.Unix(1_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	type reading struct {
		ms     int
		amount sampler.Bytes
		known  bool
	}
	for range 200 {
		h := NewHighest(10 * time.Second)
		var all []reading
		ms := 0
		for range 300 {
			ms += 1 + rnd.IntN(100)
			r := reading{ms, sampler.Bytes(rnd.IntN(50)), rnd.IntN(20) > 0}
			all = append(all, r)
			if r.known {
				h.Put(at(ms), r.amount)
			} else {
				h.Lose(at(ms))
			}
			since := ms - rnd.IntN(10_000)
			var most sampler.Bytes
			known := false
			for i, r := range all {
				if until := i+1 < len(all); r.known && (!until || all[i+1].ms > since) {
					most, known = max(most, r.amount), true
				}
			}
			if got, ok := h.Since(at(since)); got != most || ok != known {
				t.Fatalf("since %d of %d: %d %v, want %d %v", since, ms, got, ok, most, known)
			}
		}
	}
}

// What falls for long is bounded; a peak is never lost by that, it may only seem to be later.
func TestHighestIsBounded(t *testing.T) {
	h := NewHighest(time.Hour)
	start := time.Unix(1_000_000, 0)
	for i := range 20 * highestSteps {
		h.Put(start.Add(time.Duration(i)*20*time.Millisecond), sampler.Bytes(20*highestSteps-i))
		if len(h.stood) > highestSteps {
			t.Fatalf("%d steps", len(h.stood))
		}
	}
	for i := 1; i < len(h.stood); i++ {
		if h.stood[i].amount >= h.stood[i-1].amount || !h.stood[i].until.After(h.stood[i-1].until) {
			t.Fatalf("step %d is not below the one before", i)
		}
	}
	for i := 20*highestSteps - 1; i >= 0; i -= 997 {
		at := start.Add(time.Duration(i) * 20 * time.Millisecond)
		if got, ok := h.Since(at); !ok || got < sampler.Bytes(20*highestSteps-i) {
			t.Errorf("reading %d: %d, less than it was", i, got)
		}
	}
}

// A clock that goes back, and a reading at the time of the one before, lose nothing.
func TestHighestOutOfOrder(t *testing.T) {
	h := NewHighest(time.Minute)
	start := time.Unix(1_000_000, 0)
	if _, ok := h.Since(start); ok {
		t.Error("something is known of nothing")
	}
	h.Put(start, 5)
	h.Put(start, 9)
	h.Put(start.Add(-time.Second), 7)
	h.Put(start.Add(time.Second), 1)
	if got, _ := h.Since(start.Add(-time.Millisecond)); got != 9 {
		t.Errorf("%d", got)
	}
	if got, _ := h.Since(start.Add(500 * time.Millisecond)); got != 7 {
		t.Errorf("%d", got)
	}
}
