package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// binding is one key of the main screen. Help and handling come from the same row.
type binding struct {
	keys []string
	show string // in the help
	help string
	do   func(*Model) tea.Cmd
}

// bindings of the main screen. A digit focuses a GPU; see Model.key.
var bindings []binding

func init() { // not a literal: the help lists the bindings, which would be a cycle
	bindings = []binding{
		{[]string{"q", "f10", "ctrl+c"}, "q", "quit", func(*Model) tea.Cmd { return tea.Quit }},
		{[]string{"?", "f1", "h"}, "? F1", "this help", open(modeHelp)},
		{[]string{"n"}, "n", "set what the next allocation needs", (*Model).askNeed},
		{[]string{"a"}, "a", "all advice, and past alerts", open(modeAdvice)},
		{[]string{"y"}, "y", "copy the next advised command", (*Model).copyCommand},
		{[]string{"j", "down"}, "j k ↓ ↑", "move in the process table", move(1)},
		{[]string{"k", "up"}, "", "", move(-1)},
		{[]string{"pgdown"}, "", "", move(10)},
		{[]string{"pgup"}, "", "", move(-10)},
		{[]string{"g", "home"}, "g G", "first and last process", move(-1 << 20)},
		{[]string{"G", "end"}, "", "", move(1 << 20)},
		{[]string{"enter"}, "Enter", "one process: its history and peak", (*Model).openDetail},
		{[]string{"o", "f6"}, "o F6", "sort by the next column", (*Model).sortNext},
		{[]string{"O"}, "O", "sort the other way round", (*Model).sortReverse},
		{[]string{"]"}, "[ ]", "time span of the plots, 1 min to 24 h", spanBy(1)},
		{[]string{"["}, "", "", spanBy(-1)},
		{[]string{"m"}, "m", "plot memory, utilization, power or temperature", (*Model).nextMetric},
		{[]string{"0"}, "1-9 0", "one GPU (1 is the first), all GPUs", focusOn(-1)},
		{[]string{"tab"}, "Tab", "the next GPU", (*Model).focusNext},
		{[]string{"w"}, "w", "worst GPU first", (*Model).toggleWorst},
		{[]string{"}"}, "{ }", "scroll the GPUs", scrollBy(1)},
		{[]string{"{"}, "", "", scrollBy(-1)},
		{[]string{"P"}, "P", "reset the peaks", open(modeReset)},
		{[]string{"p"}, "p", "pause the picture (measuring goes on)", (*Model).pause},
		{[]string{"-"}, "+ -", "refresh faster, slower", intervalBy(1)},
		{[]string{"+", "="}, "", "", intervalBy(-1)},
		{[]string{"T"}, "T", "next theme", (*Model).nextTheme},
		{[]string{"ctrl+l"}, "Ctrl-L", "draw again", (*Model).again},
		{[]string{"ctrl+z"}, "Ctrl-Z", "suspend (fg comes back)", (*Model).suspend},
		{[]string{"esc"}, "", "", (*Model).clearCursor},
	}
}

// key takes one key press.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c":
		return tea.Quit
	case k == "ctrl+z":
		return m.suspend()
	case m.mode == modeNeed:
		return m.edit(msg, (*Model).setNeed)
	case m.mode == modeReset:
		return m.confirmReset(k)
	case m.mode == modeMoment:
		return m.edit(msg, (*Model).goToMoment)
	case m.mode != modeMain:
		return m.textKey(k)
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9':
		return focusOn(int(k[0] - '1'))(m)
	}
	for _, b := range m.bindings() {
		for _, name := range b.keys {
			if name == k {
				return b.do(m)
			}
		}
	}
	return nil
}

// bindings are the keys that count now; of two for one key the first.
func (m *Model) bindings() []binding {
	if m.opt.Replay != nil {
		return slices.Concat(replayBindings, bindings)
	}
	return bindings
}

// textKey moves in a text that covers the screen, or leaves it.
func (m *Model) textKey(k string) tea.Cmd {
	switch k {
	case "j", "down":
		m.top++
	case "k", "up":
		m.top = max(0, m.top-1)
	case "pgdown", "space":
		m.top += max(m.h-4, 1)
	case "pgup":
		m.top = max(0, m.top-max(m.h-4, 1))
	case "g", "home":
		m.top = 0
	case "y":
		return m.copyCommand()
	case "]", "[":
		return spanBy(pick(k == "]", 1, -1))(m)
	default: // whatever is pressed, nobody is caught here
		m.mode = modeMain
	}
	return nil
}

func open(to mode) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.mode, m.top = to, 0
		return nil
	}
}

func (m *Model) openDetail() tea.Cmd {
	if len(m.view.procs) == 0 {
		return nil
	}
	if m.view.cursor < 0 {
		m.setCursor(0)
	}
	return open(modeDetail)(m)
}

func (m *Model) setCursor(row int) {
	v := &m.view
	if len(v.procs) == 0 {
		return
	}
	v.cursor = max(0, min(row, len(v.procs)-1))
	key := v.procs[v.cursor].key()
	m.follow = &key
}

