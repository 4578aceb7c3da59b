package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// ErrTerminalGone is the error when the terminal was closed under the monitor.
var ErrTerminalGone = errors.New("the terminal is gone")

// Run shows the monitor on the terminal until the user quits, the stream or the context
// ends, and gives the terminal back whatever happens. Its error is that of the stream, of
// the terminal or of the program.
func Run(ctx context.Context, in, out *os.File, m *Model) (err error) {
	t := &terminal{in: in, out: out, mouse: !m.opt.NoMouse}
	w, h, err := t.size()
	if err != nil {
		return fmt.Errorf("the terminal does not tell its size: %w", err)
	}
	if err := t.enter(); err != nil {
		return fmt.Errorf("the terminal cannot be set up: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m.tty.screen = newScreen(out)
	m.tty.screen.failed = func(err error) { cancel(fmt.Errorf("%w: %w", ErrTerminalGone, err)) }
	m.tty.terminal = t
	defer t.leave()
	defer m.tty.screen.close(closeTimeout)
	out.WriteString(askTerminal) //nolint:errcheck // the first frame reports it
	m.tty.resize(80, 24)
	m.tty.resize(w, h)
	m.tty.paintAs(profileOf(out, m.tty.noColor))
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutRenderer(),
		tea.WithFPS(1), tea.WithoutSignalHandler())
	m.began = func() { stopTicker(p) }
	stop := watchSignals(ctx, p, &m.tty)
	defer stop()
	if m.fleet == nil && m.player == nil && m.opt.Label == "" { // a driver is asked
		defer time.AfterFunc(answerTime, func() { p.Send(answerLate{}) }).Stop()
	}
	if _, err = p.Run(); m.err != nil {
		return m.err
	}
	if ctx.Err() == nil {
		return err
	}
	if gone := context.Cause(ctx); errors.Is(gone, ErrTerminalGone) {
		return gone
	}
	return nil // whoever ended the context knows why
}

const closeTimeout = 300 * time.Millisecond
