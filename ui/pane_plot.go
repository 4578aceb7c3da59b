package ui

import (
	"fmt"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// gpuPlot is the history of the plotted metric, with the watermark and the need for memory.
func (v *view) gpuPlot(c *canvas, r rect, g *sampler.GPU) {
	s := v.history.GPU(g.Key())
	if s == nil || r.h < 2 {
		return
	}
	if v.plot.lines || v.ascii {
		v.linePlot(c, r, g, s)
		return
	}
	m, n := v.plot.metric, graphColumns(r.w)
	if n < 4 {
		return
	}
	a := area{full: m.top(g), unit: m.unit, sign: m.sign, now: v.words.Say("screen.now")}
	a.high, a.at = v.columns(s.Plot(m.name), n, heldFor)
	if !m.isMemory() { // high is no alarm
		a.title, a.role = v.words.Say("metric."+m.title), func(float64) theme.Role { return theme.UtilPlot }
	} else {
		if p := g.Memory.Peak; p != nil && v.now().Sub(p.Time) <= a.at.late {
			for i := len(a.high) - 1 - a.at.blank; i < len(a.high); i++ {
				a.high[i] = larger(a.high[i], p.Bytes.MiB()) // a new peak shows at once
			}
		}
		a.low, _ = v.columns(s.UsedMin, n, heldFor)
		a.marks = v.memoryMarks(g, a.at, n)
	}
	a.draw(c, r, v.glyphs, v.plot.span)
}

// memoryMarks are the lines of a plot of memory: the peak, and the most that may be in use for the need to fit.
func (v *view) memoryMarks(g *sampler.GPU, at stretch, cells int) []mark {
	m := &g.Memory
	list := v.peakMark(m.Peak, at, cells)
	if total := m.Total.Or(0).Less(m.Reserved.Or(0)); v.need > 0 && v.need < total {
		list = append(list, mark{total.Less(v.need).MiB(), theme.Need, []string{v.words.Say("screen.need", "size", v.need.Short()), v.need.Short()}, 0})
	}
	return list
}

// peakMark is the line of the peak, if there is one.
func (v *view) peakMark(p *sampler.Peak, at stretch, cells int) []mark {
	if p == nil || p.Bytes == 0 {
		return nil
	}
	ago := v.now().Sub(p.Time)
	short := fmt.Sprintf("%c%s", v.glyphs.Peak, gib(p.Bytes))
	texts := []string{v.words.Say("screen.peak", "size", short, "ago", v.ago(ago)), short}
	if at.column(ago, cells) < 0 {
		texts[0] = "◂" + texts[0] // it was before what the plot shows
	}
	if ago < time.Minute {
		texts = texts[1:] // where it stands says when, and the seconds would be sent each time
	}
	return []mark{{p.Bytes.MiB(), theme.Peak, texts, at.column(ago, cells)}}
}

// linePlot is the plot by asciigraph, with utilization behind.
func (v *view) linePlot(c *canvas, r rect, g *sampler.GPU, s *history.Series) {
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
