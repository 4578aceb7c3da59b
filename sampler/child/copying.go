package child

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// copying passes one output on, byte for byte.
type copying struct {
	from, to *os.File
	side     *stream
	terminal bool
	real     int  // the descriptor of to
	held     bool // others than the command had it open at the end; from is then left open

	mu    sync.Mutex
	ended bool
}

// settle is how long what was printed to a terminal may be on its way through the kernel.
const settle = 20 * time.Millisecond

// maxLeft bounds what is copied after the end of a command: nothing that was printed before can be more.
const maxLeft = 2 << 20

func (c *copying) run() {
	defer func() {
		if !c.held {
			c.from.Close() //nolint:errcheck // it was only read
		}
	}()
	defer c.side.end()
	buf := make([]byte, 64<<10)
	for left := maxLeft; left > 0; {
		n, err := c.from.Read(buf)
		c.side.Write(buf[:n]) //nolint:errcheck // it has none
		if _, failed := c.to.Write(buf[:n]); failed != nil && !c.terminal {
			return // the reader has gone: so it is for the command
		}
		over := c.over()
		if over {
			left -= n
		}
		if err == nil || over && errors.Is(err, os.ErrDeadlineExceeded) && c.pending() {
			continue
		}
		c.held = errors.Is(err, os.ErrDeadlineExceeded) && !c.terminal
		return
	}
	c.held = !c.terminal
}

func (c *copying) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		c.from.SetReadDeadline(time.Now().Add(settle)) //nolint:errcheck // pipes and terminals have one
	}
	return c.ended
}

// pending says whether something is waiting to be read.
func (c *copying) pending() bool {
	n := 0
	raw, err := c.from.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) //nolint:errcheck // then there is nothing
	return n > 0
}

func (c *copying) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.over()
}
