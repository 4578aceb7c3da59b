package child

/*
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

// What nvpeak was started with. Go replaces ignored signals and closed standard streams before any
// of its code runs; a constructor runs before that, and an early one before others of ours.
static unsigned long long ignored;
static int closed;
static int slack;
__attribute__((constructor(101))) static void look(void) {
	struct sigaction now;
	for (int s = 1; s < 32; s++)
		if (!sigaction(s, 0, &now) && now.sa_handler == SIG_IGN) ignored |= 1ull << s;
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0) closed |= 1 << fd;
	slack = prctl(PR_GET_TIMERSLACK);
}
static int was_ignored(int s) { return ignored >> s & 1; }
static int was_closed(int fd) { return closed >> fd & 1; }
static int was_slack(void) { return slack; }
*/
import "C"

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherit makes a command that is started find the signals ignored that nvpeak found ignored, and no
// others: nohup is nohup for it, and a closed pipe kills what it would have killed.
func inherit() {
	unnoticed := make(chan os.Signal, 1)
	signal.Notify(unnoticed, syscall.SIGPIPE) // as a handler, which the command does not get
	for s := syscall.Signal(1); s < 32; s++ {
		if wasIgnored(s) {
			signal.Ignore(s)
		}
	}
}

// punctually gives this thread, and with it what it starts, the timer slack that nvpeak was started with, until the function
// is called that it returns. That of nvpeak's own threads would let a command sleep a millisecond in place of 50 us.
func punctually() (done func()) {
	runtime.LockOSThread()
	ours, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(C.was_slack()), 0, 0, 0)
	}
	return func() {
		if err == nil {
			unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ours), 0, 0, 0) //nolint:errcheck // it was set a moment ago
		}
		runtime.UnlockOSThread()
	}
}

// wasIgnored says whether nvpeak was started with a signal ignored.
func wasIgnored(s syscall.Signal) bool { return C.was_ignored(C.int(s)) != 0 }

// wasClosed says whether nvpeak was started without a standard stream.
func wasClosed(f *os.File) bool { return f.Fd() < 3 && C.was_closed(C.int(f.Fd())) != 0 }
