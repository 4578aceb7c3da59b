package ui

import (
	"sync/atomic"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/theme"
)

// tty is the terminal that the screen is on, and how it is painted.
type tty struct {
	continued  atomic.Bool // since it was asked to stop
	w, h       int
	screen     *screen   // nil: the screen is read with View or Frame
	terminal   *terminal // with screen
	paint      *paint
	noColor    bool
	themeFixed bool // chosen by the user: the terminal's answer is ignored
}

func newTTY(o Options) tty {
	t, fixed := theme.Named(o.Theme)
	if !fixed {
		t = theme.For(!o.Light)
	}
	return tty{paint: newPaint(t, colorprofile.TrueColor), noColor: o.NoColor, themeFixed: fixed}
}

// paintAs chooses the colors that the terminal has.
func (t *tty) paintAs(p colorprofile.Profile) {
	if t.noColor {
		p = min(p, colorprofile.ASCII)
	}
	t.paint = newPaint(t.paint.theme, p)
}

// paintIn changes the theme.
func (t *tty) paintIn(to *theme.Theme) { t.paint = newPaint(to, t.paint.profile) }

func (t *tty) resize(w, h int) {
	if w <= 0 || h <= 0 { // not known: a terminal behind a serial line, or not set yet
		return
	}
	t.w, t.h = w, h
	t.again()
}

// again sends the whole of the next frame.
func (t *tty) again() {
	if t.screen != nil {
		t.screen.again()
	}
}

// send sends a sequence that draws nothing.
func (t *tty) send(sequence string) {
	if t.screen != nil && sequence != "" {
		t.screen.send(sequence)
	}
}

// sized says whether the size is known.
func (t *tty) sized() bool { return t.w > 0 && t.h > 0 }

// suspend gives the terminal back, or takes it again.
func (t *tty) suspend() {
	t.screen.suspend(true)
	t.terminal.leave()
}

func (t *tty) resume(again bool) error {
	if !t.terminal.left() && !again {
		return nil
	}
	if err := t.terminal.enter(); err != nil {
		return err
	}
	t.screen.suspend(false)
	return nil
}
