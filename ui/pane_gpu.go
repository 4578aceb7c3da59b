package ui

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// paneMinWidth and paneMinHeight are the least a GPU needs for a pane of its own; with
// less it gets a line (pane_line.go).
const (
	paneMinWidth  = 30
	paneMinHeight = 5
)

// gpuPane draws one GPU: a title, the memory bar, a sentence, and the plots. With room enough it has a box.
func (v *view) gpuPane(c *canvas, r rect, g *sampler.GPU) {
	boxed := r.w >= gridMinWidth && r.h >= boxMinHeight
	in := rect{r.x, r.y + 1, r.w, r.h - 1}
	if boxed {
		v.frame(c, r, theme.Faint)
		in = rect{r.x + 1, r.y + 1, r.w - 3, r.h - 2}
	} else {
		c.fill(r.x, r.y, r.x+r.w, theme.Faint, v.glyphs.Line)
	}
	unsaid := v.gpuTitle(c, r, g, g == v.focus, boxed)
	if neverKnown(g) || g.Silent() && v.history.GPU(g.Key()) == nil {
		lines := wrap(v.words.Reason(g.Error.Or("")), in.w-1)
		for i, line := range lines[:min(len(lines), in.h)] {
			c.put(in.x+1, in.y+i, in.x+in.w, theme.Critical, line)
		}
		m, rest := v.plot.metric, in.h-len(lines)
		if m.isMemory() && g.Utilization.GPU.Known() {
			m = m.next() // utilization
		}
		if rest > 0 && !m.isMemory() {
			v.plotOf(m, c, rect{in.x, in.y + len(lines), in.w, rest}, g)
		}
		return
	}
	next := func(rows int) rect { // the next rows from the top
		top := rect{in.x, in.y, in.w, rows}
		in.y, in.h = in.y+rows, in.h-rows
		return top
	}
	v.memoryRow(c, next(1), g)
	if row := next(1); unsaid != "" {
		c.cut(row.x+1, row.y, row.x+row.w, theme.Critical, v.words.Reason(unsaid))
	} else {
		v.verdictRow(c, row, g)
	}
	if boxed && in.h >= laneMinHeight {
		in.h--
		v.utilLane(c, rect{in.x, in.y + in.h, in.w, 1}, g)
	}
	v.gpuPlot(c, in, g)
}

// neverKnown says whether the memory of a GPU was refused from the start. The reason, with what to do, is longer than a title,
// and its other figures are as good as any.
func neverKnown(g *sampler.GPU) bool { return g.Silent() && g.Memory.Peak == nil }

const (
	boxMinHeight  = 9
	laneMinHeight = 7 // of the plot above the lane of utilization
)

// verdictRow is the sentence on a GPU, and at the right what nobody's processes hold.
func (v *view) verdictRow(c *canvas, r rect, g *sampler.GPU) {
	said := v.paneVerdict(g)
	if text, _, ok := strings.Cut(said.text, strings.TrimSpace(v.words.Say("list.semicolon"))); ok && width(said.text) > r.w-1 {
		said.text = text // rather no time than half of one
	}
	x := c.cut(r.x+1, r.y, r.x+r.w, said.role, said.text)
	right := r.x + r.w
	for _, p := range v.apartFigures(&g.Memory) {
		if from := right - width(p.text); from > x+1 {
			c.put(from, r.y, right, p.role, p.text)
			right = from - 2
		}
	}
}

// utilLane is the utilization over time, in one row beneath the plot of memory.
func (v *view) utilLane(c *canvas, r rect, g *sampler.GPU) {
	s := v.history.GPU(g.Key())
	if s == nil || !v.plot.metric.isMemory() || !g.Utilization.GPU.Known() {
		return
	}
	n := graphColumns(r.w)
	c.right(r.x, r.y, r.x+axisWidth-1, theme.Dim, v.words.Say("screen.util"))
	v.lane(c, rect{r.x + axisWidth, r.y, n, 1}, s.Plot("utilization.gpu"), 100, heldFor, func(float64) theme.Role { return theme.UtilPlot })
}

// larger of two, of which each may be missing.
func larger(a, b float64) float64 {
	if a != a || b > a {
		return b
	}
	return a
}

// gpuTitle is the line above a pane: index and name, then figures as far as they fit. It returns why a GPU is silent where
// that is too long for it.
func (v *view) gpuTitle(c *canvas, r rect, g *sampler.GPU, focused, boxed bool) (unsaid string) {
	mark := pick(focused, string(v.glyphs.Focus)+" ", "")
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Accent, " "+mark+pick(boxed || r.w >= gridMinWidth, "GPU ", "")+g.Label()+" ")
	x = c.cut(x, r.y, r.x+r.w-1, theme.Strong, shortName(g.Name)+" ")
	if msg, ok := g.Error.Value(); ok && !neverKnown(g) {
		text := " " + v.words.Reason(msg) + " "
		if width(text) > r.x+r.w-1-x {
			if g.Silent() {
				return msg
			}
			if head, _, told := sampler.Unanswered(msg); told { // the alert says which call
				text = " " + v.words.Reason(head) + " "
			}
		}
		c.cut(x, r.y, r.x+r.w-1, theme.Critical, text)
		return ""
	}
	var items []string
	room := r.x + r.w - 4 - x // within a blank at each end, and one before
	for item := range v.titleItems(g) {
		if room -= width(item) + pick(len(items) > 0, len(titleGap), 0); room < 0 {
			break
		}
		items = append(items, item)
	}
	if len(items) > 0 {
		text := " " + strings.Join(items, titleGap) + " "
		c.put(r.x+r.w-1-width(text), r.y, r.x+r.w-1, theme.Dim, text)
	}
	return ""
}

