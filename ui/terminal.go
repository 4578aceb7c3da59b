package ui

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"nvpeak/ui/crash"
)

// terminal is the device: raw input, the alternate screen, and back.
type terminal struct {
	in, out *os.File
	mouse   bool // clicks are asked for

	mu    sync.Mutex
	saved *term.State     // how it was before; nil: it is that again
	crash *crash.Terminal // the same, for when the driver library crashes
}

var (
	enterScreen = ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste + ansi.SetWindowTitle("nvpeak")
	leaveScreen = ansi.ResetStyle + ansi.ResetModeBracketedPaste + ansi.SetModeTextCursorEnable + ansi.ResetModeAltScreenSaveCursor
)

// askTerminal asks for the background color and for synchronized output; nobody waits for
// the answers.
const askTerminal = ansi.RequestBackgroundColor + ansi.RequestModeSynchronizedOutput

const leaveTimeout = 500 * time.Millisecond

// enter switches to the alternate screen and raw input. In the background it stops the
// program until that is in front.
func (t *terminal) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		t.crash = crash.Save(int(t.in.Fd()), int(t.out.Fd()))
	}
	was, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	if t.saved == nil {
		t.saved = was
	}
	t.crash.Taken(t.leaving())
	_, err = io.WriteString(t.out, enterScreen+pick(t.mouse, mouseOn, ""))
	return err
}

// leaving is what is written to give the terminal back.
func (t *terminal) leaving() string { return pick(t.mouse, mouseOff, "") + leaveScreen }

// left says whether the terminal was given back.
func (t *terminal) left() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saved == nil
}

// leave gives the terminal back. A terminal that takes nothing (Ctrl-S, a dead
// connection) must not keep the program alive.
func (t *terminal) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(t.out, t.leaving()) //nolint:errcheck // nothing can be done about it
	}()
	select {
	case <-done:
	case <-time.After(leaveTimeout):
	}
	t.crash.Left()
	term.Restore(int(t.in.Fd()), t.saved) //nolint:errcheck // the terminal is gone
	t.saved = nil
}

// size in columns and rows.
func (t *terminal) size() (w, h int, err error) { return term.GetSize(int(t.out.Fd())) }
