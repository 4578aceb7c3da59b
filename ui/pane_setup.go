package ui

import (
	"fmt"
	"slices"

	"nvpeak/theme"
)

const (
	setupMaxWidth  = 84
	setupNameWidth = 14
	setupRoom      = 22 // of a value
)

// setupPage is the setup window: a line for each setting, and one for each column of the table.
func (m *Model) setupPage(v *view) page {
	w := inside(rect{0, 0, min(m.tty.w, setupMaxWidth), m.tty.h}).w
	var lines []textLine
	add := func(i int, role theme.Role, name, value, say string) {
		at := i == m.setup.at
		l := textLine{{theme.Accent, pick(at, string(v.glyphs.Cursor), " ") + " "}, {pick(at, theme.Strong, theme.Text), fixed(name, setupNameWidth)}}
		l = append(l, piece{role, pick(w < setupNameWidth+2*setupRoom, value, fixed(value, setupRoom))})
		if w >= setupNameWidth+2*setupRoom {
			l = append(l, piece{theme.Dim, " " + v.words.Say(say)})
		}
		lines = append(lines, l)
	}
	for i, row := range setupRows {
		value, name := row.get(m), row.name
		role := pick(value == "", theme.Dim, theme.Accent)
		if value = or(value, v.words.Say("setup.unset")); row.name == columnsSetting && len(m.table.columns) > 0 {
			value = fmt.Sprintf("%d / %d", len(m.table.columns), len(columns))
		}
		if i == m.setup.at && m.setup.typing {
			value, role = m.prompt.typed+"_", theme.Need
		}
		if _, changed := m.setup.changed[row.name]; changed {
			name += " *"
		}
		add(i, role, name, value, "setup."+row.name)
	}
	shown := m.shownColumns()
	for i, column := range m.setup.order {
		on := slices.Contains(shown, column)
		add(len(setupRows)+i, pick(on, theme.Text, theme.Dim), "", pick(on, "[x] ", "[ ] ")+columns[column].name(), "column."+columns[column].name())
	}
	lines = append(lines, textLine{})
	for _, l := range wrap(v.words.Say("setup.keys"), max(w, 1)) {
		lines = append(lines, textLine{{theme.Dim, l}})
	}
	outer := centered(m.tty.w, m.tty.h, setupMaxWidth, len(lines)+2)
	m.prompt.top = max(0, m.setup.at+2-inside(outer).h) // the last line may say how many more there are
	return page{v.words.Say("setup.title"), outer, lines}
}
