package ui

import (
	"fmt"
	"sort"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// detail is the screen of one process: what it is, its memory beside the others' up to
// the GPU's total, its peak with its source, its history.
func (v *view) detail(w, h int, row procRow, top int) *canvas {
	c := v.canvas(w, h)
	v.header(c, rect{0, 0, w, 1}, 0)
	title := v.words.Say("proc.title", "pid", pidOf(row), "gpu", row.gpu.Label())
	if row.proc == nil {
		title = v.words.Say("proc.title_unattributed", "gpu", row.gpu.Label())
	}
	if boxed(w, h) {
		v.frame(c, rect{0, 1, w, h - 1}, theme.Faint)
	} else {
		c.fill(0, 1, w, theme.Faint, v.glyphs.Line)
	}
	c.put(1, 1, w, theme.Accent, " "+title+" ")
	v.back(c, 1, 1, w-1)
	lines, text, plot := v.detailLayout(w, h, row)
	v.textLines(c, text, lines, top)
	v.processPlot(c, plot, row)
	return c
}

// detailLayout is what the detail says, and where its text and its plot are.
func (v *view) detailLayout(w, h int, row procRow) (lines []textLine, text, plot rect) {
	in := rect{1, 2, w - 2, h - 2}
	if boxed(w, h) {
		in = rect{2, 2, w - 4, h - 3}
	}
	lines = v.detailLines(row, in.w)
	plotH := max(in.h-len(lines)-1, min(6, in.h-1))
	textH := max(in.h-plotH, 0)
	return lines, rect{in.x, in.y, in.w, textH}, rect{in.x, in.y + min(textH, len(lines)+1), in.w, plotH}
}

func (v *view) detailLines(row procRow, w int) []textLine {
	var lines []textLine
	add := func(id, text string, role theme.Role) {
		label := ""
		if id != "" {
			label = v.words.Say(id)
		}
		if text == "" {
			return
		}
		for i, l := range wrap(text, max(w-14, 8)) {
			lines = append(lines, textLine{{theme.Dim, fixed(pick(i == 0, label, ""), 13)}, {role, l}})
		}
	}
	p := row.proc
	if p == nil {
		add("proc.memory", gibOr(row.memory())+" GiB", theme.Unknown)
		add("", v.words.Say("proc.unattributed"), theme.Text)
		return append(append(lines, textLine{}), v.layerLines(v.layers(row), w)...)
	}
	add("proc.command", commandOf(row, v.words), theme.Strong)
	add("proc.user", p.User, theme.Text)
	if t, ok := p.StartTime.Value(); ok {
		add("proc.started", v.wall(t).Local().Format("2006-01-02 15:04:05")+v.words.Say("list.comma")+v.words.Say("screen.ago", "span", since(v.now().Sub(t))), theme.Text)
	}
	add("proc.container", p.Container.Or(""), theme.Text)
	add("proc.framework", p.Framework.Or(""), theme.Text)
	memory := notAvailable
	if b, ok := p.Memory.Value(); ok {
		memory = v.words.Say("proc.now", "size", b, "percent", fmt.Sprintf("%.0f", percent(b, row.gpu.Memory.Total.Or(0))))
	}
	add("proc.gpu_memory", memory, theme.Strong)
	if p.Peak != nil {
		add("proc.peak", v.words.Say("proc.peak_at", "size", p.Peak.Bytes, "ago", v.ago(v.now().Sub(p.Peak.Time)), "source", v.words.Say(peakSource(p.Peak.Source))), v.processPeakRole(row))
	}
	v.allocatorLines(p.Allocator, add)
	v.requestLines(p.Requests, add)
	host := formatted(hostOf, sampler.Bytes.String)(row)
	if cpu, ok := p.CPU.Value(); ok {
		host = v.words.Say("proc.cpu", "host", host, "percent", fmt.Sprintf("%.0f", cpu))
	}
	add("proc.host", host, theme.Text)
	add("proc.environment", environment(p.Environment), theme.Text)
	for _, ad := range v.fixesFor(row) {
		add(pick(ad.Rank == 1, "panel.advice", ""), fmt.Sprintf("%d %s", ad.Rank, ad.Title), theme.Accent)
	}
	return append(append(lines, textLine{}), v.layerLines(v.layers(row), w)...)
}

// fixesFor are what could be changed about a process: what its most urgent open alert advises, or what would help if its next
// spike did not fit, where the GPU is near its end.
func (v *view) fixesFor(row procRow) []sampler.Advice {
	for _, a := range urgentFirst(v.alerts) {
		if pid, known := a.PID.Value(); known && pid == row.proc.PID && a.Key == row.gpu.Key() && len(a.Advice) > 0 {
			return a.Advice
		}
	}
	if v.fixes != nil && v.under(row.gpu) {
		if fixes, pid := v.fixes(row.gpu.Key()); pid == row.proc.PID {
			return fixes
		}
	}
	return nil
}

// peakSource is the sentence about where a peak is from.
func peakSource(s string) string {
	switch s {
	case sampler.PeakDriver:
		return "proc.peak_driver"
	case sampler.PeakAllocator:
		return "proc.peak_allocator"
	case sampler.PeakCalls:
		return "proc.peak_calls"
	case sampler.PeakOverlapping:
		return "proc.peak_overlapping"
	case sampler.PeakAtLeast:
		return "proc.peak_at_least"
	case sampler.PeakCallsAlone:
		return "proc.peak_calls_alone"
	}
	return "proc.peak_sampled"
}

func environment(env map[string]string) string {
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	sort.Strings(list)
	return strings.Join(list, "  ")
}

// processPlot is the memory of the process over time up to the GPU's total, and behind it that of all.
func (v *view) processPlot(c *canvas, r rect, row procRow) {
	s := v.history.Process(row.key())
	if s == nil || row.proc == nil || r.h < 3 {
		return
	}
	n := graphColumns(r.w)
	a := area{full: row.gpu.Memory.Total.Or(0).MiB(), unit: mibPerGiB, now: v.words.Say("screen.now"), levels: v.plotLevels(row.gpu), lines: v.lined()}
	a.high, a.at = v.columns(s.Used, n, heldFor)
	if gpu := v.history.GPU(row.gpu.Key()); gpu != nil {
		a.behind, _ = v.columns(gpu.Plot("memory.used"), n, heldFor)
	}
	a.marks = v.peakMark(row.proc.Peak, v.processPeakRole(row), &a, n)
	a.draw(c, r, v.glyphs, v.plot.span)
	if a.behind != nil && !a.lines {
		x := c.put(r.x+axisWidth, r.y-1, r.x+r.w, theme.Area3, string(filledDots)+" ")
		x = c.put(x, r.y-1, r.x+r.w, theme.Text, v.words.Say("layer.process")+"  ")
		x = c.put(x, r.y-1, r.x+r.w, theme.Dim, string(halfDots)+" ")
		c.put(x, r.y-1, r.x+r.w, theme.Text, v.words.Say("proc.whole_gpu", "gpu", row.gpu.Label()))
	}
}
