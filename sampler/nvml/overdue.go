package nvml

/*
#include <sys/timerfd.h>

static int new_alarm(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }
*/
import "C"

import "os"

// overdue is an alarm that a sweep sets anew before each reading and after each slow call, so that it goes off only when one
// has lasted too long. Whoever looked after the calls himself would have to wake for it many times a second.
type overdue struct {
	alarm int64    // its descriptor; -1: there is none
	file  *os.File // the same, for Go to wait for
}

func newOverdue() overdue {
	fd := C.new_alarm()
	if fd < 0 {
		return overdue{alarm: -1}
	}
	return overdue{int64(fd), os.NewFile(uintptr(fd), "alarm")}
}

func (o overdue) close() {
	if o.file != nil {
		o.file.Close() //nolint:errcheck // it was never written
	}
}

// Overdue implements sampler.Sweeper.
func (s *Source) Overdue() bool {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c == nil || c.overdue.file == nil {
		return false
	}
	var times [8]byte
	_, err := c.overdue.file.Read(times[:])
	return err == nil
}