// titleGap is between the figures of the title line.
const titleGap = "  "

// titleItems are the figures of the title line, the most wanted first. They are made one by one: most panes have room for a few.
func (v *view) titleItems(g *sampler.GPU) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		add := func(ok bool, format string, args ...any) {
			more = more && (!ok || yield(fmt.Sprintf(format, args...)))
		}
		util, ok := g.Utilization.GPU.Value()
		add(ok, "%s %3d%%", v.words.Say("screen.util"), util)
		n := g.ECCUncorrected.Or(0)
		add(n > 0, "ECC %d", n)
		xid, ok := g.LastXID.Value()
		add(ok, "Xid %d", xid)
		t, ok := g.Temperature.Value()
		add(ok, "%2d%sC", t, pick(v.ascii, "", string(v.glyphs.Degree)))
		w, ok := g.Power.Value()
		limit, has := g.PowerLimit.Value()
		add(ok && has, "%3.0f/%.0f W", w, limit)
		add(ok && !has, "%3.0f W", w)
		if fan, ok := g.Fan.Value(); ok {
			add(true, "%s", v.words.Say("screen.fan", "percent", fan))
		}
		mhz, ok := g.Clocks.SM.Value()
		add(ok, "%4d MHz", mhz)
		gen, ok := g.PCIe.Generation.Value()
		lanes, has := g.PCIe.Width.Value()
		add(ok && has, "PCIe %dx%d", gen, lanes)
		if !more {
			return
		}
		rx, ok := g.PCIe.RX.Value()
		tx, has := g.PCIe.TX.Value()
		down, up := string(v.glyphs.Down), string(v.glyphs.Up)
		if v.ascii {
			down, up = "rx ", "tx " // ^ is the peak
		}
		add(ok && has, "%s%s/s %s%s/s", down, sampler.Bytes(rx).Short(), up, sampler.Bytes(tx).Short())
		if mem, ok := g.Clocks.Memory.Value(); ok && more {
			add(true, "%s", v.words.Say("screen.mem_clock", "mhz", mem))
		}
		p, ok := g.PerformanceState.Value()
		add(ok, "%s", p)
		add(len(g.Throttle) > 0, "%s", strings.Join(g.Throttle, " "))
	}
}

// shortName drops what every name has.
func shortName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "NVIDIA "), "Graphics Device "), " Generation")
}

// memoryRow is "mem ▕█████▲··▏ 61.2 / 79.6 GiB ▲78.9": the bar takes half of it at least; with little room the total goes
// first, and then the peak.
func (v *view) memoryRow(c *canvas, r rect, g *sampler.GPU) {
	m := &g.Memory
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Dim, v.words.Say("screen.mem")+" ")
	right, room := r.x+r.w, r.x+r.w-x-max(10, r.w*2/5)-1
	figures := v.memoryFigures(g)
	if piecesWidth(figures) > room {
		for i := range figures {
			if figures[i].role == theme.Dim {
				figures[i].text = totalShort(m)
			}
		}
	}
	for _, drop := range []func(piece) bool{
		func(p piece) bool { return p.role == theme.Dim },
		func(p piece) bool { return strings.HasPrefix(p.text, string(v.glyphs.Peak)) },
	} {
		if piecesWidth(figures) > room {
			figures = slices.DeleteFunc(figures, drop)
		}
	}
	for _, p := range figures {
		w := width(p.text)
		c.put(right-w, r.y, right, p.role, p.text)
		right -= w + pick(p.role == theme.Dim, 0, 1)
	}
	v.memoryBar(c, x, r.y, max(right-x, 0), g, v.glyphs.Bar)
}

// piecesWidth is what pieces take beside each other.
func piecesWidth(list []piece) (w int) {
	for _, p := range list {
		w += width(p.text) + pick(p.role == theme.Dim, 0, 1)
	}
	return w
}

// memoryFigures from right to left.
func (v *view) memoryFigures(g *sampler.GPU) []piece {
	m := &g.Memory
	used, ok := m.Used.Value()
	if !ok {
		return []piece{{theme.Unknown, notAvailable}}
	}
	total := m.Total.Or(0)
	level := v.levelOf(g, used)
	var ps []piece
	if m.Peak != nil && m.Peak.Bytes > 0 {
		ps = append(ps, piece{v.peakRole(g, m.Peak.Bytes), fmt.Sprintf("%c%-4s", v.glyphs.Peak, gib(m.Peak.Bytes))})
	}
	of := " GiB"
	if m.Total.Known() {
		of = " / " + gib(total) + of
	}
	return append(ps, piece{theme.Dim, of}, piece{pick(level == theme.Ok, theme.Strong, level), fmt.Sprintf("%5s", gib(used))})
}

// apartFigures are parts of the memory that no process holds, from right to left.
func (v *view) apartFigures(m *sampler.Memory) (ps []piece) {
	if resv, ok := m.Reserved.Value(); ok && resv >= sampler.GiB/20 {
		ps = append(ps, piece{theme.Reserved, gib(resv) + " GiB " + v.words.Say("screen.reserved")})
	}
	if un := m.Unattributed.Or(0); un >= sampler.GiB/10 {
		ps = append(ps, piece{theme.Unknown, gib(un) + " GiB " + v.words.Say("screen.other")})
	}
	if m.SharedWithHost {
		ps = append(ps, piece{theme.Dim, v.words.Say("screen.shared")})
	}
	return ps
}
