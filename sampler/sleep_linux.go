package sampler

import (
	"syscall"
	"time"
)

// punctual makes the thread wake from sleep when it asked to, not when others wake too: the
// program may have been started with a large timer slack.
func punctual() {
	const setTimerSlack = 29                                             // PR_SET_TIMERSLACK, in nanoseconds
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0) // without, it only wakes more often
}

// block blocks the thread itself. On a locked thread it wakes ten times more punctually
// than the runtime's timers (median 0.06 ms late instead of 0.6) at half the cost.
func block(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal may end it early; the caller looks at the time
}
