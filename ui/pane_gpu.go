package ui

import (
	"fmt"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// paneMinWidth and paneMinHeight are the least a GPU needs for a pane of its own; with
// less it gets a line (pane_line.go).
const (
	paneMinWidth  = 30
	paneMinHeight = 5
)

// gpuPane draws one GPU: a title, the memory bar, the utilization bar and the plot.
func (v *view) gpuPane(c *canvas, r rect, g *sampler.GPU) {
	v.gpuTitle(c, r, g, g == v.focus)
	if g.Error.Known() && !g.Memory.Used.Known() && v.history.GPU(g.Key()) == nil {
		c.put(r.x+1, r.y+1, r.x+r.w, theme.Critical, v.words.Reason(g.Error.Or("")))
		return
	}
	v.memoryRow(c, rect{r.x, r.y + 1, r.w, 1}, g)
	v.utilRow(c, rect{r.x, r.y + 2, r.w, 1}, g)
	v.gpuPlot(c, rect{r.x, r.y + 3, r.w, r.h - 3}, g)
}

// gpuTitle is the line above a pane: index and name, then figures as far as they fit.
func (v *view) gpuTitle(c *canvas, r rect, g *sampler.GPU, focused bool) {
	c.fill(r.x, r.y, r.x+r.w, theme.Faint, v.glyphs.Line)
	mark := pick(focused, string(v.glyphs.Focus)+" ", "")
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Accent, " "+mark+g.Label()+" ")
	x = c.put(x, r.y, r.x+r.w-1, theme.Strong, shortName(g.Name)+" ")
	if msg, ok := g.Error.Value(); ok {
		c.put(x, r.y, r.x+r.w-1, theme.Critical, " "+v.words.Reason(msg)+" ")
		return
	}
	items := v.titleItems(g)
	for len(items) > 0 {
		text := " " + strings.Join(items, "  ") + " "
		if x+width(text)+1 <= r.x+r.w-1 {
			c.put(r.x+r.w-1-width(text), r.y, r.x+r.w-1, theme.Dim, text)
			return
		}
		items = items[:len(items)-1]
	}
}

// titleItems are the figures of the title line, the most wanted first.
func (v *view) titleItems(g *sampler.GPU) []string {
	var items []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			items = append(items, fmt.Sprintf(format, args...))
		}
	}
	t, ok := g.Temperature.Value()
	add(ok, "%d%cC", t, pick(v.ascii, ' ', v.glyphs.Degree))
	w, ok := g.Power.Value()
	limit, has := g.PowerLimit.Value()
	add(ok && has, "%.0f/%.0f W", w, limit)
	add(ok && !has, "%.0f W", w)
	fan, ok := g.Fan.Value()
	if ok {
		items = append(items, v.words.Say("screen.fan", "percent", fan))
	}
	mhz, ok := g.Clocks.SM.Value()
	add(ok, "%d MHz", mhz)
	gen, ok := g.PCIe.Generation.Value()
	lanes, has := g.PCIe.Width.Value()
	add(ok && has, "PCIe %dx%d", gen, lanes)
	if xid, ok := g.LastXID.Value(); ok {
		items = append([]string{fmt.Sprintf("Xid %d", xid)}, items...)
	}
	if n := g.ECCUncorrected.Or(0); n > 0 {
		items = append([]string{fmt.Sprintf("ECC %d", n)}, items...)
	}
	rx, ok := g.PCIe.RX.Value()
	tx, has := g.PCIe.TX.Value()
	add(ok && has, "%c%s/s %c%s/s", v.glyphs.Down, sampler.Bytes(rx).Short(), v.glyphs.Up, sampler.Bytes(tx).Short())
	mem, ok := g.Clocks.Memory.Value()
	if ok {
		items = append(items, v.words.Say("screen.mem_clock", "mhz", mem))
	}
	p, ok := g.PerformanceState.Value()
	add(ok, "%s", p)
	add(len(g.Throttle) > 0, "%s", strings.Join(g.Throttle, " "))
	return items
}

// shortName drops what every name has.
func shortName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "NVIDIA "), "Graphics Device ")
}

