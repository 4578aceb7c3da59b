package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Whatever is asked for is typed, pasted, corrected and given up in the same way.
func TestPrompts(t *testing.T) {
	for name, ask := range map[string]mode{"need": modeNeed, "time": modeTime} {
		m := New(t.Context(), &silent{}, Options{})
		m.tty.resize(80, 24)
		open(ask)(m)
		m.update(tea.PasteMsg{Content: "14:0"})
		m.update(tea.KeyPressMsg{Code: '3', Text: "3"})
		if m.prompt.typed != "14:03" {
			t.Errorf("%s: pasted and typed it is %q", name, m.prompt.typed)
		}
		m.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		m.update(tea.PasteMsg{Content: "\x1b[2J"})
		if m.prompt.typed != "14:0?[2J" {
			t.Errorf("%s: corrected and with a sequence pasted it is %q", name, m.prompt.typed)
		}
		m.update(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
		if m.prompt.typed != "" {
			t.Errorf("%s: Ctrl-U leaves %q", name, m.prompt.typed)
		}
		m.update(tea.KeyPressMsg{Code: tea.KeyEscape})
		if m.prompt.mode != modeMain {
			t.Errorf("%s: Esc does not leave", name)
		}
	}
}
