package plain

import (
	"math"
	"strconv"
	"strings"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// plotHeight is in lines; axisColumns stand left of a plot.
const (
	plotHeight  = 9
	axisColumns = 6
)

// plot draws the used memory, with its peak marked above and what happened below.
func (p *reportPage) plot(g *report.GPU) {
	if p.o.Plot == nil || len(g.Plot) < 2 || p.r.Duration <= 0 || g.Peak != nil && g.Peak.Bytes == 0 {
		return
	}
	n := p.width - axisColumns - 1
	total := float64(g.Total.Or(0))
	if g.Peak != nil {
		total = max(total, float64(g.Peak.Bytes))
	}
	if total <= 0 {
		return
	}
	values := reduce(g.Plot, p.r.Duration, n)
	lines := p.o.Plot(values, total/float64(sampler.GiB), plotHeight)
	if lines == nil {
		return
	}
	p.peakLine(g, n)
	for i, line := range lines {
		axis := ""
		if i == 0 || i == len(lines)-1 || i == (len(lines)-1)/2 {
			axis = axisFigure(total * float64(len(lines)-1-i) / float64(len(lines)-1) / float64(sampler.GiB))
		}
		p.line(strings.Repeat(" ", axisColumns-1-len(axis)) + axis + p.drawn("┤") + p.drawn(line))
	}
	p.markLine(g, n)
	end := clock(p.r.Duration)
	p.line(strings.Repeat(" ", axisColumns) + p.paint.dim(clock(0)+strings.Repeat(" ", max(1, n-len(clock(0))-len(end)))+end))
}

// axisFigure is an amount of GiB in at most five characters.
func axisFigure(v float64) string {
	if v >= 99999.5 {
		return sampler.Bytes(min(v*float64(sampler.GiB), float64(sampler.MaxPlausible))).Short()
	}
	if v >= 10 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

var asciiPlot = strings.NewReplacer("─", "-", "│", "|", "╭", ".", "╮", ".", "╰", "'", "╯", "'", "┤", "|", "┼", "+", "╴", "-", "╶", "-")

func (p *reportPage) drawn(s string) string {
	if p.o.ASCII {
		return asciiPlot.Replace(s)
	}
	return s
}

// reduce turns points into one value per column, in GiB: the maximum of its time. A column
// without a point continues the one before, unless there is a gap.
func reduce(points []report.Point, duration float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.NaN()
	}
	at := func(t float64) int { return max(0, min(n-1, int(t/duration*float64(n)))) }
	for i, q := range points {
		from := at(q.T)
		to := n - 1
		if i+1 < len(points) {
			to = max(from, at(points[i+1].T)-1)
		}
		for c := from; c <= to; c++ {
			if v := q.High / float64(sampler.GiB); math.IsNaN(values[c]) || v > values[c] {
				values[c] = v
			}
		}
	}
	return values
}

func (p *reportPage) column(t float64, n int) int {
	return max(0, min(n-1, int(t/p.r.Duration*float64(n))))
}

// peakLine stands above the plot: the peak at its place, with its size at the side that has room.
func (p *reportPage) peakLine(g *report.GPU, n int) {
	if g.Peak == nil {
		return
	}
	at := p.column(g.Peak.T, n)
	label := p.words.Say("report.size_at", "size", g.Peak.Bytes, "time", clock(g.Peak.T))
	if at+2+columns(label) <= n {
		p.line(strings.Repeat(" ", axisColumns+at) + p.paint.accent(p.peakMark()+" "+label))
		return
	}
	p.line(strings.Repeat(" ", axisColumns+max(0, at-columns(label)-1)) + p.paint.accent(label+" "+p.peakMark()))
}

// markLine stands below the plot: alerts, failures, process ends at their places.
func (p *reportPage) markLine(g *report.GPU, n int) {
	row := []rune(strings.Repeat(" ", n))
	used := map[rune]bool{}
	put := func(t float64, r rune) { row[p.column(t, n)], used[r] = r, true }
	for _, e := range p.r.Events {
		switch {
		case e.GPU.Or(g.Index) != g.Index:
		case e.Kind == "process_end":
			put(e.T, 'e')
		case e.Kind == "process_start":
			put(e.T, 's')
		}
	}
	for _, s := range g.Spikes {
		if len(g.Spikes) <= n/4 {
			put(s.T, '\'')
		}
	}
	for _, a := range p.r.Alerts {
		if (!a.GPU.Known() || a.Label() == g.Label) && a.Kind != sampler.AlertOOM {
			put(a.T, '!')
		}
	}
	for _, e := range p.r.Events {
		if e.Kind == "oom" && e.GPU.Or(g.Index) == g.Index {
			put(e.T, 'X')
		}
	}
	if len(used) == 0 {
		return
	}
	var legend []string
	for _, m := range []struct {
		mark rune
		id   string
	}{{'!', "alert"}, {'X', "oom"}, {'s', "process_start"}, {'e', "process_end"}, {'\'', "spike"}} {
		if used[m.mark] {
			legend = append(legend, string(m.mark)+" "+p.words.Say("event."+m.id))
		}
	}
	p.line(strings.Repeat(" ", axisColumns) + p.paint.warn(strings.TrimRight(string(row), " ")))
	p.flow(axisColumns, legend)
}
