package child

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// copying passes one output on, byte for byte.
type copying struct {
	from, to *os.File
	all      *outputs // that it is one of
	side     *stream
	terminal bool
	real     int  // the descriptor of to
	held     bool // others than the command had it open at the end; from is then left open
	lull     lull
	passing  sync.Mutex // held from a read until what it gave is written
}

// settle is how long what was printed to a terminal may be on its way through the kernel.
const settle = 20 * time.Millisecond

// maxDrain: a shell that waits for a stop does not wait longer.
const maxDrain = 500 * time.Millisecond

// maxLeft bounds what is copied after the end of a command: nothing that was printed before can be more.
const maxLeft = 2 << 20

func newCopying(all *outputs, from, to *os.File) *copying {
	fd := int(to.Fd())
	terminal := term.IsTerminal(fd)
	return &copying{from: from, to: to, all: all, side: all.side.output(), terminal: terminal, real: fd, lull: newLull(from, terminal)}
}

func (c *copying) run() {
	defer func() {
		if !c.held {
			c.from.Close() //nolint:errcheck // it was only read
		}
	}()
	defer c.side.end()
	buf := make([]byte, 64<<10)
	for left, passed := maxLeft, 0; left > 0; {
		ready, over := c.wait()
		if !ready {
			break
		}
		c.passing.Lock()
		n, err := c.from.Read(buf)
		if errors.Is(err, unix.EAGAIN) {
			c.passing.Unlock()
			continue
		}
		c.side.Write(buf[:n]) //nolint:errcheck // it has none
		_, failed := c.to.Write(buf[:n])
		c.passing.Unlock()
		if failed != nil && !c.terminal {
			return // the reader has gone: so it is for the command
		}
		if passed += n; passed >= pipeRoom && passed-n < pipeRoom && !c.terminal {
			c.lull.resize(c.from, pipeRoom)
		}
		if err != nil {
			return
		}
		if over {
			left -= n
		} else {
			c.pause(c.lull.after(n, time.Now()))
		}
	}
	c.held = !c.terminal
}

// wait waits until there is something to be read, and when the command has ended no longer than for what is on its way.
func (c *copying) wait() (ready, over bool) {
	fds := []unix.PollFd{{Fd: int32(c.from.Fd()), Events: unix.POLLIN}, {Fd: int32(c.all.toldFD), Events: unix.POLLIN}}
	poll(fds, -time.Millisecond)
	if over = fds[1].Revents != 0; over {
		poll(fds[:1], settle)
	}
	return fds[0].Revents != 0, over
}

// drain waits until what a command that is stopped has printed is passed on, and no longer than maxDrain: whoever reads may have stopped, too.
func (c *copying) drain(until time.Time) {
	for time.Now().Before(until) {
		left := []unix.PollFd{{Fd: int32(c.from.Fd()), Events: unix.POLLIN}}
		if poll(left, settle); left[0].Revents&unix.POLLIN == 0 && c.passing.TryLock() {
			c.passing.Unlock()
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// poll waits for one of the descriptors; a time of less than 0 has no end.
func poll(fds []unix.PollFd, most time.Duration) {
	for {
		if _, err := unix.Poll(fds, int(most.Milliseconds())); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// pause waits, at most until the command has ended.
func (c *copying) pause(d time.Duration) {
	if d == 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-c.all.over:
	}
}
