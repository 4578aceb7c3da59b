package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// What the keys of the main screen do.

func open(to mode) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.prompt.open(to)
		return nil
	}
}

func (m *Model) openDetail() tea.Cmd {
	if m.overviewed() {
		return m.openSelected()
	}
	if len(m.table.rows) == 0 {
		return nil
	}
	m.selectFirst()
	if row, ok := m.table.selected(); ok && row.head != nil { // of the first of the group
		m.table.move(m.table.cursor + 1)
	}
	return open(modeDetail)(m)
}

// selectFirst selects the first process where none is. Signals do not: whom they are for is chosen.
func (m *Model) selectFirst() {
	if m.table.cursor < 0 {
		m.table.move(0)
	}
}

func move(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.overviewed() && !m.fleet.listed {
			m.fleet.move(by)
			return nil
		}
		at := m.table.cursor
		if at < 0 && by < 0 {
			at = 0
		}
		m.table.move(at + by)
		return nil
	}
}

// sortNext sorts by the next column that is shown.
func (m *Model) sortNext() tea.Cmd {
	m.table.reverse = false
	shown := m.fittingColumns()
	for range columns {
		m.table.sort = (m.table.sort + 1) % len(columns)
		if columns[m.table.sort].order != nil && slices.Contains(shown, m.table.sort) {
			break
		}
	}
	m.list()
	return m.note(m.words.Say("say.sorted", "column", plainTitle(columns[m.table.sort])))
}

// fittingColumns are the columns that the table shows.
func (m *Model) fittingColumns() []int {
	return fitting(m.tty.w-pick(boxed(m.tty.w, m.tty.h), 2, 0), m.view().anyContainer(), m.overviewed(), m.table.columns)
}

func (m *Model) sortReverse() tea.Cmd {
	m.table.reverse = !m.table.reverse
	m.list()
	return nil
}

func spanBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.plot.choose(by)
		return m.note(m.words.Say("say.span", "span", span(m.plot.span)))
	}
}

func intervalBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		s, ok := m.stream.(sampler.IntervalSetter)
		if !ok {
			return nil
		}
		to := step(intervals, m.stream.Interval(), by)
		s.SetInterval(to)
		m.folds.history.SetInterval(to)
		return m.note(m.words.Say("say.refreshed", "span", to))
	}
}

func (m *Model) nextMetric() tea.Cmd {
	m.plot.metric = m.plot.metric.next()
	return m.note(m.words.Say("say.metric", "metric", m.words.Say("metric."+m.plot.metric.title)))
}

func (m *Model) toggleLines() tea.Cmd {
	m.plot.lines = !m.plot.lines
	return m.note(m.words.Say(pick(m.plot.lines, "say.lines", "say.area")))
}

// focusOn focuses the GPU at a place of the snapshot; -1: all.
func focusOn(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		s := m.shown.snap
		switch {
		case s == nil:
			return nil
		case n >= len(s.GPUs):
			return m.note(m.words.Say("say.gpus", "count", len(s.GPUs)))
		case n < 0:
			m.gpus.focus = sampler.Opt[sampler.GPUKey]{}
		default:
			m.gpus.focus = sampler.Some(s.GPUs[n].Key())
		}
		m.gpus.scroll = 0 // the focused one stands in front
		m.list()
		return nil
	}
}

func (m *Model) focusNext() tea.Cmd {
	if m.overviewed() {
		m.listNext()
		return nil
	}
	if m.shown.snap != nil {
		m.gpus.scroll = 0
		m.gpus.next(m.shown.snap)
		m.list()
	}
	return nil
}

func (m *Model) toggleWorst() tea.Cmd {
	m.gpus.worstFirst = !m.gpus.worstFirst
	m.gpus.anew = m.gpus.worstFirst
	return m.note(pick(m.gpus.worstFirst, m.words.Say("say.headroom"), m.words.Say("say.by_index")))
}

func scrollBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if s := m.shown.snap; s != nil {
			m.gpus.scroll = max(0, min(m.gpus.scroll+by, len(s.GPUs)-1))
		}
		return nil
	}
}

// freeze keeps the display as it is, or lets it go on.
func (m *Model) freeze() tea.Cmd {
	m.shown.frozen = !m.shown.frozen
	if !m.shown.frozen {
		m.show(m.folds.newest)
		m.survey()
	}
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	m.tty.themeFixed = true
	m.tty.paintIn(theme.After(m.tty.paint.theme))
	return m.note(m.words.Say("say.theme", "name", m.tty.paint.theme.Name))
}

// again sends the whole screen.
func (m *Model) again() tea.Cmd {
	m.tty.again()
	return nil
}

// setNeed takes the need that was typed.
func (m *Model) setNeed() tea.Cmd {
	if err := m.needTyped(m.prompt.typed); err != nil {
		text := m.prompt.wrong(err)
		m.prompt.typed = ""
		return m.note(text)
	}
	m.prompt.open(modeMain)
	if m.folds.watch.Need().Known() && m.shown.snap != nil {
		return m.note(m.view().needText())
	}
	return nil
}

// needTyped sets the need; an empty text takes it back.
func (m *Model) needTyped(text string) error {
	var need sampler.Opt[sampler.Bytes]
	if strings.TrimSpace(text) != "" {
		b, err := sampler.ParseNeed(text)
		if err != nil {
			return err
		}
		need = sampler.Some(b)
	}
	m.eachWatch(func(w *watch.Watch) { w.SetNeed(need) })
	if m.player != nil {
		m.player.SetNeed(need)
	}
	if m.opt.Recorder != nil {
		m.opt.Recorder.Need(need, m.newestTime())
	}
	m.fit()
	m.survey()
	return nil
}

// eachWatch does something with what watches this machine, and each one of a fleet.
func (m *Model) eachWatch(do func(*watch.Watch)) {
	do(m.folds.watch)
	if m.fleet != nil {
		m.fleet.each(func(f *folds) { do(f.watch) })
		m.fleet.anew()
	}
}

func (m *Model) confirmReset(k string) tea.Cmd {
	m.prompt.open(modeMain)
	s, ok := m.stream.(sampler.PeakResetter)
	if !ok || k != "y" && k != "Y" && k != "enter" {
		return nil
	}
	s.ResetPeaks()
	return m.note(m.words.Say("say.peaks"))
}
