// Package cudatest builds the fake CUDA driver and runs programs on it, for tests.
package cudatest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Build compiles the fake libcuda and the program that plays allocators, once for each state of their sources.
func Build(t testing.TB) (dir string) {
	t.Helper()
	from := Source(t)
	sum := sha256.New()
	sources, err := filepath.Glob(filepath.Join(from, "*"))
	for _, name := range sources {
		text, e := os.ReadFile(name)
		sum.Write(text) //nolint:errcheck // it never fails
		err = errors.Join(err, e)
	}
	cache, e := os.UserCacheDir()
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(cache, "nvpeak-fakecuda", hex.EncodeToString(sum.Sum(nil)[:8]))
	if exists(filepath.Join(dir, "play")) {
		return dir
	}
	half := fmt.Sprintf("%s.%d", dir, os.Getpid()) // another test may build at the same time: the first one counts
	if out, err := exec.Command("sh", filepath.Join(from, "build.sh"), half).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if os.Rename(half, dir) != nil {
		os.RemoveAll(half) //nolint:errcheck // it is a copy
	}
	return dir
}

// Alone waits until no other test plays on this machine, and keeps it so until the test ends: who looks at requests sees
// those of every program. Where somebody's job uses a GPU, the test is left out, but not in CI.
func Alone(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "nvpeak-fakecuda.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) //nolint:errcheck // that gives the lock back
	if pid := another(); pid != "" && os.Getenv("CI") == "" {
		t.Skipf("process %s uses libcuda, too: what it asks for would be counted with what the test asks for; run it when the GPUs are idle", pid)
	}
}

// another is a process that has loaded a libcuda; "" where none has, as far as one may look.
func another() string {
	list, _ := filepath.Glob("/proc/[0-9]*/maps") //nolint:errcheck // the pattern is right
	for _, name := range list {
		if maps, err := os.ReadFile(name); err == nil && strings.Contains(string(maps), "/libcuda.so") {
			return filepath.Base(filepath.Dir(name))
		}
	}
	return ""
}

// Library is the fake libcuda in a directory made by Build.
func Library(dir string) string { return filepath.Join(dir, "libcuda.so.1") }

// Source is testdata/fakecuda.
func Source(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; at != "/"; at = filepath.Dir(at) {
		if dir := filepath.Join(at, "testdata", "fakecuda"); exists(dir) {
			return dir
		}
	}
	t.Fatal("no testdata/fakecuda above the test")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Player is a program that asks for memory as it is told.
type Player struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// Play starts one; env is on top of the test's own environment.
func Play(t testing.TB, dir string, env ...string) *Player {
	t.Helper()
	return Start(t, exec.Command(filepath.Join(dir, "play"), Library(dir)), env...)
}

// Start is Play with a command that ends in the program.
func Start(t testing.TB, cmd *exec.Cmd, env ...string) *Player {
	t.Helper()
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Player{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(p.Kill)
	return p
}

// PID is the program's.
func (p *Player) PID() int { return p.cmd.Process.Pid }

// In is where commands go that are not answered.
func (p *Player) In() io.Writer { return p.in }

// Kill ends the program at once.
func (p *Player) Kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	p.cmd.Wait()         //nolint:errcheck // the same
}

// Do sends commands and returns what the program says to them, a line each.
func (p *Player) Do(commands ...string) (said []string) {
	p.t.Helper()
	for _, c := range append(commands, "echo done") {
		if _, err := fmt.Fprintln(p.in, c); err != nil {
			p.t.Fatal(err)
		}
	}
	for p.out.Scan() {
		if p.out.Text() == "done" {
			return said
		}
		said = append(said, p.out.Text())
	}
	p.t.Fatalf("the program has ended: %s", strings.Join(said, "\n"))
	return nil
}

// End sends a command that ends the program, and waits for that.
func (p *Player) End(command string) {
	p.t.Helper()
	fmt.Fprintln(p.in, command) //nolint:errcheck // it ends
	p.in.Close()                //nolint:errcheck // the same
	for p.out.Scan() {
	}
	p.cmd.Wait() //nolint:errcheck // however it ended
}
