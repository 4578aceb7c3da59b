package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// HelperName is the name under which nvpeak starts itself as the session helper: see Session.
const HelperName = "nvpeak-session"

// screen is the terminal of nvpeak while a command has one of its own.
type screen struct {
	in      *os.File
	master  *os.File
	mu      sync.Mutex
	modes   *term.State   // before it became raw; nil: it is not
	resumed chan struct{} // it may be ours again
}

// runInTerminal runs a command in a session and a pseudo-terminal of its own.
func runInTerminal(path string, o Options) int {
	master, slave, err := pty.Open()
	if err != nil {
		o.Problem("no pseudo-terminal: " + err.Error())
		return runBeside(path, o)
	}
	s := &screen{in: o.In, master: master, resumed: make(chan struct{}, 1)}
	s.likeOurs(slave)
	out := &outputs{side: o.Side, opened: []*os.File{slave}}
	out.copies = []*copying{{from: master, to: o.Out, side: &stream{side: o.Side}, terminal: true}}
	files := []uintptr{slave.Fd(), slave.Fd(), slave.Fd(), o.In.Fd()}
	switch {
	case wasClosed(o.Err):
		files[2] = ^uintptr(0)
	case !isTerminal(o.Err):
		errs, err := out.pass(o.Err)
		if err != nil {
			o.Problem(err.Error())
			return codeNotExecutable
		}
		files[2] = errs.Fd()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := func(pid int) {
		passSignals(pid, true)
		s.watch(ctx)
		s.take()
		out.begin(ctx)
		go s.typed()
	}
	helper := o
	helper.Args = append([]string{HelperName, path}, o.Args...)
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGHUP}
	code, err := wait(o.Helper, helper, files, attr, began, s.stopped)
	if err != nil { // nvpeak does not find itself
		return runBeside(path, o)
	}
	cancel()
	out.end()
	s.give()
	return code
}

// likeOurs gives the pseudo-terminal the modes and the size of ours.
func (s *screen) likeOurs(slave *os.File) {
	if modes, err := unix.IoctlGetTermios(int(s.in.Fd()), unix.TCGETS); err == nil {
		unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, modes) //nolint:errcheck // then it has the usual ones
	}
	pty.InheritSize(s.in, s.master) //nolint:errcheck // then it has none
}

// ours says whether nvpeak is in the foreground: in the background it keeps its hands off the terminal.
func (s *screen) ours() bool {
	front, err := unix.IoctlGetInt(int(s.in.Fd()), unix.TIOCGPGRP)
	return err == nil && front == unix.Getpgrp()
}

// take makes our terminal raw, so that keys reach the command as they are.
func (s *screen) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modes != nil || !s.ours() {
		return
	}
	pty.InheritSize(s.in, s.master) //nolint:errcheck // it keeps the one it has
	s.modes, _ = term.MakeRaw(int(s.in.Fd()))
	select {
	case s.resumed <- struct{}{}:
	default:
	}
}

// give gives our terminal back as it was.
func (s *screen) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modes != nil && s.ours() {
		term.Restore(int(s.in.Fd()), s.modes) //nolint:errcheck // the terminal has gone
	}
	s.modes = nil
}

// stopped stops nvpeak as the command was stopped, and lets both go on together.
func (s *screen) stopped(helper int, _ unix.Signal) {
	s.give()
	stopJob()
	s.take()
	unix.Kill(helper, unix.SIGCONT) //nolint:errcheck // it is our child, and waits
}

// watch passes new sizes on, and takes the terminal when nvpeak comes to the foreground.
func (s *screen) watch(ctx context.Context) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGWINCH, syscall.SIGCONT) // before anything of the command can be seen
	go func() {
		defer signal.Stop(ch)
		for {
			select {
			case <-ctx.Done():
				return
			case got := <-ch:
				if got == syscall.SIGCONT {
					s.again()
				}
				pty.InheritSize(s.in, s.master) //nolint:errcheck // it keeps the one it has
			}
		}
	}()
}

// again takes the terminal after a stop: whoever had it may have changed its modes.
func (s *screen) again() {
	s.mu.Lock()
	raw := s.modes
	s.mu.Unlock()
	if raw == nil {
		s.take()
	} else if s.ours() {
		term.MakeRaw(int(s.in.Fd())) //nolint:errcheck // the terminal has gone
	}
}

// lookForGround is how often nvpeak in the background looks whether it still is: a shell that brings a job to
// the foreground that runs already does not tell it.
const lookForGround = 250 * time.Millisecond

// typed passes on what is typed, while nvpeak is in the foreground. It ends with the process: a read of a
// terminal cannot be called off.
func (s *screen) typed() {
	fd := int(s.in.Fd())
	buf := make([]byte, 4096)
	for {
		if !s.ours() {
			select {
			case <-s.resumed:
			case <-time.After(lookForGround):
			}
			continue
		}
		s.take()
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) || !s.ours() {
			continue
		}
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if n <= 0 {
			return
		}
		if bytes.IndexByte(buf[:n], controlC) >= 0 {
			noteInterrupt()
		}
		if _, err := s.master.Write(buf[:n]); err != nil {
			return
		}
	}
}
