package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
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

// What is wrong with a need is read whole on 80 columns, and gone with the question.
func TestBadNeedIsSaid(t *testing.T) {
	m := model([]*sampler.Snapshot{gpus(1, 1, false)}, 80, 24, Options{})
	for _, k := range []tea.KeyPressMsg{{Code: 'n', Text: "n"}, {Code: '3', Text: "3"}, {Code: '8', Text: "8"}, {Code: tea.KeyEnter}} {
		m.update(k)
	}
	lines := m.draw().lines()
	if got := lines[len(lines)-1]; !strings.Contains(got, `"38" is 38 bytes: add a unit, as in 16GiB`) {
		t.Errorf("%q", got)
	}
	for range maxTyped {
		m.update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	}
	m.update(tea.KeyPressMsg{Code: tea.KeyEnter})
	lines = m.draw().lines()
	if got := lines[len(lines)-1]; !strings.Contains(got, `"xxxxxxxxx..." is not a size such as 300MiB, 15.82GiB, 16G`) {
		t.Errorf("%q", got)
	}
	m.update(tea.KeyPressMsg{Code: tea.KeyEscape})
	lines = m.draw().lines()
	if got := lines[len(lines)-1]; strings.Contains(got, "38") {
		t.Errorf("after Esc: %q", got)
	}
}
