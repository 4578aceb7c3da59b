package ui

import (
	"fmt"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

const (
	namedLine   = 84 // columns from which on a line says GPU
	utilityLine = 36 // and from which on there is room for the utilization beside a bar that says something
)

// gpuLine draws one GPU on one line: label, bar with the peak mark, used of total, peak,
// utilization, and with room temperature, power, name and a sparkline.
func (v *view) gpuLine(c *canvas, r rect, g *sampler.GPU) {
	label := fmt.Sprintf("%2s ", g.Label())
	if r.w >= namedLine {
		label = " GPU " + g.Label() + " "
	}
	x := c.put(r.x, r.y, r.x+r.w, pick(g == v.focus, theme.Accent, theme.Text), label)
	if g == v.focus {
		c.set(x-1, r.y, v.glyphs.Focus, theme.Accent)
	}
	if g.Silent() {
		c.cut(x, r.y, r.x+r.w, theme.Critical, string(v.glyphs.Alert)+" "+v.words.Reason(g.Error.Or("")))
		return
	}
	right := r.x + r.w
	figures := v.lineFigures(g, r.w)
	for i := len(figures) - 1; i >= 0; i-- {
		right = c.right(x, r.y, right, figures[i].role, figures[i].text) - 1
	}
	room := right - x
	if room >= 40 { // a sparkline in the right part of the bar's room
		w := room / 2
		if v.unused(g) {
			c.cut(right-w, r.y, right, theme.Dim, v.verdict(g).text)
		} else {
			v.gpuSpark(c, rect{right - w, r.y, w, 1}, g)
		}
		room -= w + 1
	}
	if room >= 3 {
		v.memoryBar(c, x, r.y, room, g, v.glyphs.Low)
	}
}

// lineFigures are the figures after the bar, as many as the width allows.
func (v *view) lineFigures(g *sampler.GPU, w int) []piece {
	m := &g.Memory
	level := v.levelOf(g, m.Used.Or(0))
	ps := []piece{{pick(level == theme.Ok, theme.Strong, level), fmt.Sprintf("%10s", lineUsed(m))}}
	if p := m.Peak; p != nil && p.Bytes == 0 { // never used
		ps = append(ps, piece{theme.Text, "      "})
	} else if p != nil {
		role, text := v.peakRole(g, p.Bytes), fmt.Sprintf("%c%s", v.glyphs.Peak, gib(p.Bytes))
		if role == theme.Critical {
			text += "!"
		}
		ps = append(ps, piece{role, fmt.Sprintf("%-6s", text)})
	}
	if w >= utilityLine {
		ps = append(ps, piece{theme.Util, fmt.Sprintf("%4s", percentOr(g.Utilization.GPU))})
	}
	if w >= 70 {
		t, ok := g.Temperature.Value()
		ps = append(ps, piece{theme.Dim, fmt.Sprintf("%4s", orNA(ok, "%d%c", t, v.glyphs.Degree))})
		p, ok := g.Power.Value()
		ps = append(ps, piece{theme.Dim, fmt.Sprintf("%5s", orNA(ok, "%.0fW", p))})
	}
	if w >= 110 {
		ps = append(ps, piece{theme.Dim, fixed(lineName(g), 20)})
	}
	return ps
}

// lineName is the name in a line: of a MIG instance what tells it from its neighbors.
func lineName(g *sampler.GPU) string {
	name := shortName(g.Name)
	if at := strings.Index(name, "MIG "); g.MIG != nil && at > 0 {
		return name[at:]
	}
	return name
}

func orNA(ok bool, format string, args ...any) string {
	if !ok {
		return notAvailable
	}
	return fmt.Sprintf(format, args...)
}

func lineUsed(m *sampler.Memory) string {
	if !m.Used.Known() {
		return notAvailable
	}
	return gibOr(m.Used) + totalShort(m)
}

// totalShort is "/80G", and "G" of what is not known.
func totalShort(m *sampler.Memory) string {
	total, ok := m.Total.Value()
	if !ok {
		return "G"
	}
	return "/" + strings.TrimSuffix(gib(total), ".0") + "G"
}

// gpuSpark is the memory history as a row of small bars.
func (v *view) gpuSpark(c *canvas, r rect, g *sampler.GPU) {
	s := v.history.GPU(g.Key())
	if s == nil {
		return
	}
	v.lane(c, r, s.Plot("memory.used"), g.Memory.Total.Or(0).MiB(), laneHeldFor, v.laneRole(g))
}
