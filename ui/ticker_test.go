package ui

import (
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// ticking is a program that stops its own ticker and ends.
type ticking struct {
	p       *tea.Program
	stopped bool
}

func (m *ticking) Init() tea.Cmd                       { m.stopped = stopTicker(m.p); return tea.Quit }
func (m *ticking) Update(tea.Msg) (tea.Model, tea.Cmd) { return m, nil }
func (m *ticking) View() tea.View                      { return tea.View{} }

// The ticker is a field of Bubble Tea's that another version may name otherwise.
func TestTickerIsStopped(t *testing.T) {
	m := &ticking{}
	m.p = tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer())
	if _, err := m.p.Run(); err != nil || !m.stopped {
		t.Errorf("stopped %v, %v", m.stopped, err)
	}
}
