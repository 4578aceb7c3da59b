package ui

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// plot is what the plots show.
type plot struct {
	span   time.Duration
	metric plotMetric
	lines  bool // by asciigraph instead of filled
	chosen bool // the span was; until then it grows with the history
}

// plotMetric is one thing that key m can plot.
type plotMetric struct {
	name  string // sampler.Metric name
	title string
	unit  float64 // of the axis, in that of the metric
	sign  string  // after the top of the axis
	top   func(*sampler.GPU) float64
}

const mibPerGiB = float64(sampler.GiB / sampler.MiB)

// plotMetrics in the order in which key m goes through them. The first also shows
// utilization and the watermark.
var plotMetrics = []plotMetric{
	{"memory.used", "memory", mibPerGiB, "", func(g *sampler.GPU) float64 { return plotTop(&g.Memory).MiB() }},
	{"utilization.gpu", "utilization", 1, "%", func(*sampler.GPU) float64 { return 100 }},
	{"power.draw", "power", 1, "W", func(g *sampler.GPU) float64 { return g.PowerLimit.Or(1000) }},
	{"temperature.gpu", "temperature", 1, "°C", func(*sampler.GPU) float64 { return 110 }},
}

// plotTop is what a plot of memory reaches: the total. Where a log tells none, so much above the peak that no part of
// the plot has the color of a level.
func plotTop(m *sampler.Memory) sampler.Bytes {
	if total, ok := m.Total.Value(); ok {
		return total
	}
	most := m.Used.Or(0)
	if m.Peak != nil {
		most = max(most, m.Peak.Bytes)
	}
	return most + most/2
}

// isMemory says whether the watermark and the utilization belong in the plot.
func (m plotMetric) isMemory() bool { return m.name == plotMetrics[0].name }

// next is the metric after this one.
func (m plotMetric) next() plotMetric {
	for i := range plotMetrics {
		if plotMetrics[i].name == m.name {
			return plotMetrics[(i+1)%len(plotMetrics)]
		}
	}
	return plotMetrics[0]
}

// usualSpan is what plots show unless the viewer chooses another; a monitor that began less long ago
// shows the minutes that it has.
const usualSpan = 5 * time.Minute

// youngSpans are those that it grows through, so that less than half of a plot is empty; each step draws all of
// them anew.
var youngSpans = []time.Duration{30 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, usualSpan}

// grow lets the span grow with what there is to show, until the viewer chooses one.
func (p *plot) grow(age time.Duration) {
	if p.chosen {
		return
	}
	p.span = usualSpan
	for _, s := range slices.Backward(youngSpans) {
		if s >= age {
			p.span = s
		}
	}
}

// choose takes the next span, or the one before: from that of a young plot, which is none to choose, its neighbors.
func (p *plot) choose(by int) {
	from := p.span
	if !p.chosen && from < usualSpan {
		from = pick(by > 0, spans[0], usualSpan)
	}
	p.span, p.chosen = step(spans, from, by), true
}

// spans that [ and ] go through.
var spans = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// SpanNames are the times that plots show, as --span takes them.
func SpanNames() (names []string) {
	for _, s := range spans {
		names = append(names, span(s))
	}
	return names
}

// SpanNamed is the time of a name; 0: it is none of SpanNames.
func SpanNamed(name string) time.Duration {
	if i := slices.Index(SpanNames(), name); i >= 0 {
		return spans[i]
	}
	return 0
}

// intervals that + and - go through.
var intervals = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// step is the item after (or before) x in list, without wrapping.
func step(list []time.Duration, x time.Duration, by int) time.Duration {
	for i, d := range list {
		if d >= x || i == len(list)-1 {
			return list[max(0, min(i+by, len(list)-1))]
		}
	}
	return x
}
