package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

// Clicks and the wheel are asked for, movements are not: they would be sent all the time. With Shift a terminal keeps
// the mouse to itself, so that text can be selected.
const (
	mouseOn  = ansi.SetModeMouseNormal + ansi.SetModeMouseExtSgr
	mouseOff = ansi.ResetModeMouseExtSgr + ansi.ResetModeMouseNormal
)

// spot is a part of the screen that can be clicked.
type spot struct {
	rect
	click func(*Model) tea.Cmd
}

// spot makes a part of what is being drawn answer to clicks. What is drawn later lies above.
func (v *view) spot(r rect, click func(*Model) tea.Cmd) { v.spots = append(v.spots, spot{r, click}) }

// clicked does what the place is for.
func (m *Model) clicked(at tea.Mouse) tea.Cmd {
	switch {
	case at.Button != tea.MouseLeft:
		return nil
	case m.prompt.asks():
		return nil
	}
	for i := len(m.spots) - 1; i >= 0; i-- {
		if s := m.spots[i]; at.X >= s.x && at.X < s.x+s.w && at.Y >= s.y && at.Y < s.y+s.h {
			return s.click(m)
		}
	}
	return nil
}

// wheelRows is by how many rows the wheel moves.
const wheelRows = 3

// wheeled moves in the table, in the menu, or in the text that covers the screen.
func (m *Model) wheeled(at tea.Mouse) tea.Cmd {
	by := 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = -wheelRows
	case tea.MouseWheelDown:
		by = wheelRows
	}
	switch m.prompt.mode {
	case modeMain:
		if by == 0 {
			return nil
		}
		return move(by)(m)
	case modeSignal:
		m.signals.at = max(0, min(m.signals.at+by/wheelRows, len(signalChoices)-1))
	case modeSetup:
		m.setup.at = max(0, min(m.setup.at+by/wheelRows, m.setup.last()))
	case modeHelp, modeAdvice, modeDetail, modeEnvironment:
		last := m.lastTop()
		m.prompt.top = max(0, min(min(m.prompt.top, last)+by, last))
	}
	return nil
}

// clickRow selects a row; a click on the selected one opens it.
func clickRow(key sampler.ProcessKey) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.overviewed() && !m.fleet.listed {
			m.listNext()
		}
		for i, r := range m.table.rows {
			if r.key() != key {
				continue
			}
			if i == m.table.cursor {
				return m.openDetail()
			}
			m.table.move(i)
		}
		return nil
	}
}

// clickColumn sorts by a column, or the other way round where that is so already.
func clickColumn(column int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if columns[column].order == nil {
			return nil
		}
		m.table.reverse = column == m.table.sort && !m.table.reverse
		m.table.sort = column
		m.list()
		return m.note(m.words.Say("say.sorted", "column", plainTitle(columns[column])))
	}
}

// clickGPU focuses a GPU, or all where it is focused already.
func clickGPU(key sampler.GPUKey) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.gpus.focus == sampler.Some(key) {
			return focusOn(-1)(m)
		}
		m.gpus.focus = sampler.Some(key)
		m.list()
		return nil
	}
}

// button makes the keys of a hint answer to clicks, each of them; its word is the last one.
func (v *view) button(x, y int, h hint) {
	keys := strings.Fields(h.key)
	for i, k := range keys {
		w := width(k) + 1
		if i == len(keys)-1 {
			w += width(v.words.Say(h.word)) + 1
		}
		if press, ok := keyOf(k); ok {
			v.spot(rect{x, y, w, 1}, func(m *Model) tea.Cmd { return m.key(press) })
		}
		x += width(k) + 1
	}
}

// keyOf is the key that a hint names; a range of keys is none.
func keyOf(name string) (tea.KeyPressMsg, bool) {
	switch r := []rune(name); {
	case name == "Enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}, true
	case name == "Esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}, true
	case name == "Tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}, true
	case len(r) == 1:
		return tea.KeyPressMsg{Code: r[0], Text: name}, true
	}
	return tea.KeyPressMsg{}, false
}
