package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Run runs a command to its end and returns its exit code as a shell would: 128 and the signal that
// killed it, 127 when it is not there, 126 when it cannot be executed. It can be called again when it has returned;
// from the first call on signals are passed on, or noted (Asked) while nothing runs.
func Run(o Options) int {
	defer o.Side.Close() //nolint:errcheck // it has none
	path, err := find(o.Args[0], pathOf(o.Env))
	if err != nil {
		o.Problem(wordsOf(o.Args[0], err))
		return codeOf(err)
	}
	inherit()
	if isTerminal(o.In) && isTerminal(o.Out) {
		return runInTerminal(path, o)
	}
	return runBeside(path, o)
}

func isTerminal(f *os.File) bool { return !wasClosed(f) && term.IsTerminal(int(f.Fd())) }

// pathOf is the PATH of an environment.
func pathOf(env []string) string {
	for _, v := range env {
		if len(v) > 5 && v[:5] == "PATH=" {
			return v[5:]
		}
	}
	return "/usr/local/bin:/usr/bin:/bin"
}

// runBeside runs a command in the job of nvpeak, with outputs that are read.
func runBeside(path string, o Options) int {
	out := newOutputs(o.Side)
	files := out.descriptors(o)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began := func(pid int) {
		passSignals(pid, false)
		out.sizes(ctx, pid)
		out.begin(ctx)
	}
	code, err := wait(path, o, files, &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}, began, nil)
	if errors.Is(err, unix.EMFILE) && o.Room != nil {
		out.drop()
		o.Room()
		o.Room, o.unread = nil, true
		return runBeside(path, o)
	}
	if errors.Is(err, unix.EMFILE) && o.unread {
		defer punctually()()
		err = syscall.Exec(path, o.Args, o.Env) // in our place, which needs none
	}
	if err != nil {
		o.Problem(wordsOf(o.Args[0], err))
		return codeOf(err)
	}
	cancel()
	out.end()
	out.close()
	out.relay(o.Helper)
	return code
}

// descriptors are those that the command gets; one that nvpeak has not, it gets neither.
func (o *outputs) descriptors(from Options) (files []uintptr) {
	const none = ^uintptr(0)
	files = []uintptr{from.In.Fd(), none, none}
	if wasClosed(from.In) {
		files[0] = none
	}
	for i, f := range []*os.File{from.Out, from.Err} {
		switch {
		case wasClosed(f):
		case from.unread:
			files[i+1] = f.Fd()
		case i == 1 && files[1] != none && sameFile(from.Out, from.Err):
			files[2] = files[1]
		default:
			files[i+1] = o.pass(f).Fd()
		}
	}
	return files
}

// wait starts a program and waits for its end; began is told its pid, stopped that it was stopped. It is
// the same thread that starts and waits: the signal at our death comes when that thread ends.
func wait(path string, o Options, files []uintptr, attr *syscall.SysProcAttr, began func(pid int), stopped func(pid int, by unix.Signal)) (code int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		pid, failed := start(path, o.Args, &syscall.ProcAttr{Env: o.Env, Files: files, Sys: attr})
		if err = failed; err != nil {
			return
		}
		began(pid)
		code = waitFor(pid, stopped)
	}()
	<-done
	return code, err
}

// start starts a program; a script that names no interpreter is one for the shell, as for execvp, and a broken binary
// is none, as for bash.
func start(path string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	defer punctually()()
	pid, err = syscall.ForkExec(path, args, attr)
	if errors.Is(err, unix.ENOEXEC) && isText(path) {
		return syscall.ForkExec("/bin/sh", append([]string{"sh", path}, args[1:]...), attr)
	}
	return pid, err
}

// isText says whether the first line of a file has no zero byte.
func isText(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) // a file of package os needs the poller of the runtime, for which there may be no room
	if err != nil {
		return false
	}
	defer unix.Close(fd) //nolint:errcheck // it was only read
	b := make([]byte, 80)
	n, _ := unix.Read(fd, b)
	line, _, _ := bytes.Cut(b[:max(n, 0)], []byte("\n"))
	return bytes.IndexByte(line, 0) < 0
}

// waitFor waits for the end of a process and returns its exit code.
func waitFor(pid int, stopped func(pid int, by unix.Signal)) int {
	options := 0
	if stopped != nil {
		options = unix.WUNTRACED
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return codeNotExecutable // somebody else has waited for it: cannot be
		case status.Stopped():
			stopped(pid, status.StopSignal())
		case status.Signaled():
			keepSignals()
			return codeSignal + int(status.Signal())
		case status.Exited():
			keepSignals()
			return status.ExitStatus()
		}
	}
}
