package child

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// outputs are where a command prints to, and what reads along.
type outputs struct {
	side    *Side
	copies  []*copying
	files   []*follower
	opened  []*os.File // ends of the command, to be closed once it has them
	working sync.WaitGroup
	once    sync.Once
	over    chan struct{} // closed when the command has ended
	toldFD  int           // an eventfd, readable from then on; less than 0: none was left, and nothing can be read
}

func newOutputs(side *Side) *outputs {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		fd = -1
	}
	return &outputs{side: side, over: make(chan struct{}), toldFD: fd}
}

// pass is the descriptor that a command gets in place of f: f itself where what is printed can be read
// in the file, and everything else through a pipe or, for a terminal, a terminal.
func (o *outputs) pass(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil {
		return f // whatever it is
	}
	if info.Mode().IsRegular() {
		if follows := follow(f, o.side); follows != nil {
			o.files = append(o.files, follows)
		}
		return f
	}
	if info.Mode()&os.ModeCharDevice != 0 && !term.IsTerminal(int(f.Fd())) && !isNull(f) {
		return f // such as /dev/full
	}
	open := openPipe
	if term.IsTerminal(int(f.Fd())) {
		open = func() (*os.File, *os.File, error) { return openLike(f) }
	}
	if o.toldFD < 0 {
		return f
	}
	read, write, err := open()
	if err != nil {
		return f // unread: the command comes first
	}
	o.opened = append(o.opened, write)
	o.copies = append(o.copies, newCopying(o, read, f))
	return write
}

// drop closes what no command has got.
func (o *outputs) drop() {
	for _, f := range o.opened {
		f.Close() //nolint:errcheck // nothing was written
	}
	for _, c := range o.copies {
		c.from.Close() //nolint:errcheck // nothing was read
	}
	for _, f := range o.files {
		f.file.Close() //nolint:errcheck // it was only read
	}
	o.close()
}

// openLike opens a pseudo-terminal of the size of a terminal, that changes no byte: the terminal does.
func openLike(f *os.File) (master, slave *os.File, err error) {
	if master, slave, err = openPair(); err != nil {
		return nil, nil, err
	}
	resize(master, int(f.Fd()))
	if modes, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err == nil {
		modes.Oflag &^= unix.OPOST
		unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, modes) //nolint:errcheck // newlines get two returns
	}
	return master, slave, nil
}

// openPair opens a pseudo-terminal whose master is left out of the runtime's poller, which would be woken by each write
// of the command also while nothing is read; and which never blocks.
func openPair() (master, slave *os.File, err error) {
	polled, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer polled.Close() //nolint:errcheck // nothing was written
	fd, err := unix.FcntlInt(polled.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		master = os.NewFile(uintptr(fd), polled.Name()) // while it blocks: only others are polled
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		slave.Close() //nolint:errcheck // nothing was written
		return nil, nil, err
	}
	return master, slave, nil
}

// openPipe opens a pipe that is left out of the runtime's poller, as openPair does.
func openPipe() (read, write *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1"), nil
}

// resize gives a pseudo-terminal the size of a terminal. It does so beside others who use the file: Fd would make it
// block.
func resize(master *os.File, real int) {
	size, err := unix.IoctlGetWinsize(real, unix.TIOCGWINSZ)
	if err != nil {
		return
	}
	if conn, err := master.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) }) //nolint:errcheck // it keeps the one it has
	}
}

// isNull says whether writing to f is in vain.
func isNull(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && st.Rdev == unix.Mkdev(1, 3)
}

// sameFile says whether two outputs are one, so that their order is kept.
func sameFile(a, b *os.File) bool {
	x, errA := a.Stat()
	y, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// begin copies, once the command has its ends.
func (o *outputs) begin(ctx context.Context) {
	for _, f := range o.opened {
		f.Close() //nolint:errcheck // nothing was written
	}
	for _, c := range o.copies {
		o.working.Go(c.run)
	}
	for _, f := range o.files {
		o.working.Go(func() { f.run(ctx) })
	}
}

// sizes gives the terminals of a command new sizes, and tells it again: the kernel may have told it before.
func (o *outputs) sizes(ctx context.Context, pid int) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGWINCH)
	go func() {
		defer signal.Stop(ch)
		for {
			select {
			case <-ctx.Done():
				return
			case <-ch:
			}
			for _, c := range o.copies {
				if c.terminal {
					resize(c.from, c.real)
					unix.Kill(pid, syscall.SIGWINCH) //nolint:errcheck // it has ended
				}
			}
		}
	}()
}

// drain waits until what was printed before a stop is passed on.
func (o *outputs) drain() {
	until := time.Now().Add(maxDrain)
	for _, c := range o.copies {
		c.drain(until)
	}
}

// end copies what is still on its way: the command has ended, whoever else holds its outputs open.
func (o *outputs) end() {
	o.once.Do(func() {
		close(o.over)
		unix.Write(o.toldFD, []byte{1, 0, 0, 0, 0, 0, 0, 0}) //nolint:errcheck // it has room
	})
	o.working.Wait()
}

// close gives back what the copying needed. It is called once, after end.
func (o *outputs) close() { unix.Close(o.toldFD) } //nolint:errcheck // nothing waits for it any more
