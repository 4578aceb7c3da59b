package child

/*
#include <fcntl.h>
#include <signal.h>

// What nvpeak was started with. Go replaces ignored signals and closed standard streams before any
// of its code runs; a constructor runs before that.
static unsigned long long ignored;
static int closed;
__attribute__((constructor)) static void look(void) {
	struct sigaction now;
	for (int s = 1; s < 32; s++)
		if (!sigaction(s, 0, &now) && now.sa_handler == SIG_IGN) ignored |= 1ull << s;
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0) closed |= 1 << fd;
}
static int was_ignored(int s) { return ignored >> s & 1; }
static int was_closed(int fd) { return closed >> fd & 1; }
*/
import "C"

import (
	"os"
	"os/signal"
	"syscall"
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

// wasIgnored says whether nvpeak was started with a signal ignored.
func wasIgnored(s syscall.Signal) bool { return C.was_ignored(C.int(s)) != 0 }

// wasClosed says whether nvpeak was started without a standard stream.
func wasClosed(f *os.File) bool { return f.Fd() < 3 && C.was_closed(C.int(f.Fd())) != 0 }
