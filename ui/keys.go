package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// key takes one key press.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch mode := m.prompt.mode; {
	case k == "ctrl+c":
		return m.quit()
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
	case mode == modeSetup:
		return m.setupKey(msg)
	case mode == modeReset:
		return m.confirmReset(k)
	case mode != modeMain:
		return m.textKey(k)
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9' && m.overviewed():
		return m.openAt(int(k[0] - '1'))
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9':
		return focusOn(int(k[0] - '1'))(m)
	}
	for _, b := range m.bindings() {
		if slices.Contains(b.keys, k) {
			return m.did(b)
		}
	}
	return nil
}

// stand is what a key of the main screen may change and the eye sees.
type stand struct {
	mode               mode
	cursor, sort, rows int
	gpus               gpuList
	span               time.Duration
	lines              bool
	metric             string
	frozen, reverse    bool
	filter             string
	tags               int
	group              grouping
	fleet              fleetStand
}

func (m *Model) stand() stand {
	return stand{m.prompt.mode, m.table.cursor, m.table.sort, len(m.table.rows), m.gpus, m.plot.span, m.plot.lines, m.plot.metric.name, m.shown.frozen, m.table.reverse, m.table.filter.text, len(m.table.tagged), m.table.group, m.fleet.stand()}
}

// Keys that say nothing: those of which the eye sees what they do, and those that move, which stop at an end.
var (
	silentKeys = []string{"esc", "ctrl+l", "ctrl+z"}
	moveKeys   = []string{"j", "k", "pgup", "pgdown", "g", "G", "home", "end"}
)

// did does what a key is for, and says so where that changes nothing. At an end of the table that is seen.
func (m *Model) did(b binding) tea.Cmd {
	before := m.stand()
	cmd := b.do(m)
	quiet := slices.Contains(silentKeys, b.keys[0]) || len(m.table.rows) > 0 && slices.Contains(moveKeys, b.keys[0])
	if cmd != nil || !live(m) || quiet || m.stand() != before {
		return cmd
	}
	return m.note(m.words.Say("say.no_use"))
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
