package ui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/advice/watch"
)

// copyCommand puts the next advised command into the clipboard of the terminal (OSC 52).
func (m *Model) copyCommand() tea.Cmd {
	if m.tty.screen == nil {
		return m.note(m.words.Say("say.nothing"))
	}
	text, n, of := m.alerts.nextCommand(watch.Groups(m.shown.alerts, m.words))
	if of == 0 {
		return m.note(m.words.Say("say.nothing"))
	}
	m.tty.send(ansi.SetSystemClipboard(text))
	return m.note(m.words.Say("say.copied", "n", n, "all", of, "text", text))
}
