package ui

import "nvpeak/theme"

func (v *view) canvas(w, h int) *canvas {
	c := newCanvas(w, h)
	c.ascii = v.ascii
	return c
}

// draw draws the main screen.
func (v *view) draw(w, h int) *canvas {
	c := v.canvas(w, h)
	if v.snap == nil {
		c.put(1, h/2, w, theme.Dim, v.words.Say(pick(v.timeline == nil, "screen.connecting", "screen.reading")))
		return c
	}
	p := v.arrange(w, h)
	if p.header.h > 0 {
		v.header(c, p.header, p.hidden)
	}
	for _, g := range p.panes {
		v.gpuPane(c, g.rect, g.gpu)
	}
	for _, g := range p.lines {
		v.gpuLine(c, g.rect, g.gpu)
	}
	v.drawAdvice(c, p.advice, p.text)
	v.procPane(c, p.procs)
	if p.timeline.h > 0 {
		v.timelinePane(c, p.timeline)
	}
	if p.footer.h > 0 || v.footer.prompt != "" || v.footer.notice != "" {
		r := p.footer
		if r.h == 0 {
			r = rect{0, h - 1, w, 1}
			c.clear(r)
		}
		v.footerPane(c, r)
	}
	return c
}

func (v *view) drawAdvice(c *canvas, r rect, lines []textLine) {
	if r.h <= 0 || len(lines) == 0 {
		return
	}
	if r.h == 1 { // no room for a heading
		v.textLines(c, r, lines[:1], 0)
		return
	}
	v.advicePane(c, r, lines)
}
