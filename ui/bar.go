package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// color levels of the field notes: GPU memory and host memory in percent of the total.
var (
	gpuLevels  = [3]float64{80, 90, 95}
	hostLevels = [3]float64{70, 80, 90}
)

// Levels are from how many percent on GPU memory and host memory have the next color.
func Levels() (gpu, host [3]float64) { return gpuLevels, hostLevels }

// ParseLevels reads three rising levels in percent, such as "80,90,95".
func ParseLevels(text string) (levels [3]float64, err error) {
	parts := strings.Split(text, ",")
	ok := len(parts) == len(levels)
	for i := range min(len(parts), len(levels)) {
		v, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		ok = ok && err == nil && v > 0 && v <= 100 && (i == 0 || v > levels[i-1])
		levels[i] = v
	}
	if !ok {
		return [3]float64{}, fmt.Errorf("%q is not three rising percentages such as 80,90,95", text)
	}
	return levels, nil
}

// LevelsText is what ParseLevels reads.
func LevelsText(levels [3]float64) string {
	return fmt.Sprintf("%g,%g,%g", levels[0], levels[1], levels[2])
}

// SetLevels chooses other levels for all screens, before there is one.
func SetLevels(gpu, host [3]float64) { gpuLevels, hostLevels = gpu, host }

// memoryBar draws the memory of a GPU on w columns: used by processes, unattributed, free
// and, at the far end, what the driver keeps: the bar is full when nothing is left. ▲
// stands at the peak, ┊ where the need would end on top of the recent peak, » at the end of what can be
// used where that is beyond, or where the next spike is.
func (v *view) memoryBar(c *canvas, x, y, w int, g *sampler.GPU, steps []rune) {
	m := &g.Memory
	total, ok := m.Total.Value()
	if !ok {
		return // an empty bar would say that none is used
	}
	if total == 0 || w < 1 {
		c.fill(x, y, x+w, theme.Faint, v.glyphs.BarEmpty)
		return
	}
	used := m.Used.Or(0)
	column := func(b sampler.Bytes) float64 { // a recording may say that more is used than there is
		return min(float64(b)/float64(total), 1) * float64(w)
	}
	exact, reserved := column(used), column(m.Reserved.Or(0))
	end := v.barEnd(g, exact, w)
	known := column(used.Less(m.Unattributed.Or(0))) + end - exact
	c.fill(x, y, x+w, theme.Faint, v.glyphs.BarEmpty)
	for i := w - int(math.Round(reserved)); i < w; i++ {
		c.set(x+i, y, v.glyphs.BarReserve, theme.Reserved)
	}
	v.fillBar(c, x, y, w, end, v.levelOf(g, used), steps)
	for i := int(math.Round(known)); i < int(math.Round(end)); i++ {
		c.set(x+i, y, v.glyphs.BarUnknown, theme.Unknown)
	}
	over := v.needMark(c, x, y, g, column, max(0, w-1-int(math.Round(reserved))))
	if m.Peak != nil && m.Peak.Bytes > 0 {
		at := min(int(column(m.Peak.Bytes)), w-1)
		if over > 0 && (at == over || at == over+1) {
			at = over - 1 // what does not fit stands beyond the peak
		}
		c.set(x+at, y, v.glyphs.Peak, v.peakRole(g, m.Peak.Bytes))
	}
	c.bar(x, y, x+w)
}

// tremble is how far a bar may be off, in columns: one that follows all memory that goes up and down a little is sent each second.
const tremble = 0.375

// barEnd is where the memory bar of a GPU of w columns ends: where it was as the plots moved last, if that is about right. Empty
// and full are exact.
func (v *view) barEnd(g *sampler.GPU, exact float64, w int) float64 {
	s := v.history.GPU(g.Key())
	if s == nil || exact == 0 || exact > float64(w-1) {
		return exact
	}
	then := s.UsedMin.Columns(v.now().Truncate(heldFor).Add(-time.Second), time.Second, 1)[0] / g.Memory.Total.Or(0).MiB() * float64(w)
	return pick(math.Abs(then-exact) <= tremble, then, exact)
}

// levelOf is the level of so much memory of a GPU in use; none where that is by design.
func (v *view) levelOf(g *sampler.GPU, used sampler.Bytes) theme.Role {
	if v.byDesign(g) != "" {
		return theme.Ok
	}
	return theme.Level(percent(used, g.Memory.Total.Or(0)), gpuLevels)
}

// peakRole is that of a peak of a GPU: its color says whether it was a danger.
func (v *view) peakRole(g *sampler.GPU, peak sampler.Bytes) theme.Role {
	level := v.levelOf(g, peak)
	return pick(level == theme.Ok, theme.Peak, level)
}

// processPeakRole is that of the peak of a process: the color of the peak of its GPU where it had most of that.
func (v *view) processPeakRole(r procRow) theme.Role {
	own, _ := peakOf(r).Value()
	v, _ = v.of(r)
	if p := r.gpu.Memory.Peak; p != nil && own > p.Bytes.Less(own) {
		own = max(own, p.Bytes)
	}
	return v.peakRole(r.gpu, own)
}

// fillBar fills n (fractional) of w columns; steps are the parts of a cell up to full.
func (v *view) fillBar(c *canvas, x, y, w int, n float64, role theme.Role, steps []rune) {
	n = max(0, min(n, float64(w)))
	if len(steps) == 1 {
		n = math.Round(n)
	}
	full := int(n)
	c.fill(x, y, x+full, role, steps[len(steps)-1])
	if part := int((n - float64(full)) * float64(len(steps))); part > 0 && full < w {
		c.set(x+full, y, steps[part-1], role)
	}
	c.bar(x, y, x+w)
}

// percentBar draws a share of 100 as a thin bar in steps of 5: memory is what matters
// here, and what moves draws the eye.
func (v *view) percentBar(c *canvas, x, y, w int, pct sampler.Opt[int], role theme.Role) {
	c.fill(x, y, x+w, theme.Faint, v.glyphs.BarEmpty)
	if p, ok := pct.Value(); ok {
		v.fillBar(c, x, y, w, float64((p+2)/5*5)/100*float64(w), role, v.glyphs.Thin)
	}
}

// spark draws values between 0 and top as one row of small bars.
func (v *view) spark(c *canvas, x, y int, values []float64, top float64, role func(share float64) theme.Role) {
	for i, val := range values {
		if val != val || top <= 0 {
			continue
		}
		share := max(0, min(val/top, 1))
		n := int(share * float64(len(v.glyphs.Spark)))
		c.set(x+i, y, v.glyphs.Spark[min(n, len(v.glyphs.Spark)-1)], role(share))
		c.bar(x+i, y, x+i+1)
	}
}
