package ui

import (
	"slices"
	"time"
)

// plotted is what a frame leaves to the next of the plot of a GPU.
type plotted struct {
	line  line
	frame int // that it stood in
	rect  rect
	span  time.Duration
	area  area
}

// line is what asciigraph has made of a series. A column lasts seconds and a pixel is a GiB, so that most
// plots are those of the frame before, and asciigraph takes half of the memory that a frame needs.
type line struct {
	series []float64
	height int
	lines  []string
}

func (l *line) same(series []float64, height int) bool {
	return l != nil && l.height == height && slices.EqualFunc(l.series, series, sameValue)
}

// sameValue says whether two values of a plot are the same; NaN is a gap.
func sameValue(a, b float64) bool { return a == b || a != a && b != b }

// stand draws a plot, or leaves it as it stood in the frame before: it moves every few seconds, and most are of memory that does not.
func (v *view) stand(c *canvas, r rect, p *plotted, a *area) {
	if v.before.canvas != nil && p.frame == v.frames-1 && p.rect == r && p.span == v.plot.span && p.area.same(a) {
		c.copy(v.before.canvas, r)
		p.frame = v.frames
		return
	}
	a.draw(c, r, v.glyphs, v.plot.span)
	high, low := append(p.area.high[:0], a.high...), append(p.area.low[:0], a.low...) // the figures are another frame's next
	p.frame, p.rect, p.span, p.area = v.frames, r, v.plot.span, *a
	p.area.high, p.area.low = high, low
}

// same says whether two plots of a GPU look the same. What they are of is in the title.
func (a *area) same(b *area) bool {
	return a.full == b.full && a.unit == b.unit && a.sign == b.sign && a.now == b.now && a.title == b.title && a.levels == b.levels && a.lines == b.lines &&
		a.at.span == b.at.span && slices.EqualFunc(a.high, b.high, sameValue) && slices.EqualFunc(a.low, b.low, sameValue) &&
		slices.EqualFunc(a.marks, b.marks, mark.same) && slices.EqualFunc(a.ticks, b.ticks, tick.same) && slices.EqualFunc(a.hints, b.hints, tick.same)
}

func (m mark) same(o mark) bool {
	return m.value == o.value && m.role == o.role && m.at == o.at && m.label == o.label && slices.Equal(m.texts, o.texts)
}

func (t tick) same(o tick) bool { return t.at == o.at && slices.Equal(t.texts, o.texts) }
