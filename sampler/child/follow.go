package child

import (
	"context"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// follower reads in a file what the command prints into it.
type follower struct {
	file   *os.File
	offset int64
	side   *stream
}

const (
	followEvery = 250 * time.Millisecond
	// maxBehind bounds what is read at a time; of more, the newest counts.
	maxBehind = 1 << 20
)

// follow opens the file anew: ours may be open for writing only. Nil: it cannot be read.
func follow(f *os.File, side *Side) *follower {
	file, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return nil
	}
	at, err := f.Seek(0, io.SeekCurrent)
	flags, err2 := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if info, err3 := f.Stat(); err2 == nil && err3 == nil && flags&unix.O_APPEND != 0 {
		at = info.Size()
	}
	if err != nil {
		at = 0
	}
	return &follower{file, at, side.output()}
}

func (f *follower) run(ctx context.Context) {
	defer f.file.Close() //nolint:errcheck // it was only read
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.read()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	f.read()
	f.side.end()
}

// read passes on what was appended.
func (f *follower) read() {
	info, err := f.file.Stat()
	if err != nil {
		return
	}
	if info.Size() < f.offset { // it was cut
		f.offset = 0
	}
	f.offset = max(f.offset, info.Size()-maxBehind)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.file.ReadAt(buf, f.offset)
		f.offset += int64(n)
		f.side.Write(buf[:n]) //nolint:errcheck // it has none
		if n == 0 || err != nil || f.offset > info.Size() {
			return
		}
	}
}
