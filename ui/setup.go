package ui

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/notify"
)

// Setting is one of the settings file, by the name of its option. An empty value takes it out of the file.
type Setting struct{ Name, Value string }

// SaveSettings writes settings down and says where. Its error is for the viewer.
type SaveSettings func([]Setting) (where string, err error)

// setupRow is a setting of the setup window. It takes effect at once.
type setupRow struct {
	name   string              // of its option; its sentence is "setup." and the name
	values func() []string     // that the arrows go through; nil: there are none
	free   bool                // it can be typed
	get    func(*Model) string // as the option is given it; empty: it is not set
	set    func(*Model, string) error
}

const usualGPULevels = "80,90,95"

var setupRows = []setupRow{
	{"theme", theme.Names, false, func(m *Model) string { return m.tty.paint.theme.Name }, (*Model).setTheme},
	{"plot", func() []string { return []string{"area", "line"} }, false,
		func(m *Model) string { return pick(m.plot.lines, "line", "area") },
		func(m *Model, v string) error { m.plot.lines = v == "line"; return nil }},
	{"span", func() []string { return append([]string{""}, SpanNames()...) }, false,
		func(m *Model) string { return pick(m.plot.chosen, span(m.plot.span), "") },
		func(m *Model, v string) error {
			m.plot.span, m.plot.chosen = SpanNamed(v), v != ""
			if v == "" {
				m.plot.span = usualSpan
			}
			return nil
		}},
	{"sort", SortNames, false,
		func(m *Model) string { return pick(m.table.reverse, "-", "") + columns[m.table.sort].name() },
		func(m *Model, v string) error {
			m.table.sortBy(v)
			m.list()
			return nil
		}},
	{"need", nil, true, func(m *Model) string {
		if need, ok := m.folds.watch.Need().Value(); ok {
			return need.String()
		}
		return ""
	}, (*Model).needTyped},
	{"notify", func() []string { return []string{"", "bell", "desktop", "bell,desktop"} }, false,
		func(m *Model) string { return m.alerts.notify.String() },
		func(m *Model, v string) (err error) {
			m.alerts.notify.Terminal, err = notify.ParseTerminal(v)
			return err
		}},
	{"gpu-levels", func() []string { return []string{usualGPULevels, "70,85,95", "85,95,98"} }, true,
		func(*Model) string { return LevelsText(gpuLevels) }, setLevels(&gpuLevels, true)},
	{"host-levels", func() []string { return []string{"70,80,90", usualGPULevels} }, true,
		func(*Model) string { return LevelsText(hostLevels) }, setLevels(&hostLevels, false)},
	{columnsSetting, func() []string { return []string{""} }, false,
		func(m *Model) string {
			var names []string
			for _, i := range m.table.columns {
				names = append(names, columns[i].name())
			}
			return strings.Join(names, ",")
		},
		func(m *Model, v string) error {
			var names []string
			if v != "" {
				var err error
				if names, err = ParseColumns(v); err != nil {
					return err
				}
			}
			m.table.choose(names)
			return nil
		}},
}

// columnsSetting has a row for each column below its own.
const columnsSetting = "columns"

func (m *Model) setTheme(name string) error {
	t, ok := theme.Named(name)
	if !ok {
		return errors.New(strings.Join(theme.Names(), ", "))
	}
	m.tty.themeFixed = true
	m.tty.paintIn(t)
	return nil
}

// setLevels sets the levels of GPU memory or those of the host, for colors and for alerts.
func setLevels(of *[3]float64, gpu bool) func(*Model, string) error {
	return func(m *Model, text string) error {
		levels, err := ParseLevels(text)
		if err != nil {
			return err
		}
		*of = levels
		l := m.folds.watch.Levels()
		if gpu {
			l.GPU = levels
		} else {
			l.Host = levels
		}
		m.eachWatch(func(w *watch.Watch) { w.SetLevels(l) })
		return nil
	}
}

// setup is the state of the setup window.
type setup struct {
	at      int // a row: those of setupRows, then the columns
	typing  bool
	order   []int             // all columns, those that are shown first
	changed map[string]string // what differs from what was saved, by setting
}

// last is the last row.
func (s *setup) last() int { return len(setupRows) + len(s.order) - 1 }

// columnChoice is the column of the row that the cursor is on.
func (s *setup) columnChoice() (column int, ok bool) {
	i := s.at - len(setupRows)
	if i < 0 || i >= len(s.order) {
		return 0, false
	}
	return s.order[i], true
}

func (m *Model) openSetup() tea.Cmd {
	m.setup.at, m.setup.typing = 0, false
	m.orderColumns()
	m.prompt.open(modeSetup)
	return nil
}

// orderColumns lists the columns, those that are shown in their order, then the others.
func (m *Model) orderColumns() {
	m.setup.order = slices.Clone(m.shownColumns())
	for i := range columns {
		if !slices.Contains(m.setup.order, i) {
			m.setup.order = append(m.setup.order, i)
		}
	}
}

