package child

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// read simulates reads of an output into which pieces of a size are printed at even times, for so long; the command
// waits where the output is full.
func (l *lull) read(size int, every, long time.Duration) (reads int, waited time.Duration) {
	began := time.Unix(1e9, 0)
	now, next, unread := began, began, 0
	for now.Sub(began) < long {
		if next.After(now) {
			now = next
		}
		for ; !next.After(now) && unread+size <= l.room; next = next.Add(every) {
			unread += size
		}
		if next.Before(now) {
			waited += now.Sub(next) // the command did
			next = now
		}
		n := min(unread, 64<<10)
		unread -= n
		reads++
		now = now.Add(l.after(n, now))
	}
	return reads, waited
}

// Much in little pieces is read seldom, and nobody who prints waits for it; what is printed now and then, and what is much
// at a time, is read at once.
func TestLull(t *testing.T) {
	pipe := func() *lull { return &lull{room: pipeRoom, soon: soonPipe, need: needRow} }
	terminal := func() *lull { return &lull{room: terminalRoom, soon: soonTerminal, need: needRow} }
	const s = time.Second
	for name, row := range map[string]struct {
		lull        *lull
		size        int
		every, most time.Duration // what is printed; the longest wait in the end
		reads       [2]int        // in 10 s
	}{
		"1 MB/s in lines":                {pipe(), 100, s / 10000, 33 * time.Millisecond, [2]int{300, 350}},
		"1 MB/s in kilobytes":            {pipe(), 1000, s / 1000, 33 * time.Millisecond, [2]int{300, 350}},
		"1 MB/s in blocks":               {pipe(), 8 << 10, s / 128, 40 * time.Millisecond, [2]int{250, 400}},
		"100 MB/s":                       {pipe(), 64 << 10, s / 1600, 0, [2]int{15000, 17000}},
		"a progress bar":                 {pipe(), 80, s / 20, 0, [2]int{200, 202}},
		"100 lines a second, a terminal": {terminal(), 80, s / 100, 0, [2]int{1000, 1002}},
		"1000 lines a second, there":     {terminal(), 80, s / 1000, 8 * time.Millisecond, [2]int{1200, 1500}},
		"1 MB/s in lines, there":         {terminal(), 100, s / 10000, 2 * time.Millisecond, [2]int{4900, 5100}},
	} {
		reads, waited := row.lull.read(row.size, row.every, 10*s)
		if reads < row.reads[0] || reads > row.reads[1] || row.lull.wait > row.most || waited > 0 {
			t.Errorf("%s: %d reads, then waits %s; the command waited for %s", name, reads, row.lull.wait, waited)
		}
	}
}

// How much a pipe holds is asked, for it may hold less than is wished.
func TestLullRoom(t *testing.T) {
	read, write, err := openPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()  //nolint:errcheck // a test
	defer write.Close() //nolint:errcheck // a test
	l, size := newLull(read, false), 0
	if little, err := unix.FcntlInt(write.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || l.room != little || little > pipeLittle && little > os.Getpagesize() {
		t.Errorf("before anything was read there is room for %d bytes, the pipe has %d, %v", l.room, little, err)
	}
	l.resize(read, pipeRoom)
	if size, err = unix.FcntlInt(write.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || l.room != size {
		t.Errorf("room for %d bytes, the pipe has %d, %v", l.room, size, err)
	}
	if most, _ := os.ReadFile("/proc/sys/fs/pipe-max-size"); os.Geteuid() == 0 && size != pipeRoom {
		t.Errorf("%d bytes, of at most %s", size, most)
	}
	small := lull{room: 8 << 10, soon: soonPipe, need: needRow}
	if reads, waited := small.read(100, time.Second/10000, time.Second); reads < 300 || waited > 0 {
		t.Errorf("of 8 KiB: %d reads in a second, the command waited for %s", reads, waited)
	}
	none := lull{soon: soonPipe, need: needRow}
	for i := range 100 {
		if wait := none.after(10, time.Unix(1e9, int64(i)*1e5)); wait != 0 {
			t.Fatalf("of what holds nothing: it waits %s", wait)
		}
	}
}

// A command that prints only after what it has printed was read loses no time to speak of.
func TestLullOfTurns(t *testing.T) {
	for name, l := range map[string]*lull{"pipe": {room: pipeRoom, soon: soonPipe, need: needRow}, "terminal": {room: terminalRoom, soon: soonTerminal, need: needRow}} {
		now, lost := time.Unix(1e9, 0), time.Duration(0)
		for turn := range 200_000 {
			now = now.Add(50 * time.Microsecond)
			wait := l.after(10+turn%7, now)
			now, lost = now.Add(wait), lost+wait
		}
		if lost > time.Second/2 {
			t.Errorf("%s: %s of 10 s are lost", name, lost)
		}
	}
}

// What comes after much was printed in little pieces waits once, and a pause ends the waiting.
func TestLullEnds(t *testing.T) {
	l := &lull{room: pipeRoom, soon: soonPipe, need: needRow}
	l.read(100, time.Second/10000, time.Second)
	if got := l.after(64<<10, l.last.Add(l.wait)); got != 0 {
		t.Errorf("after a burst it waits %s", got)
	}
	l.read(100, time.Second/10000, time.Second)
	if got := l.after(100, l.last.Add(time.Second)); got != 0 {
		t.Errorf("after a pause it waits %s", got)
	}
}
