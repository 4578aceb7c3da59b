package sampler

import (
	"math"
	"slices"
	"time"
)

// slowDuty is the share of one thread that a slow poller may spend in driver calls.
const slowDuty = 0.05

// schedule says who is asked when by a slow poller: every device once a period, one after
// the other up to when the snapshot of whole periods is due, so that processes and memory
// are of one time; the snapshot waits a moment for the last of them. Drivers hold a lock
// during a list, hence the spacing between devices. When the calls for a device are slow, its period
// grows, so that those of all take at most slowDuty of one thread.
type schedule struct {
	base time.Duration
	next []time.Time
	cost []time.Duration
	off  []bool

	hung   []bool      // the last turn was slow after quick ones: it hung, which says nothing of the next and costs no pause
	spared []time.Time // when that would have ended: until then no other one is spared it
}

// slotMost bounds the time between two devices, slotMargin how long the snapshot waits for
// the last one. Calls that cost less than slotCheap, or all together less than
// slotBrief, are made in one go: a wake-up costs more than they do.
const (
	slotMost   = 10 * time.Millisecond
	slotMargin = 5 * time.Millisecond
	slotCheap  = 250 * time.Microsecond
	slotBrief  = 4 * time.Millisecond
)

func newSchedule(base time.Duration, n int, now time.Time) *schedule {
	s := &schedule{base: base, next: make([]time.Time, n), cost: make([]time.Duration, n), off: make([]bool, n), hung: make([]bool, n), spared: make([]time.Time, n)}
	for i := range s.next {
		s.next[i] = s.slot(i, now)
	}
	return s
}

// slot is the turn of a device before the first whole period for which it is not too late.
func (s *schedule) slot(dev int, now time.Time) time.Time {
	n := time.Duration(len(s.next))
	spacing := min(slotMost, s.base*6/10/n)
	if sum := s.sum(); sum < max(n*slotCheap, slotBrief) {
		spacing = 0
	}
	left := now.Truncate(s.base).Sub(now) + s.base // added to now: setting the clock must not stop the poller
	at := now.Add(left - (n-1-time.Duration(dev))*spacing)
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
	dev = -1
	for i, t := range s.next {
		if !s.off[i] && (dev < 0 || t.Before(at)) {
			dev, at = i, t
		}
	}
	return dev, at
}

// done notes what a device has cost and plans its next turn.
func (s *schedule) done(dev int, began, now time.Time) {
	before, quick := s.cost[dev], s.cost[dev] > 0 && s.skipped(dev) == 0 && !s.hung[dev]
	s.cost[dev] = now.Sub(began)
	pause := s.skipped(dev)
	if s.hung[dev] = quick && pause > 0 && !now.Before(s.spared[dev]); s.hung[dev] {
		s.cost[dev], s.spared[dev] = before, now.Add(pause)
	}
	s.next[dev] = s.slot(dev, now.Add(s.skipped(dev)+slotMargin))
}

// begin plans the turns after a first round, whose costs are noted.
func (s *schedule) begin(now time.Time) {
	for i := range s.next {
		s.next[i] = s.slot(i, now.Add(s.skipped(i)))
	}
}

// skipped is how long a device is not asked, so that the calls keep to their duty: whole periods.
func (s *schedule) skipped(dev int) time.Duration {
	needs := make([]float64, len(s.cost))
	for i, c := range s.cost {
		needs[i] = float64(c) / float64(s.base)
	}
	return time.Duration(float64(s.cost[dev])/fairShare(needs, slowDuty)) / s.base * s.base
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
