package ui

import (
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"nvpeak/theme"
)

// axisWidth is the columns left of the plot: a figure of up to four and a blank.
const axisWidth = 5

// graphColumns is how many values a graph of that width takes.
func graphColumns(w int) int { return max(w-axisWidth, 0) }

// lowPlot is how many rows a plot of lines has at most for a level to be said in thirds of a row; in a higher one it would break
// the line for little.
const lowPlot = 5

// stroke draws the most of each cell as a line.
func (a *area) stroke(c *canvas, r rect, top float64, glyphs *theme.Glyphs) {
	values := make([]float64, r.w)
	for x := range values {
		values[x] = nan
		for i := dotColumns * x; i < min(dotColumns*(x+1), len(a.high)); i++ {
			values[x] = larger(values[x], a.high[i])
		}
	}
	for y, line := range lineOf(values, top, r.h-1, a.last) {
		for i, ch := range []rune(line) {
			if ch != ' ' && i < r.w {
				if ch == '─' && values[i] == values[i] && r.h <= lowPlot {
					ch = levelIn(within(values[i], top, float64(r.h-1))-float64(r.h-1-y), glyphs.Level)
				}
				c.set(r.x+i, r.y+y, ch, theme.Plot)
			}
		}
	}
}

// lineOf lets asciigraph draw a series in so many rows above the one of 0 and returns its lines without its axis. It
// gets exactly one value per column, for its own Width interpolates and loses spikes; values in rows, for tiny and huge
// ones make it panic; both bounds, for constant series go wrong without; and never an empty or infinite series.
func lineOf(values []float64, top float64, height int, last *line) []string {
	series := bounded(values, top, float64(height))
	if last.same(series, height) {
		return last.lines
	}
	out := asciigraph.Plot(series, asciigraph.Height(height), asciigraph.LowerBound(0),
		asciigraph.UpperBound(float64(height)), asciigraph.Offset(2), asciigraph.Precision(0))
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		if at := strings.IndexAny(line, "┤┼"); at >= 0 {
			lines[i] = line[at+len("┤"):]
		}
	}
	lines = lines[:min(len(lines), height+1)]
	if last != nil {
		*last = line{series, height, lines}
	}
	return lines
}

// bounded scales values from 0..from to the rows 0..to, cuts what lies outside, and puts a value
// in front, because n values make n-1 columns.
func bounded(values []float64, from, to float64) []float64 {
	out := make([]float64, 1, len(values)+1)
	for _, x := range values {
		out = append(out, math.Round(within(x, from, to))) // as asciigraph would; NaN stays NaN
	}
	out[0] = out[1]
	return out
}

// within scales a value from 0..from to 0..to, and cuts what lies outside.
func within(x, from, to float64) float64 { return max(0, min(x/from*to, to)) }

// levelIn is a level of so much above the middle of its row, in rows: of the lower part, the middle or the upper part.
func levelIn(above float64, levels []rune) rune {
	n := len(levels)
	return levels[max(0, min(int((above+0.5)*float64(n)), n-1))]
}

// PlotText plots values of 0..top, one per column, as height lines of plain text without
// an axis. NaN leaves a gap. A size or top that is too small gives nil.
func PlotText(values []float64, top float64, height int) []string {
	if len(values) < 2 || height < 2 || !(top > 0) {
		return nil
	}
	lines := lineOf(values, top, height-1, nil)
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
