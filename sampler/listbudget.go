package sampler

import "time"

// listBudget bounds what process lists out of turn may cost, of all GPUs together: listDuty of one thread
// after a burst. Some drivers take 20 ms for one.
type listBudget struct {
	credit time.Duration
	at     time.Time
}

const (
	listDuty  = 0.02
	listBurst = 50 * time.Millisecond
)

// left says whether another list may be read now.
func (b *listBudget) left(now time.Time) bool {
	if d := now.Sub(b.at); d > 0 {
		b.credit, b.at = min(b.credit+time.Duration(listDuty*float64(d)), listBurst), now
	}
	return b.credit > 0
}
