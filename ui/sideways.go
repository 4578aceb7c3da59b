package ui

import (
	tea "charm.land/bubbletea/v2"
)

// sidewaysStep is by how many columns an arrow moves command lines.
const sidewaysStep = 16

// sideways moves the command lines of the table, or that of the detail.
func sideways(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		longest := 0
		for _, r := range m.table.rows {
			longest = max(longest, width(commandOf(r, m.words)))
		}
		to := m.table.sideways + by*sidewaysStep
		if to < 0 || to >= longest-sidewaysStep/2 && by > 0 {
			return m.note(m.words.Say("say.no_more"))
		}
		m.table.sideways = to
		return nil
	}
}

// from is text without its first columns, but no further than its end comes into sight in the room; what was left out is
// told by a sign in front.
func (v *view) from(text string, columns, room int) string {
	columns = min(columns, width(text)-room)
	if columns <= 0 {
		return text
	}
	at := 0
	for i, r := range text {
		if at > columns {
			return string(v.glyphs.Ellipsis) + text[i:]
		}
		_, n := harmless(r)
		at += n
	}
	return string(v.glyphs.Ellipsis)
}
