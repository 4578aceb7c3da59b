package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"nvpeak/sampler/child"
)

// answer to a question.
type answer int

const (
	answerYes answer = iota
	answerNext
	answerStop
)

// asked asks on the terminal whether to try again; without --retry-ask the answer is yes.
func (t *tries) asked(ctx context.Context) (answer, error) {
	if !t.flags.retry.ask {
		return answerYes, nil
	}
	file, ok := t.in.(*os.File)
	if !ok {
		return answerStop, nil
	}
	fmt.Fprint(t.err, "nvpeak: "+t.words().Say("retry.ask"))
	key, err := readKey(ctx, int(file.Fd()))
	fmt.Fprintln(t.err)
	return key, err
}

// readKey reads one of the keys y, n and q. The terminal is as before when it returns, and what follows the key on
// its line is for nobody.
func readKey(ctx context.Context, fd int) (answer, error) {
	before, err := term.MakeRaw(fd)
	if err != nil {
		return answerStop, nil //nolint:nilerr // the terminal has gone: nobody answers
	}
	defer term.Restore(fd, before) //nolint:errcheck // the terminal has gone
	for {
		key, err := typedKey(ctx, fd)
		if err != nil {
			return answerStop, err
		}
		switch key {
		case 'y', 'Y':
			swallow(fd)
			return answerYes, nil
		case 'n', 'N':
			swallow(fd)
			return answerNext, nil
		case 'q', 'Q', 4, 0x1b, 0: // also Ctrl-D, Esc, and the end of the terminal
			swallow(fd)
			return answerStop, nil
		case 3: // Ctrl-C
			child.Interrupted()
			return answerStop, signalError{syscall.SIGINT}
		}
	}
}

// typedKey waits for a key; 0: the terminal has ended.
func typedKey(ctx context.Context, fd int) (byte, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 100); n == 0 || errors.Is(err, unix.EINTR) {
			continue
		}
		var key [1]byte
		if n, err := unix.Read(fd, key[:]); n == 1 {
			return key[0], nil
		} else if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return 0, nil
		}
	}
}

// swallow takes what was typed with a key, such as Enter behind it.
func swallow(fd int) {
	time.Sleep(30 * time.Millisecond)
	unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) //nolint:errcheck // then it is for the command
}
