package sampler

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot counts the time in which the machine slept, which Go's own monotonic clock leaves out.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return time.Since(loaded)
	}
	return time.Duration(ts.Nano())
}

// loaded is where a kernel older than 2.6.39 counts from.
var loaded = time.Now()
