package ui

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// environmentView is the environment of one process. Until it is read, and where it cannot be, it holds what snapshots
// have of it: the variables that concern memory and devices.
type environmentView struct {
	pid  int
	list []string
	note string // a sentence of the catalog; empty: it is the whole environment
}

// environmentRead is the environment of a process that was asked for.
type environmentRead struct {
	pid  int
	list []string
	err  error
}

// openEnvironment shows the environment of the selected process, and asks for the whole of it where there is somebody
// to ask.
func (m *Model) openEnvironment() tea.Cmd {
	m.selectFirst()
	row, ok := m.table.selected()
	if !ok {
		return m.note(m.words.Say("say.signal_whom"))
	}
	p := row.proc
	if row.head != nil {
		return m.note(m.words.Say("say.environment_whose"))
	}
	if p == nil {
		return m.note(m.words.Say("say.environment_nobody"))
	}
	m.environment = environmentView{pid: p.PID, note: "environment.part"}
	for k, v := range p.Environment {
		m.environment.list = append(m.environment.list, k+"="+v)
	}
	slices.Sort(m.environment.list)
	m.prompt.open(modeEnvironment)
	if m.opt.Processes == nil || m.player != nil {
		return nil
	}
	if why := notHere(row); why != "" {
		m.environment.note = pick(why == "say.signal_ended", "environment.gone", "environment.unreadable")
		return nil
	}
	ask, pid, start := m.opt.Processes, p.PID, p.StartTime.Or(time.Time{})
	return func() (msg tea.Msg) {
		defer sampler.Guard(func(err error) { msg = environmentRead{pid: pid, err: err} })
		list, err := ask.Environ(pid, start)
		return environmentRead{pid, list, err}
	}
}

func (m *Model) environmentRead(e environmentRead) {
	if e.pid != m.environment.pid || m.prompt.mode != modeEnvironment {
		return
	}
	switch {
	case e.err == nil:
		for i, text := range e.list {
			e.list[i] = sampler.Clean(text)
		}
		slices.Sort(e.list)
		m.environment.list, m.environment.note = e.list, ""
	case errors.Is(e.err, sampler.ErrGone):
		m.environment.note = "environment.gone"
	default:
		m.environment.note = "environment.unreadable"
	}
}

// environmentMaxWidth is that of the panel of the environment.
const environmentMaxWidth = 120

// environmentPage is what is known of the environment, one variable below the other.
func (m *Model) environmentPage(v *view) page {
	w := inside(rect{0, 0, min(m.tty.w, environmentMaxWidth), m.tty.h}).w
	var lines []textLine
	id := m.environment.note
	if id == "environment.unreadable" && len(m.environment.list) == 0 {
		id = "environment.hidden"
	}
	if id != "" {
		for _, l := range wrap(m.words.Say(id), w) {
			lines = append(lines, textLine{{theme.Notice, l}})
		}
		lines = append(lines, textLine{})
	}
	for _, entry := range m.environment.list {
		name, _, _ := strings.Cut(entry, "=")
		for i, l := range chop(entry, max(w-2, 1)) {
			if rest, ok := strings.CutPrefix(l, name); ok && i == 0 {
				lines = append(lines, textLine{{theme.Accent, name}, {theme.Text, rest}})
			} else {
				lines = append(lines, textLine{{theme.Text, "  " + l}})
			}
		}
	}
	if len(m.environment.list) == 0 && id == "" {
		lines = append(lines, textLine{{theme.Dim, m.words.Say("environment.empty")}})
	}
	title := m.words.Say("environment.title", "pid", m.environment.pid)
	return page{title, centered(m.tty.w, m.tty.h, environmentMaxWidth, len(lines)+2), lines}
}
