package fleet

import "time"

// Waits between two tries. A host that is down for a day is asked some hundred times an hour at most, and one that was started again is
// back within the last of them.
const (
	leastWait = time.Second
	mostWait  = 30 * time.Second
)

// backOff doubles the wait with each try that fails.
type backOff struct{ failed int }

// next is how long to wait now; random is from 0 to 1 and spreads those that were lost at the same time over a half of it.
func (b *backOff) next(random float64) time.Duration {
	wait := mostWait
	if b.failed < 5 { // 1, 2, 4, 8, 16 s
		wait = leastWait << b.failed
	}
	b.failed++
	return wait - time.Duration(float64(wait)*random/2)
}

// reset begins anew: figures have come.
func (b *backOff) reset() { b.failed = 0 }
