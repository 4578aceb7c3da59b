package ui

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/guptarohit/asciigraph"

	"nvpeak/theme"
)

// graph is a plot of one or two series over time: one value per column, NaN for a gap.
type graph struct {
	main, back  []float64 // back is drawn behind main and scaled to 0..100
	top         float64   // upper end of the y axis, over 0
	unit        float64   // of the y axis, in that of the values
	sign        string    // after the top of the y axis
	mark        float64   // where the watermark line goes; NaN for none
	markText    string    // "▲ 47.0G 2m ago"
	span        string    // "5m"
	spanColumns int       // how many columns that is; the plot may hold more
	last        *plotted  // what was plotted at this place before; nil: nobody keeps it
}

// axisWidth is the columns left of the plot: a figure of up to four and the axis.
const axisWidth = 5

// These colors stand for a series in asciigraph's output; the theme's color takes its
// place. (asciigraph knows only 256 colors.)
var plotColor, utilColor = asciigraph.Red, asciigraph.Blue

// Their sequences; asciigraph would make them anew for each piece.
var plotSequence, utilSequence = plotColor.String(), utilColor.String()

// graphColumns is how many values a graph of that width takes.
func graphColumns(w int) int { return max(w-axisWidth, 0) }

// draw draws the graph into r; its span stands in the last row, where it begins.
func (g *graph) draw(c *canvas, r rect, glyphs *theme.Glyphs) {
	n := graphColumns(r.w)
	if r.h < 2 || n < 4 || !(g.top > 0) || math.IsInf(g.top, 1) || len(g.main) == 0 {
		return
	}
	g.drawAxis(c, r)
	for y, line := range g.plot(n, r.h-1) {
		drawSeries(c, r.x+axisWidth, r.y+y, r.x+r.w, line)
	}
	g.drawMark(c, r, glyphs)
	c.put(r.x+axisWidth+max(0, n-g.spanColumns), r.y+r.h-1, r.x+r.w, theme.Faint, "-"+g.span)
}

func (g *graph) drawAxis(c *canvas, r rect) {
	for y := range r.h {
		c.set(r.x+axisWidth-1, r.y+y, '┤', theme.Faint)
	}
	c.right(r.x, r.y, r.x+axisWidth-1, theme.Dim, figure(g.top/g.unit)+g.sign)
	if r.h >= 7 {
		c.right(r.x, r.y+(r.h-1)/2, r.x+axisWidth-1, theme.Dim, figure(g.top/g.unit*(1-float64((r.h-1)/2)/float64(r.h-1))))
	}
	c.right(r.x, r.y+r.h-1, r.x+axisWidth-1, theme.Dim, "0")
}

// plot lets asciigraph draw the series and returns its lines without its axis. It gets
// exactly one value per column, for its own Width interpolates and loses spikes; values
// in rows, for tiny and huge ones make it panic; both bounds, for constant series go
// wrong without; and never an empty or infinite series.
func (g *graph) plot(columns, height int) []string {
	var series [][]float64
	var colors []asciigraph.AnsiColor
	if len(g.back) > 0 {
		series = append(series, bounded(g.back, columns, 100, float64(height)))
		colors = append(colors, utilColor)
	}
	series = append(series, bounded(g.main, columns, g.top, float64(height)))
	colors = append(colors, plotColor)
	if g.last.same(series, height) {
		return g.last.lines
	}
	out := asciigraph.PlotMany(series, asciigraph.Height(height), asciigraph.LowerBound(0),
		asciigraph.UpperBound(float64(height)), asciigraph.Offset(2), asciigraph.Precision(0),
		asciigraph.SeriesColors(colors...))
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		if at := strings.IndexAny(line, "┤┼"); at >= 0 {
			lines[i] = line[at+len("┤"):]
		}
	}
	lines = lines[:min(len(lines), height+1)]
	if g.last != nil {
		*g.last = plotted{series, height, lines}
	}
	return lines
}

// bounded scales values from 0..from to the rows 0..to, cuts what lies outside, and puts a value
// in front, because n values make n-1 columns.
func bounded(values []float64, columns int, from, to float64) []float64 {
	out := make([]float64, 0, columns+1)
	values = values[max(0, len(values)-columns):]
	for range columns - len(values) {
		out = append(out, math.NaN())
	}
	out = append(out, math.NaN())
	for _, x := range values {
		out = append(out, math.Round(max(0, min(x/from*to, to)))) // as asciigraph would; NaN stays NaN
	}
	out[len(out)-len(values)-1] = out[len(out)-len(values)]
	return out
}

// drawSeries draws one line of asciigraph, turning its colors into roles.
func drawSeries(c *canvas, x, y, end int, line string) {
	role := theme.Faint
	for len(line) > 0 && x < end {
		if line[0] == 0x1b {
			seq, rest, ok := strings.Cut(line, "m")
			if !ok {
				return
			}
			role, line = roleOf(seq+"m"), rest
			continue
		}
		for i, r := range line {
			if i > 0 {
				line = line[i:]
				break
			}
			if r != ' ' {
				c.set(x, y, r, role)
			}
			x++
			if len(string(r)) == len(line) {
				line = ""
				break
			}
		}
	}
}

func roleOf(seq string) theme.Role {
	switch seq {
	case plotSequence:
		return theme.Plot
	case utilSequence:
		return theme.UtilPlot
	}
	return theme.Faint
}

// drawMark draws the watermark line across the plot, over all but the memory itself, and
// its label at the left: what is oldest may be covered, the newest may not.
func (g *graph) drawMark(c *canvas, r rect, glyphs *theme.Glyphs) {
	if g.mark != g.mark {
		return
	}
	h := float64(r.h - 1)
	row := r.h - 1 - int(math.Floor(min(g.mark, g.top)*h/g.top+0.5)) // as asciigraph rounds
	y := r.y + max(0, min(row, r.h-1))
	for x := r.x + axisWidth; x < r.x+r.w; x++ {
		if r, role := c.at(x, y); r == ' ' || role == theme.UtilPlot {
			c.set(x, y, glyphs.Mark, theme.Peak)
		}
	}
	if n := width(g.markText); n+2 < r.w-axisWidth {
		c.put(r.x+axisWidth+1, y, r.x+r.w, theme.Peak, g.markText+" ")
	}
}

// PlotText plots values of 0..top, one per column, as height lines of plain text without
// an axis. NaN leaves a gap. A size or top that is too small gives nil.
func PlotText(values []float64, top float64, height int) []string {
	if len(values) < 2 || height < 2 || !(top > 0) {
		return nil
	}
	g := graph{main: values, top: top}
	lines := g.plot(len(values), height-1)
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return lines
}
