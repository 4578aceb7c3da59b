package ui

import (
	"fmt"
	"sort"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// detail is the screen of one process: what it is, its memory beside the others' up to
// the GPU's total, its peak with its source, its history.
func (v *view) detail(w, h int, row procRow, top int) *canvas {
	c := v.canvas(w, h)
	v.header(c, rect{0, 0, w, 1}, 0)
	title := fmt.Sprintf("process %d on GPU %s", pidOf(row), row.gpu.Label())
	if row.proc == nil {
		title = "unattributed memory on GPU " + row.gpu.Label()
	}
	c.fill(0, 1, w, theme.Faint, v.glyphs.Line)
	c.put(1, 1, w, theme.Accent, " "+title+" ")
	c.right(1, 1, w-1, theme.Dim, " Esc back ")
	lines, text, plot := v.detailLayout(w, h, row)
	v.textLines(c, text, lines, top)
	v.processPlot(c, plot, row)
	return c
}

// detailLayout is what the detail says, and where its text and its plot are.
func (v *view) detailLayout(w, h int, row procRow) (lines []textLine, text, plot rect) {
	lines = v.detailLines(row, w-2)
	plotH := max(min(h-2-len(lines)-1, 16), min(6, h-3))
	textH := max(h-2-plotH, 0)
	return lines, rect{1, 2, w - 2, textH}, rect{1, 2 + min(textH, len(lines)+1), w - 2, plotH}
}

func (v *view) detailLines(row procRow, w int) []textLine {
	var lines []textLine
	add := func(label, text string, role theme.Role) {
		if text == "" {
			return
		}
		for i, l := range wrap(text, max(w-14, 8)) {
			lines = append(lines, textLine{{theme.Dim, fmt.Sprintf("%-13s", pick(i == 0, label, ""))}, {role, l}})
		}
	}
	p := row.proc
	if p == nil {
		add("memory", gibOr(row.memory())+" GiB", theme.Unknown)
		add("", "Used, but by no process the driver names: processes of other containers or users, the driver's own, or memory that is not given back yet.", theme.Text)
		return lines
	}
	add("command", commandOf(row), theme.Strong)
	add("user", p.User, theme.Text)
	if t, ok := p.StartTime.Value(); ok {
		add("started", t.Local().Format("2006-01-02 15:04:05")+", "+since(v.now().Sub(t))+" ago", theme.Text)
	}
	add("container", p.Container.Or(""), theme.Text)
	add("framework", p.Framework.Or(""), theme.Text)
	memory := notAvailable
	if b, ok := p.Memory.Value(); ok {
		memory = fmt.Sprintf("%s now, %.0f %% of the GPU", b, percent(b, row.gpu.Memory.Total.Or(0)))
	}
	add("GPU memory", memory, theme.Strong)
	if p.Peak != nil {
		add("peak", fmt.Sprintf("%s %s (%s)", p.Peak.Bytes, ago(v.now().Sub(p.Peak.Time)), peakSource(p.Peak.Source)), theme.Peak)
	}
	if a := p.Allocator; a != nil {
		add("allocator", fmt.Sprintf("%s allocated, %s reserved, %d retries, %d refused", a.Allocated, a.Reserved, a.Retries, a.OOMs), theme.Text)
	}
	m := &row.gpu.Memory
	others := m.Used.Or(0).Less(p.Memory.Or(0)).Less(m.Unattributed.Or(0))
	add("the GPU", fmt.Sprintf("%s GiB used by others, %s unattributed, %s reserved, %s free of %s",
		gib(others), gibOr(m.Unattributed), gibOr(m.Reserved), gibOr(m.Free), gibOr(m.Total)), theme.Text)
	host := formatted(hostOf, sampler.Bytes.String)(row)
	if cpu, ok := p.CPU.Value(); ok {
		host += fmt.Sprintf(", CPU %.0f %% of a core", cpu)
	}
	add("host memory", host, theme.Text)
	add("environment", environment(p.Environment), theme.Text)
	return lines
}

func peakSource(s string) string {
	switch s {
	case sampler.PeakDriver:
		return "driver peak, exact: NVML accounting"
	case sampler.PeakAllocator:
		return "allocator peak: from inside the process"
	}
	return "sampled peak"
}

func environment(env map[string]string) string {
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	sort.Strings(list)
	return strings.Join(list, "  ")
}

// processPlot is the memory of the process over time up to the GPU's total.
func (v *view) processPlot(c *canvas, r rect, row procRow) {
	s := v.history.Process(row.key())
	if s == nil || row.proc == nil || r.h < 3 {
		return
	}
	n := graphColumns(r.w)
	step := history.ColumnStep(v.plot.span, n)
	gr := graph{main: s.Used.Columns(nil, v.now(), step, n), top: mib(row.gpu.Memory.Total.Or(0)), unit: mibPerGiB,
		span: span(v.plot.span), spanColumns: int(v.plot.span / step), mark: nan}
	gr.markPeak(row.proc.Peak, v)
	gr.draw(c, r, v.glyphs)
}
