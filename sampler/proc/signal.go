package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

// ErrGone says that a process has ended, or that its pid is that of a later process.
var ErrGone = errors.New("the process has ended")

// Signal sends sig to the process pid that started at start, as Identify gave it in
// StartTime, and to no later process of that number: the pid is held by a descriptor
// before the start time is compared, so it cannot change hands in between.
// Errors are ErrGone, sampler.ErrNoPermission, or what the kernel says.
func (h *Host) Signal(pid int, start time.Time, sig unix.Signal) error {
	if pid <= 0 || start.IsZero() {
		return fmt.Errorf("signal to pid %d: not a process known by its start time", pid)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ENOSYS): // before Linux 5.3
		fd = -1
	case err != nil:
		return signalError(pid, err)
	default:
		defer unix.Close(fd)
	}
	if err := h.same(pid, start); err != nil {
		return err
	}
	if fd >= 0 {
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	if fd < 0 || errors.Is(err, unix.ENOSYS) {
		err = unix.Kill(pid, sig)
	}
	return signalError(pid, err)
}

// same checks that the process of that pid is the one that started then.
func (h *Host) same(pid int, start time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.files.stat(pid)
	if err != nil {
		return signalError(pid, err)
	}
	now, ok := startTime(h.boot, s.start)
	if !ok {
		return fmt.Errorf("signal to pid %d: its start time is not known", pid)
	}
	if d := now.Sub(start).Abs(); d >= time.Second/userHZ {
		return fmt.Errorf("pid %d: %w", pid, ErrGone)
	}
	return nil
}

func signalError(pid int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("pid %d: %w", pid, ErrGone)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("signal to pid %d: %w: it belongs to another user", pid, sampler.ErrNoPermission)
	}
	return fmt.Errorf("signal to pid %d: %w", pid, err)
}
