package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command that does not end takes all that it started with it.
func TestOnAlertKillsGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Command("sleep 600 & echo $! > "+file+"; wait").Send(ctx, []byte("{}")) }()
	pid := writtenPID(t, file)
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a command that was killed gave no error")
		}
	case <-time.After(20 * time.Second):
		t.Error("the command goes on")
	}
	for range 1000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the child of the command lives on")
}

// So does what left the group of the command for a session of its own.
func TestOnAlertKillsSessions(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Command("(setsid sh -c 'echo $$ > "+file+"; exec sleep 600' &) ; sleep 600").Send(ctx, []byte("{}"))
	}()
	pid := writtenPID(t, file)
	cancel()
	<-ended
	for range 1000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the session of the command lives on")
}

// What a command leaves in the background stays when the command itself has ended.
func TestOnAlertBackground(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	if err := Command("sleep 600 >/dev/null 2>&1 </dev/null & echo $! > "+file).Send(t.Context(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	pid := writtenPID(t, file)
	if !alive(pid) {
		t.Error("it was killed")
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

// writtenPID is the process that a command writes into a file, as soon as it has.
func writtenPID(t *testing.T, file string) int {
	t.Helper()
	for range 1000 {
		b, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && strings.HasSuffix(string(b), "\n") {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command does not begin")
	return 0
}

// alive says whether a process runs; one that waits to be collected does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
