package ui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// copyThis copies of the selected process first the pid, then the command line; without one the next advised command.
func (m *Model) copyThis() tea.Cmd {
	row, ok := m.table.selected()
	if !ok || row.proc == nil || m.prompt.mode == modeAdvice {
		return m.copyCommand()
	}
	if m.tty.screen == nil {
		return m.note(m.words.Say("say.nothing"))
	}
	parts := []string{strconv.Itoa(row.proc.PID), commandOf(row, m.words)}
	if key := row.identity(); m.table.copiedOf != key {
		m.table.copied, m.table.copiedOf = 0, key
	}
	text := parts[m.table.copied%len(parts)]
	m.table.copied++
	m.tty.send(ansi.SetSystemClipboard(text))
	return m.note(m.words.Say("say.copied_this", "text", text))
}

// copyCommand puts the next advised command into the clipboard of the terminal (OSC 52).
func (m *Model) copyCommand() tea.Cmd {
	if m.tty.screen == nil {
		return m.note(m.words.Say("say.nothing"))
	}
	text, n, of := m.alerts.nextCommand(m.view().groups())
	if of == 0 {
		return m.note(m.words.Say("say.nothing"))
	}
	m.tty.send(ansi.SetSystemClipboard(text))
	return m.note(m.words.Say("say.copied", "n", n, "all", of, "text", text))
}
