package child

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lull spares wake-ups where much is printed in little pieces: nothing is read for some milliseconds, so that one read
// finds many. It is never so long that the output fills up and the command waits, and where it finds no more than a read
// at once did, since the command waits for whoever reads, it is tried ever more seldom.
type lull struct {
	room  int           // bytes that the output holds while nobody reads
	soon  time.Duration // after the one before is a read one of a row
	wait  time.Duration // before the next read
	last  time.Time     // when the last read returned
	began time.Time     // when the row did
	row   int           // reads in a row, each at once
	size  int           // bytes of them
	need  int           // of them, before it waits
}

const (
	needRow = 16
	mostRow = 256 << 10
	longest = 4 // times soon is the longest wait

	// A terminal shows nothing later than one of its pictures; what reads a pipe has more time.
	soonPipe     = 10 * time.Millisecond
	soonTerminal = 2 * time.Millisecond
	// A pipe has 64 KiB of itself, 8 where a user has many. Whoever reads may go after a line (head -1): what a program prints after that
	// into room of ours it takes for read. So there is hardly any before the reader has taken as much. A terminal holds 12 to 17 KB, measured, and gives at most 4095 bytes to a read.
	pipeLittle   = 4 << 10
	pipeRoom     = 256 << 10
	terminalRoom = 16000
)

func newLull(from *os.File, terminal bool) lull {
	if terminal {
		return lull{room: terminalRoom, soon: soonTerminal, need: needRow}
	}
	l := lull{soon: soonPipe, need: needRow}
	l.resize(from, pipeLittle)
	return l
}

// resize gives the pipe that is read so much room, if it can be had.
func (l *lull) resize(from *os.File, room int) {
	unix.FcntlInt(from.Fd(), unix.F_SETPIPE_SZ, room) //nolint:errcheck // then it stays as it is
	l.room, _ = unix.FcntlInt(from.Fd(), unix.F_GETPIPE_SZ, 0)
}

// after is how long to wait after a read that returned n bytes at a time.
func (l *lull) after(n int, now time.Time) time.Duration {
	since := now.Sub(l.last)
	l.last = now
	switch {
	case since > l.wait+l.soon, n >= l.room/4: // a pause, or much
		l.begin()
	case l.wait == 0:
		if l.row, l.size = l.row+1, l.size+n; l.row >= l.need {
			fills := now.Sub(l.began) * time.Duration(l.room/8) / time.Duration(max(l.size, 1))
			if l.wait = min(fills, longest*l.soon); l.wait < l.soon {
				l.begin()
			}
		}
	case 2*n*l.row < 3*l.size: // in vain
		l.need = min(4*l.need, mostRow)
		l.begin()
	default:
		l.need = max(l.need/4, needRow)
	}
	return l.wait
}

// begin begins a new row.
func (l *lull) begin() { l.wait, l.row, l.size, l.began = 0, 0, 0, l.last }