// memoryRow is "mem ▕█████▲··▏ 61.2 used  0.5 driver  17.9 free".
func (v *view) memoryRow(c *canvas, r rect, g *sampler.GPU) {
	m := &g.Memory
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Dim, v.words.Say("screen.mem")+" ")
	right := r.x + r.w
	for _, p := range v.memoryFigures(m) {
		if w := width(p.text); right-w-1 >= x+10 {
			c.put(right-w, r.y, right, p.role, p.text)
			right -= w + 1
		}
	}
	v.memoryBar(c, x, r.y, max(right-x, 0), m)
}

// memoryFigures from right to left; the right-most matter most.
func (v *view) memoryFigures(m *sampler.Memory) []piece {
	used, ok := m.Used.Value()
	if !ok {
		return []piece{{theme.Unknown, notAvailable}}
	}
	total := m.Total.Or(0)
	level := theme.Level(percent(used, total), gpuLevels)
	ps := []piece{
		{theme.Dim, fmt.Sprintf("%5s ", gibOr(m.Free)) + v.words.Say("screen.free")},
		{pick(level == theme.Ok, theme.Strong, level), fmt.Sprintf("%5s ", gib(used)) + v.words.Say("screen.used")},
	}
	if m.Peak != nil {
		ps = append(ps[:1], piece{theme.Peak, fmt.Sprintf("%c%s", v.glyphs.Peak, gib(m.Peak.Bytes))}, ps[1])
	}
	if un := m.Unattributed.Or(0); un >= sampler.GiB/10 {
		ps = append(ps, piece{theme.Unknown, gib(un) + " " + v.words.Say("screen.other")})
	}
	if resv, ok := m.Reserved.Value(); ok && resv > 0 {
		ps = append(ps, piece{theme.Reserved, gib(resv) + " " + v.words.Say("screen.reserved")})
	}
	if m.SharedWithHost {
		ps = append(ps, piece{theme.Dim, v.words.Say("screen.shared")})
	}
	return ps
}

// utilRow is "gpu ▕██████▏ 99%".
func (v *view) utilRow(c *canvas, r rect, g *sampler.GPU) {
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Dim, v.words.Say("screen.util")+" ")
	right := r.x + r.w
	text := fmt.Sprintf("%4s", percentOr(g.Utilization.GPU))
	if !g.Utilization.GPU.Known() {
		text = " " + notAvailable
	}
	c.put(right-5, r.y, right, theme.Strong, text)
	right -= 6
	for _, p := range []struct {
		name string
		of   sampler.Opt[int]
	}{{v.words.Say("screen.enc"), g.Utilization.Encoder}, {v.words.Say("screen.dec"), g.Utilization.Decoder}} {
		if n := p.of.Or(0); n > 0 && right-9 > x+12 {
			right = c.right(x, r.y, right, theme.Dim, fmt.Sprintf("%s %d%%", p.name, n)) - 1
		}
	}
	v.percentBar(c, x, r.y, max(right-x, 0), g.Utilization.GPU, theme.Util)
}

// gpuPlot is the history of the plotted metric, with the watermark for memory.
func (v *view) gpuPlot(c *canvas, r rect, g *sampler.GPU) {
	s := v.history.GPU(g.Key())
	if s == nil || r.h < 2 {
		return
	}
	m := v.plot.metric
	n := graphColumns(r.w)
	step := history.ColumnStep(v.plot.span, n)
	gr := graph{main: s.Plot(m.name).Columns(v.now(), step, n), top: m.top(g), unit: m.unit, sign: m.sign,
		span: span(v.plot.span), spanColumns: int(v.plot.span / step), mark: nan, last: v.plotted(g.Key())}
	if m.isMemory() {
		raiseLast(gr.main, &g.Memory)
		gr.back = s.Plot("utilization.gpu").Columns(v.now(), step, n)
		gr.markPeak(g.Memory.Peak, v)
	}
	gr.draw(c, r, v.glyphs)
}

// plotted is the plot of a GPU in the frame before.
func (v *view) plotted(key sampler.GPUKey) *plotted {
	if v.plots[key] == nil {
		v.plots[key] = &plotted{}
	}
	return v.plots[key]
}

// markPeak puts the watermark line at a peak.
func (g *graph) markPeak(p *sampler.Peak, v *view) {
	if p != nil && p.Bytes > 0 {
		g.mark = p.Bytes.MiB()
		g.markText = fmt.Sprintf("%c %s %s", v.glyphs.Peak, p.Bytes.Short(), v.ago(v.now().Sub(p.Time)))
	}
}
