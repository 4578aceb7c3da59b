//go:build linux && (amd64 || arm64)

package uprobe

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// leave lets somebody else wait until the probes are out: the kernel takes tens of milliseconds for that, until nobody can be
// in one, and does so before it lets a process end. A shell gets them as well, and ends once left is called, so that what is
// closed here before is not the last of it. Where there is none, or probes are no files of their own (before Linux 5.15), this
// process waits.
func (d *Door) leave() (left func()) {
	heir := exec.Command("/bin/sh", "-c", "read end")
	heir.Env, heir.Dir = []string{}, "/"
	heir.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	for _, lib := range d.files {
		for _, x := range lib.all() {
			l, ok := x.(interface{ FD() int })
			if !ok {
				continue
			}
			if fd, err := unix.FcntlInt(uintptr(l.FD()), unix.F_DUPFD_CLOEXEC, 0); err == nil { //nolint:gosec // a descriptor
				f := os.NewFile(uintptr(fd), "link") //nolint:gosec // the same
				defer f.Close()                      //nolint:errcheck // it is a copy
				heir.ExtraFiles = append(heir.ExtraFiles, f)
			}
		}
	}
	end, err := heir.StdinPipe()
	if err != nil || len(heir.ExtraFiles) == 0 || heir.Start() != nil {
		return func() {}
	}
	return func() {
		end.Close()                          //nolint:errcheck // that ends it
		d.closing.Go(func() { heir.Wait() }) //nolint:errcheck // however it ended
	}
}
