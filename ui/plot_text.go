package ui

import (
	"regexp"
	"strings"
)

var colourOfPlot = regexp.MustCompile("\x1b\\[[0-9;]*m")

// PlotText plots values of 0..top, one per column, as height lines of plain text without
// an axis. NaN leaves a gap. A size or top that is too small gives nil.
func PlotText(values []float64, top float64, height int) []string {
	if len(values) < 2 || height < 2 || !(top > 0) {
		return nil
	}
	g := graph{main: values, top: top}
	lines := g.plot(len(values), height-1)
	for i, line := range lines {
		lines[i] = strings.TrimRight(colourOfPlot.ReplaceAllString(line, ""), " ")
	}
	return lines
}
