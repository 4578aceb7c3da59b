package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// key takes one key press.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch mode := m.prompt.mode; {
	case k == "ctrl+c":
		return tea.Quit
	case k == "ctrl+z":
		return m.suspendJob()
	case mode == modeNeed || mode == modeTime:
		if !m.prompt.edit(msg) {
			if m.prompt.mode == modeMain {
				m.notices.text = "" // it was about what was typed
			}
			return nil
		}
		if mode == modeTime {
			return m.goToTime()
		}
		return m.setNeed()
	case mode == modeFilter:
		return m.filterKey(msg)
	case mode == modeSignal:
		return m.signalKey(k)
	case mode == modeSignalAsk:
		return m.confirmSignal(k)
	case mode == modeReset:
		return m.confirmReset(k)
	case mode != modeMain:
		return m.textKey(k)
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9':
		return focusOn(int(k[0] - '1'))(m)
	}
	for _, b := range m.bindings() {
		if slices.Contains(b.keys, k) {
			return b.do(m)
		}
	}
	return nil
}

// pageKeys open a page from another one, too.
var pageKeys = map[string]mode{"?": modeHelp, "f1": modeHelp, "a": modeAdvice}

// textKey moves in a text that covers the screen, or leaves it.
func (m *Model) textKey(k string) tea.Cmd {
	last := m.lastTop()
	top := min(m.prompt.top, last)
	page := max(m.tty.h-4, 1)
	switch k {
	case "j", "down":
		top++
	case "k", "up":
		top--
	case "pgdown", "space":
		top += page
	case "pgup":
		top -= page
	case "g", "home":
		top = 0
	case "G", "end":
		top = last
	case "y":
		return m.copyThis()
	case "K", "f9":
		if m.prompt.mode == modeDetail {
			return m.openSignals()
		}
		m.prompt.open(modeMain)
	case "e":
		if m.prompt.mode == modeDetail {
			return m.openEnvironment()
		}
		m.prompt.open(modeMain)
	case "]", "[":
		return spanBy(pick(k == "]", 1, -1))(m)
	default: // whatever is pressed, nobody is caught here
		to, ok := pageKeys[k]
		m.prompt.open(pick(ok && to != m.prompt.mode, to, modeMain))
		return nil
	}
	m.prompt.top = max(0, min(top, last))
	return nil
}
