package child

/*
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

// The runtime of Go dies where it cannot have its descriptors at the first timer or file, which a package may open before any code of
// ours runs; that a file cannot be opened does no harm. So where there are fewer than both need, all are taken.
enum { least = 6 };
static int taken[least], takes, scarce;

static int take(void) {
	int fd = eventfd(0, EFD_CLOEXEC);
	if (fd < 0 || fd > 2) return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 3); // a standard stream is closed: it stays so
	close(fd);
	return high;
}

static void give_back(void) {
	while (takes > 0) close(taken[--takes]);
}

__attribute__((constructor(102))) static void try_room(void) { // after look
	while (takes < least && (taken[takes] = take()) >= 0) takes++;
	scarce = takes < least;
	if (!scarce) give_back();
}
static int is_scarce(void) { return scarce; }
*/
import "C"

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Room says whether there were descriptors enough for anything beside a command when nvpeak was started. If not, there are none before
// MakeRoom gives back those that were.
func Room() bool { return C.is_scarce() == 0 }

// MakeRoom is for what runs no command, or cannot do without.
func MakeRoom() { C.give_back() }

// Become runs a command in the place of nvpeak, which needs no descriptor. It returns an exit code where that fails.
func Become(args, env []string, problem func(text string)) int {
	path, err := find(args[0], pathOf(env))
	if err == nil {
		inherit()
		for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
			if wasClosed(f) {
				unix.CloseOnExec(int(f.Fd()))
			}
		}
		defer punctually()()
		if err = syscall.Exec(path, args, env); errors.Is(err, unix.ENOEXEC) && isText(path) {
			err = syscall.Exec("/bin/sh", append([]string{"sh", path}, args[1:]...), env)
		}
	}
	problem(wordsOf(args[0], err))
	return codeOf(err)
}
