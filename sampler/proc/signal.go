package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

// Signal sends sig to the process pid that started at start, as Identify gave it in
// StartTime, and to no later process of that number: the pid is held by a descriptor
// before the start time is compared, so it cannot change hands in between.
// Errors are sampler.ErrGone, sampler.ErrNoPermission, or what the kernel says.
func (h *Host) Signal(pid int, start time.Time, sig unix.Signal) error {
	if pid <= 0 || start.IsZero() {
		return fmt.Errorf("signal to pid %d: not a process known by its start time", pid)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ENOSYS): // before Linux 5.3
		fd = -1
	case err != nil:
		return ofProcess("signal to", pid, err)
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
	return ofProcess("signal to", pid, err)
}

// Alive says whether the process pid that started at start still runs. One that waits for its
// parent to read its exit code has ended: it holds nothing.
func (h *Host) Alive(pid int, start time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.files.stat(pid)
	return err == nil && s.state != 'Z' && s.state != 'X' && h.began(pid, s, start) == nil
}

// same checks that the process of that pid is the one that started then.
func (h *Host) same(pid int, start time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.files.stat(pid)
	if err != nil {
		return ofProcess("signal to", pid, err)
	}
	return h.began(pid, s, start)
}

// began checks that the process of that stat started then.
func (h *Host) began(pid int, s stat, start time.Time) error {
	now, ok := startTime(h.boot, s.start)
	if !ok {
		return fmt.Errorf("signal to pid %d: its start time is not known", pid)
	}
	if d := now.Sub(start).Abs(); d >= time.Second/userHZ {
		return fmt.Errorf("pid %d: %w", pid, sampler.ErrGone)
	}
	return nil
}

// ofProcess says what could not be done with a process.
func ofProcess(what string, pid int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("pid %d: %w", pid, sampler.ErrGone)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s pid %d: %w: it belongs to another user", what, pid, sampler.ErrNoPermission)
	}
	return fmt.Errorf("%s pid %d: %w", what, pid, err)
}
