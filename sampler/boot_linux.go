package sampler

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime counts the time in which the machine slept, which Go's own monotonic clock leaves out.
func bootTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return goTime()
	}
	return time.Duration(ts.Nano())
}