// shownColumns are the chosen columns, or those that fit.
func (m *Model) shownColumns() []int {
	if m.table.columns != nil {
		return m.table.columns
	}
	return m.fittingColumns()
}

// setupKey moves in the setup window, changes what the cursor is on, or leaves it.
func (m *Model) setupKey(msg tea.KeyPressMsg) tea.Cmd {
	s := &m.setup
	if s.typing {
		return m.setupTyped(msg)
	}
	last := s.last()
	switch k := msg.String(); k {
	case "j", "down":
		s.at = min(s.at+1, last)
	case "k", "up":
		s.at = max(s.at-1, 0)
	case "g", "home":
		s.at = 0
	case "G", "end":
		s.at = last
	case "right", "l":
		return m.setupChange(1)
	case "left", "h":
		return m.setupChange(-1)
	case "space", "enter":
		if _, ok := s.columnChoice(); ok {
			return m.toggleColumn()
		}
		if row := setupRows[s.at]; k == "enter" && row.free {
			s.typing, m.prompt.typed = true, row.get(m)
			return nil
		}
		return m.setupChange(1)
	case "s":
		return m.saveSetup()
	default:
		m.prompt.open(modeMain)
		if len(s.changed) > 0 && m.opt.Save != nil {
			return m.note(m.words.Say("say.setup_unsaved"))
		}
	}
	return nil
}

// setupTyped takes a key while a value is typed.
func (m *Model) setupTyped(msg tea.KeyPressMsg) tea.Cmd {
	row := setupRows[m.setup.at]
	if msg.String() == "esc" {
		m.setup.typing, m.prompt.typed = false, ""
		return nil
	}
	if !m.prompt.edit(msg) {
		return nil
	}
	typed := strings.TrimSpace(m.prompt.typed)
	m.setup.typing, m.prompt.typed = false, ""
	return m.setupSet(row, typed)
}

// setupSet gives a setting a value.
func (m *Model) setupSet(row setupRow, value string) tea.Cmd {
	if err := row.set(m, value); err != nil {
		return m.note(row.name + ": " + sampler.Clean(err.Error()))
	}
	if m.setup.changed == nil {
		m.setup.changed = map[string]string{}
	}
	m.setup.changed[row.name] = value
	return nil
}

// setupChange takes the next value of a setting, or moves a column.
func (m *Model) setupChange(by int) tea.Cmd {
	s := &m.setup
	if _, ok := s.columnChoice(); ok {
		from := s.at - len(setupRows)
		if to := from + by; to >= 0 && to < len(s.order) {
			s.order[from], s.order[to] = s.order[to], s.order[from]
			s.at += by
			return m.columnsChosen(m.shownColumns())
		}
		return nil
	}
	row := setupRows[s.at]
	if row.values == nil {
		s.typing, m.prompt.typed = true, row.get(m)
		return nil
	}
	values := row.values()
	at := slices.Index(values, strings.TrimPrefix(row.get(m), "-"))
	if at < 0 && by < 0 {
		at = 0
	}
	cmd := m.setupSet(row, values[(at+by+len(values))%len(values)])
	m.orderColumns()
	return cmd
}

// toggleColumn shows a column, or takes it away; one stays.
func (m *Model) toggleColumn() tea.Cmd {
	column, _ := m.setup.columnChoice()
	shown := slices.Clone(m.shownColumns())
	if i := slices.Index(shown, column); i < 0 {
		shown = append(shown, column)
	} else if len(shown) > 1 {
		shown = slices.Delete(shown, i, i+1)
	}
	return m.columnsChosen(shown)
}

// columnsChosen shows columns in the order of the setup window.
func (m *Model) columnsChosen(shown []int) tea.Cmd {
	var names []string
	for _, i := range m.setup.order {
		if slices.Contains(shown, i) {
			names = append(names, columns[i].name())
		}
	}
	row := setupRows[slices.IndexFunc(setupRows, func(r setupRow) bool { return r.name == columnsSetting })]
	return m.setupSet(row, strings.Join(names, ","))
}

// savedTime is how long the screen says what was saved.
const savedTime = 8 * time.Second

// saveSetup writes what was changed into the settings file.
func (m *Model) saveSetup() tea.Cmd {
	switch {
	case m.opt.Save == nil:
		return m.note(m.words.Say("say.setup_nowhere"))
	case len(m.setup.changed) == 0:
		return m.note(m.words.Say("say.setup_same"))
	}
	var list []Setting
	for _, row := range setupRows {
		if value, ok := m.setup.changed[row.name]; ok {
			list = append(list, Setting{row.name, value})
		}
	}
	where, err := m.opt.Save(list)
	if err != nil {
		return m.notices.show(m.words.Say("say.setup_failed", "error", sampler.Clean(err.Error())), longNoticeTime)
	}
	m.setup.changed = nil
	return m.notices.show(m.words.Say("say.setup_saved", "file", sampler.Clean(where)), savedTime)
}