func (m *Model) clearCursor() tea.Cmd {
	m.view.cursor, m.follow = -1, nil
	return nil
}

func move(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		at := m.view.cursor
		if at < 0 && by < 0 {
			at = 0
		}
		m.setCursor(at + by)
		return nil
	}
}

func (m *Model) sortNext() tea.Cmd {
	m.view.sort = (m.view.sort + 1) % len(columns)
	m.view.reverse = false
	m.list()
	return m.note("sorted by " + strings.ToLower(strings.TrimPrefix(columns[m.view.sort].title, "▲")))
}

func (m *Model) sortReverse() tea.Cmd {
	m.view.reverse = !m.view.reverse
	m.list()
	return nil
}

// step is the item after (or before) x in list, without going round.
func step(list []time.Duration, x time.Duration, by int) time.Duration {
	for i, d := range list {
		if d >= x || i == len(list)-1 {
			return list[max(0, min(i+by, len(list)-1))]
		}
	}
	return x
}

func spanBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.view.span = step(spans, m.view.span, by)
		return m.note("plots show " + span(m.view.span))
	}
}

func intervalBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.view.interval = step(intervals, m.view.interval, by)
		m.feed.SetInterval(m.view.interval)
		m.history.SetInterval(m.view.interval)
		return m.note("refreshed every " + m.view.interval.String())
	}
}

func (m *Model) nextMetric() tea.Cmd {
	for i, pm := range plotMetrics {
		if pm.name == m.view.metric {
			next := plotMetrics[(i+1)%len(plotMetrics)]
			m.view.metric = next.name
			return m.note("plots show " + next.title)
		}
	}
	return nil
}

func focusOn(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.view.snap == nil {
			return nil
		}
		if n >= len(m.view.snap.GPUs) {
			return m.note(fmt.Sprintf("there are %d GPUs", len(m.view.snap.GPUs)))
		}
		m.view.focus = n
		m.list()
		return nil
	}
}

func (m *Model) focusNext() tea.Cmd {
	if m.view.snap == nil || len(m.view.snap.GPUs) == 0 {
		return nil
	}
	return focusOn((m.view.focus + 1) % len(m.view.snap.GPUs))(m)
}

func (m *Model) toggleWorst() tea.Cmd {
	m.worstFirst = !m.worstFirst
	if m.view.snap != nil {
		m.view.order = ordered(m.view.snap, m.worstFirst)
	}
	return m.note(pick(m.worstFirst, "the GPU with the least head-room first", "GPUs by index"))
}

func scrollBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.view.scroll = max(0, min(m.view.scroll+by, len(m.view.order)-1))
		return nil
	}
}

func (m *Model) pause() tea.Cmd {
	m.view.paused = !m.view.paused
	if !m.view.paused {
		m.show(m.newest)
	}
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	m.themeFixed = true
	m.paintIn(theme.After(m.paint.theme))
	return m.note("theme " + m.paint.theme.Name)
}

// again sends the whole screen.
func (m *Model) again() tea.Cmd {
	if m.screen != nil {
		m.screen.again()
	}
	return nil
}

func (m *Model) askNeed() tea.Cmd {
	m.mode, m.typed = modeNeed, ""
	return nil
}

// edit takes a key while something is typed: the need or a moment. Enter ends it with done.
func (m *Model) edit(msg tea.KeyPressMsg, done func(*Model) tea.Cmd) tea.Cmd {
	switch k := msg.String(); k {
	case "esc":
		m.mode = modeMain
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	case "enter":
		return done(m)
	default:
		m.paste(msg.Text)
	}
	return nil
}

// maxTyped bounds what is typed: no size and no moment is longer.
const maxTyped = 40

// paste adds typed or pasted text where something is asked for.
func (m *Model) paste(text string) {
	if (m.mode == modeNeed || m.mode == modeMoment) && len(m.typed)+len(text) <= maxTyped {
		m.typed += sampler.Clean(text)
	}
}

func (m *Model) setNeed() tea.Cmd {
	var need sampler.Opt[sampler.Bytes]
	if strings.TrimSpace(m.typed) != "" {
		b, err := sampler.ParseBytes(m.typed)
		if err != nil {
			m.typed = ""
			return m.note(err.Error())
		}
		need = sampler.Some(b)
	}
	m.mode, m.view.need = modeMain, need
	m.watch.SetNeed(need)
	if m.opt.Replay != nil {
		m.opt.Replay.setNeed(need)
	}
	m.fit()
	return nil
}

func (m *Model) confirmReset(k string) tea.Cmd {
	m.mode = modeMain
	if k != "y" && k != "Y" && k != "enter" {
		return nil
	}
	m.feed.ResetPeaks()
	return m.note("peaks begin again")
}

// noticeTime is how long a message stays in the footer.
const noticeTime = 3 * time.Second

// note shows a message in the footer for a while.
func (m *Model) note(text string) tea.Cmd { return m.noteFor(text, noticeTime) }
