package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Command runs a shell command with the alert on its standard input. When its time is over, what it
// started is killed with it, also in a session of its own; what it left in the background is not, when it has ended by itself.
func Command(command string) Way {
	return Way{"on-alert", func(ctx context.Context, alert []byte) error {
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.Stdin = bytes.NewReader(alert)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		mark := fmt.Sprintf("NVPEAK_ALERT=%d.%d", os.Getpid(), commands.Add(1))
		c.Env = append(os.Environ(), mark)
		c.Cancel = func() error {
			killMarked(mark)
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); err != nil {
				return os.ErrProcessDone // the group is empty
			}
			return nil
		}
		c.WaitDelay = time.Second
		return commandError(c.Run())
	}}
}

// commands counts those that were started.
var commands atomic.Uint64

// killMarked kills the processes that have a variable in their environment: who leaves the group of its parent keeps that.
// Where there is no /proc nothing is found.
func killMarked(mark string) {
	list, _ := os.ReadDir("/proc")
	for _, entry := range list {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		p, err := os.FindProcess(pid) // before its environment is read: the number may be another's by then
		if err != nil {
			continue
		}
		env, _ := os.ReadFile("/proc/" + entry.Name() + "/environ")
		if slices.Contains(strings.Split(string(env), "\x00"), mark) {
			p.Kill() //nolint:errcheck // it has ended
		}
		p.Release() //nolint:errcheck // nothing is held
	}
}

// commandError words how a command ended. A shell that has not found it will not find it next time.
func commandError(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	switch exit.ExitCode() {
	case 126:
		return Hopeless{errors.New("the command is not executable (exit status 126)")}
	case 127:
		return Hopeless{errors.New("the command was not found (exit status 127)")}
	}
	return fmt.Errorf("the command ended with %w", err)
}
