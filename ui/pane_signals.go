package ui

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/theme"
)

const (
	signalsMaxWidth = 76
	commandLines    = 2 // of a command line
	targetsShown    = 4 // by name in the menu; of the others there is the number
)

// signalPage is the menu of signals, or the question that follows it.
func (m *Model) signalPage(v *view) page {
	room := inside(rect{0, 0, min(m.tty.w, signalsMaxWidth), m.tty.h})
	lines := m.targetLines(v, room.w)
	if m.prompt.mode == modeSignalAsk {
		for _, l := range wrap(m.signalQuestion(), room.w) {
			lines = append(lines, textLine{{theme.Warning, l}})
		}
		m.prompt.top = lastFirst(len(lines), room.h)
	} else {
		head := len(lines)
		for i, s := range signalChoices {
			at := i == m.signals.at
			lines = append(lines, textLine{{theme.Accent, pick(at, string(v.glyphs.Cursor), " ") + " "},
				{pick(at, theme.Strong, theme.Text), fixed(s.name, 6)}, {pick(at, theme.Text, theme.Dim), v.words.Say("signal." + s.name)}})
		}
		m.prompt.top = max(0, head+m.signals.at+2-room.h) // the last line may say how many more there are
	}
	return page{v.words.Say("signal.title"), centered(m.tty.w, m.tty.h, signalsMaxWidth, len(lines)+2), lines}
}

// targetLines name who is signaled, what it runs and what it holds.
func (m *Model) targetLines(v *view, w int) []textLine {
	var lines []textLine
	for i, t := range m.signals.targets {
		if i == targetsShown {
			lines = append(lines, textLine{{theme.Dim, v.words.Say("screen.more", "count", len(m.signals.targets)-i)}})
			break
		}
		holds := v.words.Say("signal.holds", "size", t.holds, "gpus", strings.Join(t.gpus, ", "))
		lines = append(lines, textLine{{theme.Strong, strconv.Itoa(t.pid) + " "}, {theme.Text, or(t.user, notAvailable) + "  "}, {theme.Dim, holds}})
		whole := or(t.command, t.name)
		command := wrap(whole, max(w-2, 1))
		if len(command) > commandLines { // what tells two runs from each other is often at the end
			command = append(command[:commandLines-1:commandLines-1], v.from(whole, width(whole), max(w-2, 1)))
		}
		for _, l := range command {
			lines = append(lines, textLine{{theme.Text, "  " + l}})
		}
	}
	if by := m.launchers(); by != "" {
		lines = append(lines, textLine{{theme.Dim, v.words.Say("signal.launcher", "launcher", by)}})
	}
	return append(lines, textLine{})
}

// launchers are what started the processes that are signaled, and is not signaled itself.
func (m *Model) launchers() string {
	var list []string
	for _, t := range m.signals.targets {
		_, pid, _ := strings.Cut(t.launch, " ")
		if t.launch != "" && !slices.Contains(list, t.launch) && !slices.ContainsFunc(m.signals.targets, func(o target) bool { return strconv.Itoa(o.pid) == pid }) {
			list = append(list, t.launch)
		}
	}
	return strings.Join(list, ", ")
}

func or(text, other string) string { return pick(text == "", other, text) }

// signalQuestion names whom the signal goes to, and in words whose they are where root acts on others.
func (m *Model) signalQuestion() string {
	name, list := signalChoices[m.signals.at].name, m.signals.targets
	whom := m.words.Say("signal.several", "count", len(list))
	if len(list) == 1 {
		whom = m.words.Say("signal.one", "pid", list[0].pid, "name", or(list[0].name, list[0].command))
	}
	text := m.words.Say("signal.ask", "signal", name, "whom", whom)
	if users := m.othersOf(list); users != "" && m.opt.Root {
		text = m.words.Say("signal.root", "users", users) + " " + text
	}
	return text
}

// othersOf are the users to whom processes belong, but for the one who runs the monitor.
func (m *Model) othersOf(list []target) string {
	var users []string
	for _, t := range list {
		if user := or(t.user, notAvailable); user != m.opt.User && !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return strings.Join(users, ", ")
}
