package ui

import (
	"fmt"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// gpuPlot is the history of the plotted metric, with the watermark and the need for memory.
func (v *view) gpuPlot(c *canvas, r rect, g *sampler.GPU) { v.plotOf(v.plot.metric, c, r, g) }

func (v *view) plotOf(m plotMetric, c *canvas, r rect, g *sampler.GPU) {
	s := v.history.GPU(g.Key())
	if s == nil || r.h < 2 {
		return
	}
	n := graphColumns(r.w)
	if n < 4 {
		return
	}
	a := area{full: m.top(g), unit: m.unit, sign: m.sign, now: v.words.Say("screen.now"), levels: v.plotLevels(g), lines: v.lined()}
	p := v.plotted(g.Key())
	a.last = &p.line
	a.high, a.at = v.columns(s.Plot(m.name), n, heldFor)
	if !m.isMemory() { // high is no alarm
		a.title, a.role = v.words.Say("metric."+m.title), func(float64) theme.Role { return theme.UtilPlot }
	} else {
		if peak := g.Memory.Peak; peak != nil && v.now().Sub(peak.Time) <= a.at.late {
			for i := len(a.high) - 1 - a.at.blank; i < len(a.high); i++ {
				a.high[i] = larger(a.high[i], peak.Bytes.MiB()) // a new peak shows at once
			}
		}
		a.low, _ = v.columns(s.UsedMin, n, heldFor)
		a.marks = v.memoryMarks(g, &a, n)
		a.ticks, a.hints = v.standTicks(g, a.at, n), v.stepTicks(g, a.at, n)
	}
	v.stand(c, r, p, &a)
}

// memoryMarks are the lines of a plot of memory: where the next spike would end that does not fit, which is at the top, the
// peak, and the most that may be in use for the need to fit.
func (v *view) memoryMarks(g *sampler.GPU, a *area, cells int) (list []mark) {
	m := &g.Memory
	if end := v.spikeEnd(g); end > 0 {
		short := fmt.Sprintf("%c%s", v.glyphs.NeedOver, gib(end))
		list = append(list, mark{end.MiB(), theme.Need, []string{v.words.Say("screen.next_spike", "size", short, "usable", gib(m.Usable())), short}, dotColumns * cells, theme.Critical})
	}
	if m.Peak != nil {
		list = append(list, v.peakMark(m.Peak, v.peakRole(g, m.Peak.Bytes), a, cells)...)
	}
	if total, need := m.Total.Or(0).Less(m.Reserved.Or(0)), v.needOn(g); need > 0 && need < total {
		texts := []string{v.words.Say("screen.need", "size", need.Needed()), v.words.Say("screen.need_size", "size", need.Short()), v.words.Say("screen.need_word")}
		list = append(list, mark{total.Less(need).MiB(), theme.Need, texts, 0, theme.Need}) // a size alone would be taken for where its line stands
	}
	return list
}

// peakMark is the line of a peak, with its label in a color of its own. Its age is that of the last time that about as much was used.
func (v *view) peakMark(p *sampler.Peak, label theme.Role, a *area, cells int) []mark {
	if p == nil || p.Bytes == 0 {
		return nil
	}
	ago := v.now().Sub(p.Time)
	for i, x := range slices.Backward(a.high) {
		if x >= p.Bytes.MiB()*(1-1.0/samePeak) {
			ago = min(ago, a.at.ago(i, cells))
			break
		}
	}
	short := fmt.Sprintf("%c%s", v.glyphs.Peak, gib(p.Bytes))
	texts := []string{v.words.Say("screen.peak", "size", short, "ago", v.ago(ago)), short}
	if a.at.column(ago, cells) < 0 {
		texts[0] = "◂" + texts[0] // it was before what the plot shows
	}
	if ago < time.Minute {
		texts = texts[1:] // where it stands says when, and the seconds would be sent each time
	}
	return []mark{{p.Bytes.MiB(), theme.Peak, texts, a.at.column(ago, cells), label}}
}

// lined says whether plots are lines.
func (v *view) lined() bool { return v.plot.lines || v.ascii }

// plotted is the plot of a GPU in the frame before.
func (v *view) plotted(key sampler.GPUKey) *plotted {
	if v.plots[key] == nil {
		v.plots[key] = &plotted{}
	}
	return v.plots[key]
}
