// Package crash gives the terminal back and says why when C code of others, the driver library, crashes in this process or calls exit.
package crash

/*
#include <stddef.h>
#include <termios.h>
void crash_watch(_Bool exits);
int crash_survive(void);
void crash_terminal(int in, int out, const unsigned char *text, size_t len, const struct termios *modes);
void crash_no_terminal(void);
*/
import "C"

import (
	"cmp"
	"context"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

var watch sync.Once

// Watch begins to watch. What crashes in Go's own code is Go's to tell, as before.
func Watch() { watch.Do(func() { C.crash_watch(C._Bool(goExitsWithout)) }) }

// Survive makes a call that crashes one that hangs: its thread stops where it is for ever, where the program would end. The context that it
// returns then ends, with why as its cause. No call into the driver may be made after that: the locks that the call held stay held.
func Survive(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	survive.Do(func() {
		Watch()
		if fd := C.crash_survive(); fd >= 0 { // else a crash ends the program, as before
			go tell(os.NewFile(uintptr(fd), "crash"))
		}
	})
	ctx, end := context.WithCancelCause(parent)
	stop := context.AfterFunc(crashed, func() { end(context.Cause(crashed)) })
	return ctx, func() {
		stop()
		end(nil)
	}
}

var (
	survive        sync.Once
	crashed, crash = context.WithCancelCause(context.Background())
)

// tell reads what the handler of the signal writes, or of exit: 0.
func tell(pipe *os.File) {
	sig := make([]byte, 1)
	if n, _ := pipe.Read(sig); n == 1 {
		crash(died(cmp.Or(unix.SignalName(syscall.Signal(sig[0])), "exit")))
	}
}

// died is that the library has crashed: of which signal, or by exit.
type died string

func (d died) Error() string { return d.Reason() + "; see what it says: sudo dmesg | grep -i nvrm" }

// Reason is what failed, without what to do about it.
func (d died) Reason() string {
	return sampler.ErrCrashed.Error() + " (" + string(d) + ")"
}

func (died) Unwrap() error { return sampler.ErrCrashed }

// Terminal is one that is taken now: its modes as they are, and what is to be written when it is given back.
type Terminal struct {
	in, out int
	modes   C.struct_termios
	known   bool
}

// Save keeps the modes of a terminal, before they are changed.
func Save(in, out int) *Terminal {
	t := &Terminal{in: in, out: out}
	t.known = C.tcgetattr(C.int(in), &t.modes) == 0
	return t
}

// Taken says that the terminal is in use from now on.
func (t *Terminal) Taken(leave string) {
	if text := []byte(leave); t.known && len(text) > 0 {
		C.crash_terminal(C.int(t.in), C.int(t.out), (*C.uchar)(&text[0]), C.size_t(len(text)), &t.modes)
	}
}

// Left says that it was given back.
func (*Terminal) Left() { C.crash_no_terminal() }
