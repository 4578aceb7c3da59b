package ui

import (
	"math"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// area is a plot over time, filled with Braille dots, two columns and four rows a cell: what was held all of the
// time is filled, what was held at some moment only is half filled. Or it is the line of what was held at most.
type area struct {
	high, low []float64 // most and least of each column of dots; NaN for a gap; low may be nil
	behind    []float64 // what is drawn behind it, in one color; may be nil
	full      float64   // the value whose levels color the plot, and that the axis reaches
	unit      float64   // of the axis, in that of the values
	sign      string    // after the top of the axis
	at        stretch
	now       string                           // the word for it
	title     string                           // what is plotted, where that is not the memory
	marks     []mark                           // lines across
	ticks     []tick                           // moments
	hints     []tick                           // moments that are shown where there is room for their names
	levels    [3]float64                       // of memory
	lines     bool                             // a line, by asciigraph
	last      *line                            // that stood here before; nil: nobody keeps it
	role      func(percent float64) theme.Role // of what is so high; nil: by level
}

// mark is a line across a plot with its label.
type mark struct {
	value float64
	role  theme.Role
	texts []string   // its label, the longest form first
	at    int        // the column of dots that it belongs to; what is out of range is before the plot
	label theme.Role // of its label
}

const (
	dotColumns = 2 // of a cell
	dotRows    = 4
	emptyDots  = '\u2800'
	filledDots = '⣿'
	halfDots   = '⢕'
)

// dots are those of a cell by column, from the bottom up.
var dots = [dotColumns][dotRows]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// stretch is the time that the columns of a plot stand for.
type stretch struct {
	span  time.Duration // of all columns
	ahead time.Duration // of those that are yet to come, at the end
	blank int           // how many those are
	late  time.Duration // for how long nothing was added
}

// heldFor is how long a plot stays as it is; a new peak shows at once all the same. A lane in a list stays longer: there
// are many of them, and what they show is a minute and more.
const (
	heldFor     = 5 * time.Second
	laneHeldFor = 3 * heldFor
)

// columns are the figures of a track for a plot of so many cells, the newest at its right edge. It moves by whole
// cells, for moved by half of one, all of it would be drawn anew; what is yet to come of the last one is as the newest.
func (v *view) columns(t *history.Track, cells int, held time.Duration) ([]float64, stretch) {
	n := dotColumns * cells
	step := (v.plot.span / time.Duration(max(n, 1))).Truncate(time.Millisecond) + time.Millisecond
	end := v.now().Truncate(held)
	blank := min(dotColumns-1-int(end.UnixMilli()/step.Milliseconds()%dotColumns), n-1)
	from := len(v.figures)
	v.figures = t.AppendColumns(v.figures, end, step, n-blank)
	for range blank {
		v.figures = append(v.figures, v.figures[len(v.figures)-1])
	}
	values := v.figures[from:len(v.figures):len(v.figures)]
	late := v.now().Sub(end)
	return values, stretch{time.Duration(n) * step, time.Duration(blank)*step - late, blank, late}
}

// column is where a moment is, in columns of dots from the left; negative: before the plot.
func (at stretch) column(ago time.Duration, cells int) int {
	n := float64(dotColumns * cells)
	return int(n*(1-min(float64(ago+at.ahead)/float64(at.span), 2))) - 1
}

// ago is how long ago the moment of a column of dots was: where column puts it.
func (at stretch) ago(column, cells int) time.Duration {
	n := dotColumns * cells
	return max(at.span*time.Duration(n-column-1)/time.Duration(max(n, 1))-at.ahead, 0)
}

// draw draws the area with its axes; the times stand in the last row.
func (a *area) draw(c *canvas, r rect, glyphs *theme.Glyphs, span time.Duration) {
	plot := rect{r.x + axisWidth, r.y, graphColumns(r.w), r.h - 1}
	if plot.h < 1 || a.lines && plot.h < 2 || plot.w < 4 || !(a.full > 0) || math.IsInf(a.full, 1) || len(a.high) == 0 {
		return
	}
	rows := plot.h - pick(a.lines, 1, 0) // from 0 to the top: a line has a row of its own for 0
	scale := axisFor(a.full/a.unit, rows)
	top := scale.top * a.unit
	switch {
	case a.lines:
		a.stroke(c, plot, top, glyphs)
	default:
		if a.behind != nil { // half filled, for without colors the two would be one
			b := area{high: a.behind, low: make([]float64, len(a.behind)), full: a.full, role: func(float64) theme.Role { return theme.Dim }}
			b.fill(c, plot, top)
		}
		a.fill(c, plot, top)
	}
	a.labels(c, rect{r.x, r.y, axisWidth, rows}, scale)
	from, to := a.seen()
	lines := rect{plot.x + from/dotColumns, plot.y, (to+dotColumns-1)/dotColumns - from/dotColumns, plot.h}
	c.put(plot.x+1, plot.y, plot.x+plot.w, theme.Strong, a.title)
	for _, m := range a.marks {
		a.line(c, lines, top, m, glyphs.Mark)
	}
	for i, m := range a.marks {
		first := !slices.ContainsFunc(a.marks[:i], func(o mark) bool { return a.row(o.value, plot, top) == a.row(m.value, plot, top) })
		a.name(c, lines, top, m, glyphs.Mark, m.at/dotColumns-from/dotColumns, pick(first, r.x, -1))
	}
	below := rect{plot.x, r.y + r.h - 1, plot.w, 1}
	a.ticked(c, below, glyphs.Tick)
	a.times(c, below, span)
	a.named(c, below)
	a.hinted(c, below, glyphs.Tick)
}

// seen are the columns that there are figures of, from the first up to after the last: lines go through no other time.
func (a *area) seen() (from, to int) {
	for i, v := range a.high {
		if v == v {
			from, to = pick(to == 0, i, from), i+1
		}
	}
	return from, to
}

// lane draws a track of 0 to top in one row of dots, or of small bars where there are none. The topmost dots stay free,
// so that lanes on lines one below the other do not become one.
func (v *view) lane(c *canvas, r rect, t *history.Track, top float64, held time.Duration, role func(percent float64) theme.Role) {
	if v.lined() {
		values := t.Columns(v.now(), history.ColumnStep(v.plot.span, r.w), r.w) // as the lines above it
		v.spark(c, r.x, r.y, values, top, func(share float64) theme.Role { return role(100 * share) })
		return
	}
	a := area{full: top, role: role}
	a.high, _ = v.columns(t, r.w, held)
	a.fill(c, r, top*dotRows/(dotRows-1))
}

// ownLane draws a track as lane does, from the least of it to the most: for its shape, and not for how much it is.
func (v *view) ownLane(c *canvas, r rect, t *history.Track, held time.Duration, role func(value float64) theme.Role) {
	if v.lined() {
		v.shape(c, r, t.Columns(v.now(), history.ColumnStep(v.plot.span, r.w), r.w), role)
		return
	}
	values, _ := v.columns(t, r.w, held)
	v.shape(c, r, values, role)
}

// shape draws values in their own range, and overwrites them.
func (v *view) shape(c *canvas, r rect, values []float64, role func(value float64) theme.Role) {
	least, most := ownRange(values)
	floor := pick(v.lined(), 0, 1.0/(dotRows-1)) // where the least is drawn, of 1
	for i, x := range values {
		values[i] = floor + (1-floor)*(x-least)/(most-least)
	}
	level := func(share float64) theme.Role {
		return role(least + (most-least)*max(0, min((share-floor)/(1-floor), 1)))
	}
	if v.lined() {
		v.spark(c, r.x, r.y, values, 1, level)
		return
	}
	a := area{full: 1, high: values, role: func(percent float64) theme.Role { return level(percent / 100) }}
	a.fill(c, r, float64(dotRows)/(dotRows-1))
}

// ownShare of the most is what a lane of its own range shows at least: less than that is no shape but noise, and is in its middle.
const ownShare = 0.25

// ownRange is from the least to the most of values, or more where they hardly differ.
func ownRange(values []float64) (least, most float64) {
	least, most = nan, nan
	for _, x := range values {
		most = larger(most, x)
		least = -larger(-least, -x)
	}
	if lacking := ownShare*most - (most - least); lacking > 0 {
		least, most = least-lacking/2, most+lacking/2
	}
	return least, most
}

// laneRole is the color of the memory of a GPU in a lane: that of its plot.
func (v *view) laneRole(g *sampler.GPU) func(percent float64) theme.Role {
	levels := v.plotLevels(g)
	return func(percent float64) theme.Role { return theme.Area(percent, levels) }
}

// historyRole is that of a process in a lane: gray until its GPU is worth a look, for there are many beside each other.
func (v *view) historyRole(g *sampler.GPU) func(percent float64) theme.Role {
	levels := v.plotLevels(g)
	return func(percent float64) theme.Role {
		level := theme.Level(percent, levels)
		return pick(level == theme.Ok, theme.Dim, level)
	}
}

// plotLevels are the levels that color what is plotted of the memory of a GPU: none where it is full by design.
func (v *view) plotLevels(g *sampler.GPU) [3]float64 {
	if v.byDesign(g) != "" {
		return [3]float64{101, 101, 101}
	}
	return gpuLevels
}

// heightOf is a value in dots of a plot; what is there at all is one dot high.
func heightOf(value, top float64, rows int) int {
	if !(value > 0) {
		return 0
	}
	return max(1, min(int(math.Round(value/top*float64(rows*dotRows))), rows*dotRows))
}

func (a *area) fill(c *canvas, r rect, top float64) {
	role := a.role
	if role == nil {
		role = func(percent float64) theme.Role { return theme.Area(percent, a.levels) }
	}
	rise := 100 * top / a.full / float64(r.h) // of a row
	height := func(i int) int {
		if i >= len(a.high) {
			return 0
		}
		return heightOf(a.high[i], top, r.h)
	}
	before, next := 0, height(0)
	for x := range r.w {
		i := dotColumns * x
		high := [dotColumns]int{next, height(i + 1)}
		next = height(i + dotColumns)
		alone := [dotColumns]int{max(before, high[1]), max(high[0], next)} // above its higher neighbor a column stands alone
		before = high[1]
		low, value := high, 0.0 // the larger of the two
		for k := range dotColumns {
			if high[k] > 0 {
				value = max(value, a.high[i+k])
			}
			if i+k < len(a.low) && a.low[i+k] == a.low[i+k] {
				low[k] = heightOf(a.low[i+k], top, r.h)
			}
		}
		for y := 0; y*dotRows < max(high[0], high[1]); y++ {
			ends := min(max(high[0], high[1]), (y+1)*dotRows) // what is drawn in this cell
			share := min(100*float64(ends)/float64(r.h*dotRows)*top, 100*value) / a.full
			c.set(r.x+x, r.y+r.h-1-y, cellOf(y*dotRows, high, low, alone), role(share))
			c.bar(r.x+x, r.y+r.h-1-y, r.x+x+1)
			if a.role == nil { // by the row and not by the value, for cells of one color cost less to send
				c.shade(r.x+x, r.y+r.h-1-y, uint8(rise*(float64(y)+0.5)))
			}
		}
	}
}

// cellOf is the character of the dots from a height on. What stands alone is filled, for half of a line
// is next to nothing.
func cellOf(from int, high, low, alone [dotColumns]int) rune {
	cell := emptyDots
	for k := range dotColumns {
		for i := range dotRows {
			at := from + i
			if at < low[k] || at < high[k] && ((at+k)%2 == 1 || at >= alone[k]) || at == high[k]-1 {
				cell |= dots[k][i]
			}
		}
	}
	return cell
}

// labels are the figures of the axis, each in the row at whose upper edge a value of its size ends; that of 0 is in the row
// after the last. A line has a row for each of them.
func (a *area) labels(c *canvas, r rect, scale axis) {
	for i := range scale.labels + 1 {
		text := scale.label(float64(i)*scale.step) + pick(i == scale.labels, a.sign, "")
		c.right(r.x, r.y+r.h-i*(r.h/scale.labels), r.x+r.w-1, theme.Dim, text)
	}
}

// line draws a mark through the cells where nothing else is, for one that is shared has the color of what is drawn and looks like
// it: in dots as high as what is drawn would be, so that no figure stands above the line of a larger one.
func (a *area) line(c *canvas, r rect, top float64, m mark, glyph rune) {
	y := a.row(m.value, r, top)
	if !a.lines {
		at := max(heightOf(m.value, top, r.h)-1, 0) % dotRows
		glyph = emptyDots | dots[0][at] // one a cell: not what a plot is filled with
	}
	for x := r.x; x < r.x+r.w; x++ {
		switch ch, role := c.at(x, y); {
		case ch == ' ':
			c.set(x, y, glyph, m.role)
			c.bar(x, y, x+1)
		case !a.lines && isDots(ch) && a.marked(role):
			c.join(x, y, glyph)
		}
	}
}

// marked says whether a role is that of a line.
func (a *area) marked(role theme.Role) bool {
	return slices.ContainsFunc(a.marks, func(m mark) bool { return m.role == role })
}

// isDots says whether a character is of those that a plot is filled with.
func isDots(ch rune) bool { return ch >= emptyDots && ch <= emptyDots+0xff }

// name writes the label of a mark on its line, near a column; where it has no room there, beside it on the axis, if that
// is still free, or else above the line or below it where nothing is: on the line of another mark it would name that.
func (a *area) name(c *canvas, r rect, top float64, m mark, glyph rune, near, axis int) {
	on := a.row(m.value, r, top)
	free := make([]bool, max(r.w, 0))
	for _, y := range []int{on, on - 1, on + 1} {
		if y < r.y || y >= r.y+r.h {
			continue
		}
		for x := range free {
			ch, role := c.at(r.x+x, y)
			free[x] = ch == ' ' || y == on && (ch == glyph || isDots(ch)) && a.marked(role)
		}
		for _, text := range m.texts {
			if x := nearestRoom(free, width(text)+2, near); x >= 0 {
				c.put(r.x+x, y, r.x+r.w, m.label, " "+text+" ")
				return
			}
		}
		if at := slices.IndexFunc(m.texts, func(text string) bool { return width(text) <= axisWidth }); y == on && axis >= 0 && at >= 0 {
			c.put(axis, y, axis+axisWidth, m.label, strings.Repeat(" ", axisWidth))
			c.right(axis, y, axis+max(axisWidth-1, width(m.texts[at])), m.label, m.texts[at])
			return
		}
	}
}

// row of a plot that a value is in.
func (a *area) row(value float64, r rect, top float64) int {
	if a.lines {
		return r.y + r.h - 1 - int(math.Round(max(0, min(value/top, 1)*float64(r.h-1))))
	}
	return r.y + r.h - 1 - max(heightOf(value, top, r.h)-1, 0)/dotRows
}

// nearestRoom is where so many free columns begin whose middle is nearest to a column; -1: nowhere.
func nearestRoom(free []bool, n, to int) int {
	best, run := -1, 0
	for x, ok := range free {
		if run++; !ok {
			run = 0
		}
		if from := x - n + 1; run >= n && (best < 0 || abs(from+n/2-to) < abs(best+n/2-to)) {
			best = from
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// times are the labels of the time axis, where nothing else is.
func (a *area) times(c *canvas, r rect, span time.Duration) {
	put := func(x int, text string) {
		if roomOn(c, r, max(x-1, r.x), min(width(text)+2, r.x+r.w-max(x-1, r.x))) {
			c.put(x, r.y, r.x+r.w, theme.Dim, text)
		}
	}
	end := r.x + r.w - width(a.now)
	put(end, a.now)
	each := timeStep(span, r.w)
	for ago := span; ago > 0; ago -= each {
		text := timeLabel(ago)
		x := r.x + int(float64(r.w)*(1-float64(ago)/float64(a.at.span)))
		if x = max(r.x, x-width(text)/2); x+width(text) < end-1 {
			put(x, text)
		}
	}
}
