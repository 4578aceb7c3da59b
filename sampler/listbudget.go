package sampler

import "time"

// listBudget bounds what process lists out of turn may cost, of all GPUs together: listDuty of one thread
// after a burst. Some drivers take 20 ms for one; where they are quick, what comes of a list costs more than the call:
// a list counts as listLeast at least, which makes ten a second.
type listBudget struct {
	credit time.Duration
	at     time.Time
}

const (
	listDuty  = 0.02
	listBurst = 50 * time.Millisecond
	listLeast = 2 * time.Millisecond
)

// spend takes the time that a list has taken.
func (b *listBudget) spend(d time.Duration) { b.credit -= max(d, listLeast) }

// left says whether another list may be read now.
func (b *listBudget) left(now time.Time) bool {
	if d := now.Sub(b.at); d > 0 {
		b.credit, b.at = min(b.credit+time.Duration(listDuty*float64(d)), listBurst), now
	}
	return b.credit > 0
}
