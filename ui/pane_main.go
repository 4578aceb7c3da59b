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
		text := v.words.Say(pick(v.timeline != nil, "screen.reading", pick(v.silent, "screen.no_answer", "screen.connecting")))
		if v.fleet != nil {
			r := machineRow{host: v.fleet.open.host}
			text = v.words.Say("fleet.alert", "host", r.host.Name, "text", r.saying(v).text)
		}
		lines := wrap(text, w-2)
		for i, line := range lines {
			c.cut(1, max(0, (h-len(lines)+1)/2)+i, w, pick(v.silent, theme.Critical, theme.Dim), line)
		}
		return c
	}
	p := v.arrange(w, h)
	if p.header.h > 0 {
		v.header(c, p.header, p.hidden)
	}
	v.panes = p.panes
	for i, g := range p.panes {
		if v.keeps(i, g) {
			c.copy(v.before.canvas, g.rect)
			v.plotted(g.gpu.Key()).frame++
		} else {
			v.gpuPane(c, g.rect, g.gpu)
		}
		v.spot(g.rect, clickGPU(g.gpu.Key()))
		if i == len(p.panes)-1 && p.boxes && g.h >= boxMinHeight { // once is enough
			v.keys(c, g.x+2, g.y+g.h-1, g.x+g.w-2, plotHints)
		}
	}
	for _, g := range p.lines {
		v.gpuLine(c, g.rect, g.gpu)
		v.spot(g.rect, clickGPU(g.gpu.Key()))
	}
	v.advicePane(c, p.advice, p.text, p.framed)
	v.procPane(c, p.procs, p.boxes)
	if p.timeline.h > 0 {
		v.timelinePane(c, p.timeline)
	}
	if p.footer.h > 0 || v.footer.prompt != "" || v.footer.notice != "" {
		r := p.footer
		if r.h == 0 {
			r = rect{0, h - 1, w, 1}
			c.clear(r)
			v.covered = true
		}
		v.footerPane(c, r)
	}
	return c
}
