package sampler

import (
	"math"
	"slices"
	"sync"
	"time"
)

// slowDuty is the share of one thread that a slow poller may spend in driver calls, freshDuty where its figures would be out of date
// with less.
const (
	slowDuty  = 0.05
	freshDuty = 0.2
)

// schedule says who is asked when by a slow poller: every device once a period, one after
// the other up to when the snapshot of whole periods is due, so that processes and memory
// are of one time; the snapshot waits a moment for the last of them. Drivers hold a lock
// during a list, hence the spacing between devices. When the calls for a device are slow, its period
// grows, so that those of all take at most slowDuty of one thread, or freshDuty where that keeps them fresh. A worker that was relieved notes
// what its last call has cost, while the next one goes on.
type schedule struct {
	mu   sync.Mutex
	runs bool // the first round is over
	base time.Duration
	next []time.Time
	cost []time.Duration
	off  []bool

	turns []turns
	slots int // of which each device has one: with two plans for each, both are in it
}

// turns are those of a device of late.
type turns struct {
	quick int  // in a row
	slow  int  // in a row, which cost a pause
	late  int  // slow ones since there were calmTurns quick ones in a row
	known bool // there was a quick one, ever
}

// One that was quick before, and is slow, may have hung for once, which says nothing of the next turn: that comes after 1, 4, 16 periods, or
// mostSoon, and the whole pause after slowTurns in a row.
const (
	calmTurns = 8
	slowTurns = 3
	mostSoon  = 20
)

// pause notes a turn that is to be followed by a pause, and returns what it is to be followed by.
func (t *turns) pause(whole, base time.Duration) time.Duration {
	if whole == 0 {
		t.known, t.slow = true, 0
		if t.quick++; t.quick >= calmTurns {
			t.late = 0
		}
		return 0
	}
	soon := min(base<<min(2*t.late, 6), mostSoon*base) - base
	t.quick, t.slow, t.late = 0, t.slow+1, t.late+1
	if !t.known || t.slow >= slowTurns {
		return whole
	}
	return min(whole, soon)
}

// slotMost bounds the time between two devices, slotMargin how long the snapshot waits for
// the last one. Calls that cost less than slotCheap, or all together less than
// slotBrief, are made in one go: a wake-up costs more than they do.
const (
	slotMost   = 10 * time.Millisecond
	slotMargin = 5 * time.Millisecond
	slotCheap  = 250 * time.Microsecond
	slotBrief  = 6 * time.Millisecond
)

func newSchedule(base time.Duration, n, slots int, now time.Time) *schedule {
	s := &schedule{base: base, slots: slots, next: make([]time.Time, n), cost: make([]time.Duration, n), off: make([]bool, n), turns: make([]turns, n)}
	for i := range s.next {
		s.next[i] = s.slot(i, now)
	}
	return s
}

// slot is the turn of a device before the first whole period for which it is not too late.
func (s *schedule) slot(dev int, now time.Time) time.Time {
	n := time.Duration(s.slots)
	spacing := min(slotMost, s.base*6/10/n)
	if sum := s.sum(); sum < max(n*slotCheap, slotBrief) {
		spacing = 0
	}
	left := now.Truncate(s.base).Sub(now) + s.base // added to now: setting the clock must not stop the poller
	at := now.Add(left - (n-1-time.Duration(dev%s.slots))*spacing)
	for !at.After(now) {
		at = at.Add(s.base)
	}
	return at
}

func (s *schedule) sum() (sum time.Duration) {
	for _, c := range s.cost {
		sum += c
	}
	return sum
}

// first is the device that is due next, or -1 when none is left.
func (s *schedule) first() (dev int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dev = -1
	for i, t := range s.next {
		if !s.off[i] && (dev < 0 || t.Before(at)) {
			dev, at = i, t
		}
	}
	return dev, at
}

// done notes what a device has cost and plans its next turn. What cost no whole pause is not held against the others either.
func (s *schedule) done(dev int, began, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.cost[dev]
	s.cost[dev] = now.Sub(began)
	whole := s.skipped(dev)
	pause := s.turns[dev].pause(whole, s.base)
	if pause < whole {
		s.cost[dev] = before
	}
	s.next[dev] = s.slot(dev, now.Add(pause+slotMargin))
}

// begun says whether there was a first round.
func (s *schedule) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// begin plans the turns after a first round that has cost so much.
func (s *schedule) begin(costs []time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = true
	copy(s.cost, costs)
	for i := range s.next {
		s.next[i] = s.slot(i, now.Add(s.skipped(i)))
	}
}

// skipped is how long a device is not asked, so that the calls keep to their duty: whole periods.
func (s *schedule) skipped(dev int) time.Duration {
	pause := time.Duration(float64(s.cost[dev])/s.share(s.base, slowDuty)) / s.base * s.base
	fresh := max(freshFor/s.base-1, 0) * s.base
	if span := fresh + s.base; pause > fresh && float64(s.cost[dev])/float64(span) <= s.share(span, freshDuty) {
		return fresh
	}
	return pause
}

// share is the most of a period that one of the devices may have.
func (s *schedule) share(period time.Duration, duty float64) float64 {
	needs := make([]float64, len(s.cost))
	for i, c := range s.cost {
		needs[i] = float64(c) / float64(period)
	}
	return fairShare(needs, duty)
}

// fairShare is the most that each may have of a total where those that need less leave the rest to the others; infinite
// where all have what they need. It sorts the needs.
func fairShare(needs []float64, total float64) float64 {
	slices.Sort(needs)
	for i, need := range needs {
		share := total / float64(len(needs)-i)
		if need > share {
			return share
		}
		total -= need
	}
	return math.Inf(1)
}
