package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"nvpeak/sampler"
)

// endGrace is how long what is under way may go on after a signal: enough to finish a file.
const endGrace = 100 * time.Millisecond

// interruptible runs what reads files, and ends with a signal: a file may be long, or a pipe silent.
// The work is left to the end of the process.
func interruptible(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer sampler.Guard(func(err error) { done <- err })
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case <-done: //nolint:errcheck // the signal is why it ends
	case <-time.After(endGrace):
	}
	return context.Cause(ctx)
}

// readable refuses what is no file and no pipe: a device never ends. One that is not there is for
// whoever opens it to report.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0 {
		return nil
	}
	return usagef("%s is %s: name a file", path, kindOf(info.Mode()))
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a socket"
}

// sameFile says whether two names are one file, by whatever links.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return errors.Join(err, err2) == nil && os.SameFile(x, y)
}
