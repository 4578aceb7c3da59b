package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command runs a shell command with the alert on its standard input. When its time is over, what it
// started is killed with it; what it left in the background is not, when it has ended by itself.
func Command(command string) Way {
	return Way{"on-alert", func(ctx context.Context, alert []byte) error {
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.Stdin = bytes.NewReader(alert)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Cancel = func() error {
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); err != nil {
				return os.ErrProcessDone // the group is empty
			}
			return nil
		}
		c.WaitDelay = time.Second
		return commandError(c.Run())
	}}
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
