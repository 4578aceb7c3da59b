package ui

import "slices"

// plotted is what asciigraph has made of a series. A column lasts seconds and a pixel is a GiB, so that most
// plots are those of the frame before, and asciigraph takes half of the memory that a frame needs.
type plotted struct {
	series []float64
	height int
	lines  []string
}

func (p *plotted) same(series []float64, height int) bool {
	return p != nil && p.height == height && slices.EqualFunc(p.series, series, func(a, b float64) bool {
		return a == b || a != a && b != b // NaN is a gap
	})
}
