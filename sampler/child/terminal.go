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

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// HelperName is the name under which nvpeak starts itself as the session helper: see Session.
const HelperName = "nvpeak-session"

// screen is the terminal of nvpeak while a command has one of its own.
type screen struct {
	fd      int
	master  *os.File
	mu      sync.Mutex
	modes   *term.State   // before it became raw; nil: it is not
	fresh   *unix.Termios // the modes of the command's while it has not got those of ours; nil: it has
	resumed chan struct{} // it may be ours again
	over    int           // hangs up when the command has ended
}

// runInTerminal runs a command in a session and a pseudo-terminal of its own.
func runInTerminal(path string, o Options) int {
	master, slave, err := openPair()
	if err != nil {
		o.Problem("no pseudo-terminal: " + err.Error())
		return runBeside(path, o)
	}
	s := &screen{fd: int(o.In.Fd()), master: master, resumed: make(chan struct{}, 1)}
	s.fresh, _ = unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS)
	s.likeOurs()
	out := newOutputs(o.Side)
	if out.toldFD < 0 {
		return runBeside(path, o)
	}
	out.opened = []*os.File{slave}
	out.copies = []*copying{newCopying(out, master, o.Out)}
	files := []uintptr{slave.Fd(), slave.Fd(), slave.Fd(), o.In.Fd()}
	switch {
	case wasClosed(o.Err):
		files[2] = ^uintptr(0)
	case !isTerminal(o.Err):
		files[2] = out.pass(o.Err).Fd()
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return runBeside(path, o)
	}
	end := &ending{ours: ends[0], theirs: ends[1]}
	files = append(files, uintptr(ends[1]))
	over, ended, err := os.Pipe()
	if err != nil {
		return runBeside(path, o)
	}
	defer over.Close() //nolint:errcheck // nothing was written
	s.over = int(over.Fd())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	typed := make(chan struct{})
	began := func(pid int) {
		passSignals(pid, true)
		s.watch(ctx)
		s.take()
		out.begin(ctx)
		go func() { defer close(typed); s.typed(ctx) }()
		end.await(out)
	}
	helper := o
	helper.Args = append([]string{HelperName, path}, o.Args...)
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGHUP}
	code, err := wait(o.Helper, helper, files, attr, began, func(helper int, _ unix.Signal) {
		out.drain() // else the rest of what was printed stands behind the prompt of the shell
		s.stopped(helper)
	})
	cancel()
	ended.Close()   //nolint:errcheck // nothing was written
	if err != nil { // nvpeak does not find itself
		return runBeside(path, o)
	}
	out.end()
	out.close()
	out.relay(o.Helper)
	<-typed // what is typed from now on is not for the command
	s.give()
	return end.code(code)
}

// ending is how the session helper tells that the command has ended. With the helper the session ends, and what
// nobody has read of the terminal yet would be lost: so it waits until everything is read.
type ending struct {
	ours, theirs int
	told         [1]byte
	known        bool
	done         chan struct{}
}

// await copies what is left when the command has ended, and lets the helper go.
func (e *ending) await(out *outputs) {
	unix.Close(e.theirs) //nolint:errcheck // the helper has it
	e.done = make(chan struct{})
	go func() {
		defer close(e.done)
		n, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Read(e.ours, e.told[:])
		}
		if e.known = n == 1; e.known {
			out.end()
		}
		unix.Close(e.ours) //nolint:errcheck // nothing was written
	}()
}

// code is what the helper has told, or how it ended itself.
func (e *ending) code(helper int) int {
	<-e.done
	if e.known {
		return int(e.told[0])
	}
	return helper
}

// likeOurs gives the pseudo-terminal the size of ours, and once its modes, unless the command has chosen its own. While
// nvpeak is in the background ours has those of the shell's line editor.
func (s *screen) likeOurs() {
	resize(s.master, s.fd)
	if s.fresh == nil || !s.ours() {
		return
	}
	fd := int(s.master.Fd())
	now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	ours, failed := unix.IoctlGetTermios(s.fd, unix.TCGETS)
	if err == nil && failed == nil && *now == *s.fresh {
		unix.IoctlSetTermios(fd, unix.TCSETS, ours) //nolint:errcheck // then it has the usual ones
	}
	s.fresh = nil
}

// ours says whether nvpeak is in the foreground: in the background it keeps its hands off the terminal.
func (s *screen) ours() bool {
	front, err := unix.IoctlGetInt(s.fd, unix.TIOCGPGRP)
	return err == nil && front == unix.Getpgrp()
}

// take makes our terminal raw, so that keys reach the command as they are.
func (s *screen) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modes != nil || !s.ours() {
		return
	}
	s.likeOurs()
	s.modes, _ = term.MakeRaw(s.fd)
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
		term.Restore(s.fd, s.modes) //nolint:errcheck // the terminal has gone
	}
	s.modes = nil
}

// stopped stops nvpeak as the command was stopped, and lets both go on together.
func (s *screen) stopped(helper int) {
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
				resize(s.master, s.fd)
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
		term.MakeRaw(s.fd) //nolint:errcheck // the terminal has gone
	}
}

// lookForGround is how often nvpeak in the background looks whether it still is: a shell that brings a job to
// the foreground that runs already does not tell it.
const lookForGround = 250 * time.Millisecond

// typed passes on what is typed, while nvpeak is in the foreground, until the command has ended.
func (s *screen) typed(ctx context.Context) {
	buf := make([]byte, 4096)
	for ctx.Err() == nil {
		if !s.ours() {
			select {
			case <-ctx.Done():
			case <-s.resumed:
			case <-time.After(lookForGround):
			}
			continue
		}
		s.take()
		ready := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(s.over)}}
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) || ready[1].Revents != 0 || !s.ours() {
			continue
		}
		n, err := unix.Read(s.fd, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if n <= 0 {
			return
		}
		if bytes.IndexByte(buf[:n], controlC) >= 0 {
			noteInterrupt()
		}
		if !s.send(buf[:n]) {
			return
		}
	}
}

// send passes on what was typed. The command may be slow to read it.
func (s *screen) send(b []byte) bool {
	for {
		n, err := s.master.Write(b)
		if b = b[n:]; err == nil {
			return true
		} else if !errors.Is(err, unix.EAGAIN) {
			return false
		}
		room := []unix.PollFd{{Fd: int32(s.master.Fd()), Events: unix.POLLOUT}, {Fd: int32(s.over)}}
		if poll(room, -time.Millisecond); room[1].Revents != 0 {
			return false
		}
	}
}
