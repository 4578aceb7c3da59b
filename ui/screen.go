package ui

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// screen puts frames on the terminal and sends only the cells that changed.
//
// Bubble Tea has a renderer of its own. It wakes 60 times a second to look for work
// (0.4 to 0.7 % of a core, as much as nvpeak may use in all), takes 2 to 3 ms to parse a
// frame of text back into the cells we had, and writes from under the lock that Update
// needs, so that a terminal under Ctrl-S stops the program. This one is told when there is
// a frame, has the cells, and writes on a goroutine that nobody waits for: while the
// terminal is slow, frames are skipped, never queued.
type screen struct {
	out    io.Writer
	failed func(error) // the terminal is gone; called once, from run; set it before the first frame

	mu     sync.Mutex
	next   *frame // the newest that is not on the way yet
	forget bool   // the terminal no longer shows what was sent
	sync   bool   // the terminal knows synchronized output (mode 2026)
	hold   bool   // suspended: nothing is written
	extra  string // sequences to send besides the frame
	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{}
	busy   chan struct{} // holds something while a frame is on the way

	shown *frame // on the terminal; of run alone
}

// frame is a canvas and what it looks like.
type frame struct {
	*canvas
	*paint
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, failed: func(error) {}, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), busy: make(chan struct{}, 1)}
	go s.run()
	return s
}

// show hands over a frame. It never waits.
func (s *screen) show(c *canvas, p *paint) {
	s.mu.Lock()
	s.next = &frame{c, p}
	s.mu.Unlock()
	s.poke()
}

// again sends the whole of the next frame: after a resize, a suspend, Ctrl-L.
func (s *screen) again() {
	s.mu.Lock()
	s.forget = true
	s.mu.Unlock()
}

// synchronized turns on the marks that let a terminal show a frame at once.
func (s *screen) synchronized() {
	s.mu.Lock()
	s.sync = true
	s.mu.Unlock()
}

// send sends a sequence that draws nothing: a bell, a notification, the clipboard.
func (s *screen) send(sequence string) {
	s.mu.Lock()
	if len(s.extra) < 1<<16 { // a terminal that takes nothing gathers no more than this
		s.extra += sequence
	}
	s.mu.Unlock()
	s.poke()
}

// suspend stops or allows writing. It waits for a write in progress, a while at most.
func (s *screen) suspend(hold bool) {
	s.mu.Lock()
	s.hold, s.forget = hold, true
	s.mu.Unlock()
	if hold {
		select {
		case s.busy <- struct{}{}:
			<-s.busy
		case <-time.After(closeTimeout):
		}
	}
	s.poke()
}

func (s *screen) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close ends the goroutine; it waits at most timeout for a write in progress.
func (s *screen) close(timeout time.Duration) {
	close(s.stop)
	select {
	case <-s.done:
	case <-time.After(timeout):
	}
}

func (s *screen) run() {
	defer close(s.done)
	var b bytes.Buffer
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		s.busy <- struct{}{}
		err := s.write(&b)
		<-s.busy
		if err != nil {
			s.failed(err)
			return
		}
	}
}

// write sends what is to be sent.
func (s *screen) write(b *bytes.Buffer) error {
	s.mu.Lock()
	f, hold, sync, extra := s.next, s.hold, s.sync, s.extra
	if !hold {
		s.extra = ""
	}
	if s.forget {
		s.shown, s.forget = nil, false
	}
	s.mu.Unlock()
	if f == nil || hold {
		return nil
	}
	b.Reset()
	if sync {
		b.WriteString(ansi.SetModeSynchronizedOutput)
	}
	head := b.Len()
	f.changes(b, s.shown)
	if s.shown != nil && s.shown != f {
		canvases.Put(s.shown.canvas)
	}
	s.shown = f
	switch {
	case b.Len() == head:
		b.Reset()
	case sync:
		b.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	if b.WriteString(extra); b.Len() == 0 {
		return nil
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

// gap is how many unchanged cells are sent again rather than jumped over: a jump takes
// six bytes and more.
const gap = 5

// changes writes what turns old into f; everything when old is nil or looks different. It is
// done by hand because the library's renderer (ultraviolet) takes 758 us and 967 bytes for a
// frame of the demo where this takes 33 us and 557 bytes.
func (f *frame) changes(b *bytes.Buffer, old *frame) {
	pen, px, py := sgr{bare: true}, -1, -1 // what the terminal would write now, and where
	if old == nil || old.w != f.w || old.h != f.h || old.paint != f.paint {
		b.WriteString(ansi.ResetStyle + ansi.EraseEntireScreen)
		old = &frame{newCanvas(f.w, f.h), f.paint}
	}
	for y := range f.h {
		row, was := f.cells[y*f.w:(y+1)*f.w], old.cells[y*f.w:(y+1)*f.w]
		if slices.Equal(row, was) {
			continue
		}
		end := len(row)
		for end > 0 && f.same(row[end-1], blank) {
			end--
		}
		for x := 0; x < len(row); {
			if f.same(row[x], was[x]) {
				x++
				continue
			}
			for x > 0 && row[x].r == 0 { // second half of a wide rune
				x--
			}
			jump(b, px, py, x, y)
			px, py = x, y
			if x >= end { // nothing but blanks from here
				pen = f.pen(b, pen, blank)
				b.WriteString(ansi.EraseLineRight)
				break
			}
			last := f.lastChange(row[:end], was, x)
			for ; x <= last; x++ {
				if row[x].r == 0 {
					continue
				}
				pen = f.pen(b, pen, row[x])
				b.WriteRune(row[x].r)
			}
			px = x
			if x >= f.w { // the cursor waits at the edge
				px = -1
			}
		}
	}
	if pen.params != "" {
		b.WriteString(ansi.ResetStyle)
	}
}

// jump moves the cursor the short way.
func jump(b *bytes.Buffer, px, py, x, y int) {
	switch {
	case py == y && px == x:
	case py == y && px >= 0 && px < x:
		b.WriteString(ansi.CursorForward(x - px))
	default:
		b.WriteString(ansi.CursorPosition(x+1, y+1))
	}
}

// lastChange is the last cell of the changes that begin at x, small gaps included.
func (f *frame) lastChange(row, was []cell, x int) int {
	last := x
	for i := x; i < len(row) && i-last <= gap; i++ {
		if !f.same(row[i], was[i]) {
			last = i
		}
	}
	for last+1 < len(row) && row[last+1].r == 0 {
		last++
	}
	return last
}

// same says whether two cells look the same: most blanks do, whatever they belong to.
func (f *frame) same(a, b cell) bool {
	return a == b || a.r == ' ' && b.r == ' ' && f.style(a.look).bare && f.style(b.look).bare
}

// pen changes the look of what is written next, unless that is a blank that any pen writes.
func (f *frame) pen(b *bytes.Buffer, now sgr, c cell) sgr {
	s := f.style(c.look)
	if s.params == now.params || c.r == ' ' && s.bare && now.bare {
		return now
	}
	b.WriteString(csi)
	b.WriteString(s.after(now))
	b.WriteByte('m')
	return s
}
