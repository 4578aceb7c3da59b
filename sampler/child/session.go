package child

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors of the helper besides the standard ones.
const (
	realTerminal = 3 // the terminal of nvpeak
	toNvpeak     = 4 // a socket: see ending
)

// Session is the session helper: it starts the command as the foreground job of its terminal, stops when
// the command is stopped, and goes on with it. args are the path of the command, then its arguments.
func Session(args []string) (code int) {
	if len(args) < 2 {
		return codeNotExecutable
	}
	before, _ := unix.IoctlGetTermios(0, unix.TCGETS) // those of nvpeak's terminal, before it became raw
	unix.CloseOnExec(realTerminal)
	unix.CloseOnExec(toNvpeak)
	inherit()
	holdSignals() // Ctrl-C before the command has the terminal must not end us, and leave the command behind
	pid, err := start(args[0], args[1:], &syscall.ProcAttr{Env: os.Environ(), Files: descriptors(), Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "nvpeak: %s\n", wordsOf(args[1], err))
		return codeOf(err)
	}
	foreground(pid)
	passSignals(pid, true)
	passEarly()
	go putRight(before)
	signal.Ignore(syscall.SIGTTOU) // from now on it is in the background itself
	code = waitFor(pid, func(_ int, by unix.Signal) { stoppedInSession(pid, by) })
	foreground(unix.Getpgrp())               // what the command has left behind is not hung up with us
	unix.Write(toNvpeak, []byte{byte(code)}) //nolint:errcheck // nvpeak has gone
	for read, err := 0, error(unix.EINTR); read > 0 || errors.Is(err, unix.EINTR); {
		read, err = unix.Read(toNvpeak, make([]byte, 1)) // its end
	}
	return code
}

// descriptors are the standard streams; one that is closed stays so.
func descriptors() []uintptr {
	files := []uintptr{0, 1, 2}
	for fd, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if wasClosed(f) {
			files[fd] = ^uintptr(0)
		}
	}
	return files
}

// foreground gives the terminal to a job.
func foreground(group int) { unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, group) } //nolint:errcheck // the terminal has gone

// stoppedInSession stops the helper, of which nvpeak is told then, until nvpeak lets it go on. A command
// that used the terminal before it had it only goes on.
func stoppedInSession(pid int, by unix.Signal) {
	front, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if err == nil && front == pid && (by == unix.SIGTTIN || by == unix.SIGTTOU) {
		unix.Kill(-pid, unix.SIGCONT) //nolint:errcheck // it has ended
		return
	}
	unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) //nolint:errcheck // it cannot fail
	foreground(pid)
	unix.Kill(-pid, unix.SIGCONT) //nolint:errcheck // it has ended
}

// putRight gives the terminal of nvpeak its modes back when nvpeak was killed and its end of ours is gone.
// Modes that are not raw are those of a shell, which has it already.
func putRight(before *unix.Termios) {
	for {
		gone := []unix.PollFd{{Fd: 0}}
		if _, err := unix.Poll(gone, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if gone[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
			break
		}
	}
	if now, err := unix.IoctlGetTermios(realTerminal, unix.TCGETS); err == nil && before != nil && now.Oflag&unix.OPOST == 0 {
		unix.IoctlSetTermios(realTerminal, unix.TCSETS, before) //nolint:errcheck // nobody is left to be told
	}
}
