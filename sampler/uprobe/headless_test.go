//go:build linux && (amd64 || arm64)

package uprobe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process goes on when its first thread has ended, and the kernel does not know it by that any more.
func TestHeadless(t *testing.T) {
	const source = `#include <pthread.h>
#include <unistd.h>
static void *rest(void *x) { sleep(60); return x; }
int main(int n, char **v) { pthread_t t; pthread_create(&t, 0, rest, 0); if (n > 1) pthread_exit(0); sleep(60); }`
	program := filepath.Join(t.TempDir(), "threads")
	build := exec.Command("gcc", "-x", "c", "-", "-o", program, "-pthread")
	build.Stdin = strings.NewReader(source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	start := func(args ...string) int {
		cmd := exec.Command(program, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill() //nolint:errcheck // it may have ended
			cmd.Wait()         //nolint:errcheck // it was killed
		})
		return cmd.Process.Pid
	}
	whole, without, ended := start(), start("leave"), start()
	unix.Kill(ended, unix.SIGKILL) //nolint:errcheck // it is there
	for end := time.Now().Add(20 * time.Second); !headless(without); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("its first thread has ended, and that is not seen")
		}
	}
	if headless(whole) || headless(os.Getpid()) || headless(1<<22+1) {
		t.Error("one with its first thread, or none at all, is said to have none")
	}
	var status unix.Siginfo
	if err := unix.Waitid(unix.P_PID, ended, &status, unix.WEXITED|unix.WNOWAIT, nil); err != nil || headless(ended) {
		t.Errorf("%v: one that has ended, and that nobody has waited for, is said to go on", err)
	}
}
