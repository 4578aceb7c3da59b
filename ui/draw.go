package ui

import (
	"slices"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// viewOf is what the panes read of a machine, without what belongs to the whole screen.
func (m *Model) viewOf(f *folds, s shown) *view {
	return &view{shown: s, history: f.history, need: f.watch.Need().Or(0), plot: m.plot, glyphs: m.glyphs, ascii: m.opt.ASCII, words: m.words,
		outlook: f.watch.Outlook, fixes: f.watch.SpikeFixes, stands: f.stands, steps: f.steps, user: m.opt.User}
}

// view is what the panes read.
func (m *Model) view() *view {
	v := m.viewOf(m.folds, m.shown)
	v.table, v.gpus, v.plots, v.fleet, v.figures, v.spots = &m.table, &m.gpus, m.plots, m.fleet, m.figures[:0], make([]spot, 0, len(m.spots))
	v.footer = footer{m.prompt.text(m.words, m.tty.w < 80 || m.notices.text != "" && (m.prompt.mode == modeNeed || m.prompt.mode == modeFilter)), m.notices.text, m.hints(), m.ofTable()}
	if early := v.snap != nil && !m.shown.frozen && m.folds.newest != nil && v.snap != m.folds.newest; early && len(v.snap.GPUs) == len(m.folds.newest.GPUs) {
		v.whole = m.folds.newest
	}
	if v.snap != nil {
		v.focus = m.gpus.focused(v.snap)
	}
	return v
}

// draw draws the screen of the present mode.
func (m *Model) draw() *canvas {
	v, w, h := m.view(), m.tty.w, m.tty.h
	if was := m.drawn.canvas; was != nil && was.w == w && was.h == h {
		v.before, v.peeks = m.drawn, m.peeks
	}
	m.frames++
	v.frames, m.drawn, m.peeks = m.frames, drawn{}, false
	if row, ok := m.detailed(); ok {
		c := v.detail(w, h, row, m.prompt.top)
		m.spots = v.spots
		return c
	}
	draw := v.draw
	if m.overviewed() {
		draw = v.drawFleet
	}
	c := draw(w, h)
	m.spots, m.figures = v.spots, v.figures
	if p, ok := m.page(v); ok {
		v.spots = v.spots[:0] // it covers the rest
		v.textLines(c, v.box(c, p.outer, p.title), p.lines, m.prompt.top)
		m.spots = v.spots
		if text, r := m.notices.text, p.outer; text != "" && inside(r) != r { // it may cover the last line of the screen
			c.cut(r.x+2, r.y+r.h-1, r.x+r.w-2, theme.Strong, " "+text+" ")
		}
		return c
	}
	if !v.covered {
		m.drawn = drawn{c, v.panes}
	}
	return c
}

// detailed is the process whose detail is shown.
func (m *Model) detailed() (row procRow, ok bool) {
	if m.prompt.mode != modeDetail || m.shown.snap == nil {
		return procRow{}, false
	}
	row, ok = m.table.selected()
	return row, ok && row.head == nil
}

// page is a text over the screen.
type page struct {
	title string
	outer rect
	lines []textLine
}

// adviceMaxWidth is that of the panel of all advice.
const adviceMaxWidth = 100

// page is the text of the present mode.
func (m *Model) page(v *view) (p page, ok bool) {
	w, h := m.tty.w, m.tty.h
	switch m.prompt.mode {
	case modeHelp:
		th := m.tty.paint.theme
		title := m.words.Say("help.title") + "  " + m.words.Say("help.theme", "name", th.Name, "title", themeTitle(m.words, th))
		lines := helpLines(m.bindings(), m.glyphs, m.words, inside(rect{0, 0, min(w, helpWidth), h}).w)
		if len(lines)+2 > h {
			lines = slices.DeleteFunc(lines, func(l textLine) bool { return len(l) == 0 })
		}
		return page{title, centered(w, h, helpWidth, len(lines)+2), lines}, true
	case modeEnvironment:
		return m.environmentPage(v), true
	case modeSetup:
		return m.setupPage(v), true
	case modeSignal, modeSignalAsk:
		return m.signalPage(v), true
	case modeAdvice:
		advice := v.adviceFull
		if m.overviewed() {
			advice = v.fleetAdvice
		}
		lines := advice(inside(rect{0, 0, min(w, adviceMaxWidth), h}).w)
		return page{m.words.Say("panel.advice"), centered(w, h, adviceMaxWidth, len(lines)+2), lines}, true
	}
	return page{}, false
}

// lastTop is the first line of the end of the text that covers the screen.
func (m *Model) lastTop() int {
	v := m.view()
	if row, ok := m.detailed(); ok {
		lines, text, _ := v.detailLayout(m.tty.w, m.tty.h, row)
		return lastFirst(len(lines), text.h)
	}
	p, _ := m.page(v)
	return lastFirst(len(p.lines), inside(p.outer).h)
}

// themeTitle is what a theme is for; one of the user's own says it itself.
func themeTitle(words lang.Catalog, t *theme.Theme) string {
	id := "theme." + t.Name
	if title := words.Say(id); title != id {
		return title
	}
	return sampler.Clean(t.Title)
}
