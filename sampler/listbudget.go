package sampler

import "time"

// listBudget bounds what process lists out of turn may cost, of all GPUs together: listDuty of one thread
// after a burst, for some drivers take 20 ms for one. Where they are quick, what comes of a list costs more than the call:
// of those for small rises there are five a second, as if each took listLeast.
type listBudget struct {
	credit, small time.Duration
	at            time.Time
}

const (
	listDuty  = 0.02
	listBurst = 50 * time.Millisecond
	listLeast = 4 * time.Millisecond

	// bigRise: a rise of one part in so many of the memory is no small one.
	bigRise = 64
)

// left says whether another list may be read now, for a rise that is a big one, and for a small one.
func (b *listBudget) left(now time.Time) (big, small bool) {
	if d := now.Sub(b.at); d > 0 {
		earned := time.Duration(listDuty * float64(d))
		b.credit, b.small, b.at = min(b.credit+earned, listBurst), min(b.small+earned, listBurst), now
	}
	return b.credit > 0, b.credit > 0 && b.small > 0
}

// spend takes the time that a list has taken.
func (b *listBudget) spend(d time.Duration) {
	b.credit -= d
	b.small = max(b.small-max(d, listLeast), -listBurst)
}
