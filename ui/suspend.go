package ui

import (
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// resumed: the program runs again after a stop.
type resumed struct{}

// suspend gives the terminal back, stops the process group as Ctrl-Z does, and returns
// when the shell has it run again. SIGCONT brings `resumed`.
func (m *Model) suspend() tea.Cmd {
	if m.tty.screen == nil {
		return nil
	}
	m.tty.suspend()
	return func() tea.Msg {
		syscall.Kill(0, syscall.SIGTSTP) //nolint:errcheck // then it is not stopped
		return nil
	}
}

// resume takes the terminal again.
func (m *Model) resume() {
	if m.tty.screen != nil {
		if err := m.tty.resume(); err != nil {
			m.err = err
		}
	}
}
