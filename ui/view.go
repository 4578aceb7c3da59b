package ui

import (
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// view is what every pane draws from: data and settings, no state of its own. Panes are
// plain functions of it and a canvas; time is the snapshot's time.
type view struct {
	snap    *sampler.Snapshot
	history *history.History
	alerts  []sampler.Alert
	past    []sampler.Alert
	fits    []watch.Fit // per GPU of the snapshot; empty without a need
	need    sampler.Opt[sampler.Bytes]

	glyphs *theme.Glyphs
	ascii  bool

	span   time.Duration
	metric string // what is plotted

	order  []int // GPUs of the snapshot in the order of the screen
	focus  int   // number in snap.GPUs of the focused GPU, -1: all
	scroll int   // first GPU line shown

	procs    []procRow
	cursor   int // row of procs, -1: none
	sort     int // column
	reverse  bool
	paused   bool
	label    string // "DEMO training", "REPLAY"
	interval time.Duration
	timeline *timeline // of a replay; nil: it is live
	notice   string    // a short message in the footer
	prompt   string    // what is typed for the need; with a leading "need: "
}

func (v *view) needBytes() sampler.Bytes { return v.need.Or(0) }

// now is the time of the picture.
func (v *view) now() time.Time { return v.snap.Time }

// plotMetric is one thing that key m can plot.
type plotMetric struct {
	name  string // sampler.Metric name
	title string
	unit  string
	top   func(*sampler.GPU) float64 // upper end of the y axis
	scale float64                    // from the metric's unit to the plot's
}

// plotMetrics in the order in which key m goes through them. The first also shows
// utilisation and the watermark.
var plotMetrics = []plotMetric{
	{"memory.used", "memory", "GiB", func(g *sampler.GPU) float64 { return g.Memory.Total.Or(0).GiB() }, 1.0 / 1024},
	{"utilization.gpu", "utilization", "%", func(*sampler.GPU) float64 { return 100 }, 1},
	{"power.draw", "power", "W", func(g *sampler.GPU) float64 { return g.PowerLimit.Or(1000) }, 1},
	{"temperature.gpu", "temperature", "°C", func(*sampler.GPU) float64 { return 110 }, 1},
}

func metricNamed(name string) plotMetric {
	for _, m := range plotMetrics {
		if m.name == name {
			return m
		}
	}
	return plotMetrics[0]
}
