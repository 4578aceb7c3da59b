package sampler

import (
	"testing"
	"time"
)

// What the tests of the loop put fake time in the place of: the clock goes on while a thread is blocked for as long as it asked.
func TestRealTime(t *testing.T) {
	const wait = 5 * time.Millisecond
	punctual()
	before := bootTime()
	for until := before + wait; bootTime() < until; {
		block(until - bootTime())
	}
	if went := bootTime() - before; went < wait || went > time.Minute {
		t.Errorf("%v went by, not %v", went, wait)
	}
}
