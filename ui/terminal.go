package ui

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// terminal is the device: raw input, the alternate screen, and back.
type terminal struct {
	in, out *os.File
	saved   *term.State
}

const (
	enterScreen   = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b]2;nvpeak\x07" // alternate screen, no cursor, bracketed paste, title
	leaveScreen   = "\x1b[m\x1b[?2004l\x1b[?25h\x1b[?1049l"            // and back
	askTerminal   = "\x1b]11;?\x07\x1b[?2026$p"                        // background colour, synchronised output; nobody waits for the answers
	leavePatience = 500 * time.Millisecond
)

// enter switches to the alternate screen and raw input.
func (t *terminal) enter() (err error) {
	if t.saved, err = term.MakeRaw(int(t.in.Fd())); err != nil {
		return err
	}
	_, err = io.WriteString(t.out, enterScreen)
	return err
}

// leave gives the terminal back. A terminal that takes nothing (Ctrl-S, a dead
// connection) must not keep the program alive.
func (t *terminal) leave() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(t.out, leaveScreen) //nolint:errcheck // there is nobody to tell
	}()
	select {
	case <-done:
	case <-time.After(leavePatience):
	}
	if t.saved != nil {
		term.Restore(int(t.in.Fd()), t.saved) //nolint:errcheck // the terminal is gone
		t.saved = nil
	}
}

// size in columns and rows.
func (t *terminal) size() (w, h int, err error) { return term.GetSize(int(t.out.Fd())) }
