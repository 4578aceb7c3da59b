package sampler

import "time"

// Shares of one thread that the dear lanes may spend in driver calls.
const slowDuty = 0.05

// rounds plans who is asked when in a dear lane: every device once a period, one after
// the other shortly before the snapshot of whole periods is made, so that processes and
// memory are of one moment. Drivers hold a lock during a list, hence the spacing between
// devices. When the calls are slow the period grows, so that they take at most slowDuty
// of one thread.
type rounds struct {
	base time.Duration
	next []time.Time
	cost []time.Duration
	off  []bool
}

// slotMost bounds the time between two devices, slotMargin how long before the snapshot
// the last one is asked. Calls that cost less than slotCheap are made in one go: a
// wake-up costs more than they do.
const (
	slotMost   = 10 * time.Millisecond
	slotMargin = 5 * time.Millisecond
	slotCheap  = 250 * time.Microsecond
)

func newRounds(base time.Duration, n int, now time.Time) *rounds {
	r := &rounds{base: base, next: make([]time.Time, n), cost: make([]time.Duration, n), off: make([]bool, n)}
	for i := range r.next {
		r.next[i] = r.slot(i, now)
	}
	return r
}

// slot is the turn of a device before the first whole period for which it is not too late.
func (r *rounds) slot(dev int, now time.Time) time.Time {
	n := time.Duration(len(r.next))
	spacing := min(slotMost, r.base*6/10/n)
	if mean := r.sum() / n; mean < slotCheap {
		spacing = 0
	}
	left := now.Truncate(r.base).Sub(now) + r.base // added to now: setting the clock must not stop the lane
	at := now.Add(left - slotMargin - (n-1-time.Duration(dev))*spacing)
	for !at.After(now) {
		at = at.Add(r.base)
	}
	return at
}

func (r *rounds) sum() (sum time.Duration) {
	for _, c := range r.cost {
		sum += c
	}
	return sum
}

// first is the device that is due next, or -1 when none is left.
func (r *rounds) first() (dev int, at time.Time) {
	dev = -1
	for i, t := range r.next {
		if !r.off[i] && (dev < 0 || t.Before(at)) {
			dev, at = i, t
		}
	}
	return dev, at
}

// done notes what a device has cost and plans its next turn.
func (r *rounds) done(dev int, began, now time.Time) {
	r.cost[dev] = now.Sub(began)
	skipped := time.Duration(float64(r.sum())/slowDuty) / r.base
	r.next[dev] = r.slot(dev, now.Add(skipped*r.base+slotMargin))
}
