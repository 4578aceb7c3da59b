package plain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	dom "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// gpuID is where the section of a GPU begins; n is the place of the report on the page.
func gpuID(n, gpu int) string { return fmt.Sprintf("gpu-%d-%d", n, gpu) }

// overview is a row for each GPU, before each has a section of its own: which one was full, and when.
func (p *htmlPage) overview(n int, r *report.Report) dom.Node {
	if len(r.GPUs) < 2 {
		return nil
	}
	marks := marksOf(*r)
	rows := make(dom.Group, len(r.GPUs))
	for i := range r.GPUs {
		g := &r.GPUs[i]
		peak, at, low := "N/A", "", "r"
		if g.Peak != nil {
			peak, at = g.Peak.Bytes.String(), clock(g.Peak.T)
		}
		if scarce(g.WorstFree, g.Total) {
			low = "r critical"
		}
		count, level := alertsOf(r, g)
		rows[i] = html.Tr(html.Td(html.A(html.Href("#"+gpuID(n, i)), dom.Text("GPU "+g.Label)), dimmed(" ", sampler.Clean(g.Name))),
			html.Td(html.Class("spark"), p.spark(r, g, marks)), tableCell("r", peak), tableCell("r", at), tableCell(low, free(g.WorstFree)),
			tableCell("r", size(g.Total)), tableCell(strings.TrimSpace("r "+level), count))
	}
	return html.Section(html.H2(p.say("html.overview")),
		p.table(p.heads("GPU", "html.over_time", "r col.peak", "r col.at", "r report.min_free", "r report.total", "r compare.alerts"), rows))
}

// alertsOf is how many alerts a GPU had, and the worst level of them.
func alertsOf(r *report.Report, g *report.GPU) (count, level string) {
	n, worst := 0, 0
	levels := []string{"", sampler.LevelNotice, sampler.LevelWarning, sampler.LevelCritical}
	for _, a := range r.Alerts {
		if !a.GPU.Known() || a.Label() != g.Label {
			continue
		}
		n++
		for i := worst + 1; i < len(levels); i++ {
			if a.Level == levels[i] {
				worst = i
			}
		}
	}
	if n == 0 {
		return "", ""
	}
	return strconv.Itoa(n), levels[worst]
}

// Size of a small plot, in units of its own: it is as wide as its column.
const (
	sparkColumns = 240
	sparkHeight  = 32
)

// spark is the used memory of a GPU in small, from nothing to all of it, as steps: the most of each
// column. It needs no script.
func (p *htmlPage) spark(r *report.Report, g *report.GPU, marks []chartMark) dom.Node {
	top := g.Total.Or(0).GiB()
	if g.Peak != nil {
		top = max(top, g.Peak.Bytes.GiB())
	}
	if len(g.Plot) < 2 || r.Duration <= 0 || top <= 0 {
		return nil
	}
	path := func(class, d string) dom.Node {
		return dom.El("path", html.Class(class), dom.Attr("d", d), dom.Attr("vector-effect", "non-scaling-stroke"))
	}
	list := dom.Group{path("used", sparkSteps(reduce(g.Plot, r.Duration, sparkColumns), top))}
	for _, m := range marks {
		if m.on(g) && (m.Kind == "alert" || m.Kind == "oom") {
			list = append(list, path(m.Kind, fmt.Sprintf("M%d 0V%d", sparkColumn(m.T, r.Duration), sparkHeight)))
		}
	}
	return dom.El("svg", dom.Attr("viewBox", fmt.Sprintf("0 0 %d %d", sparkColumns, sparkHeight)), dom.Attr("preserveAspectRatio", "none"),
		html.Role("img"), html.Aria("label", p.words.Say("html.chart", "gpu", g.Label)), list)
}

func sparkColumn(t, duration float64) int {
	return max(0, min(sparkColumns-1, int(t/duration*sparkColumns)))
}

// sparkSteps is the outline of the columns: level, then up or down at once. A gap stays empty.
func sparkSteps(values []float64, top float64) string {
	var d strings.Builder
	was := math.NaN()
	for x, v := range append(values, math.NaN()) {
		y := math.Round(10*sparkHeight*(1-v/top)) / 10
		switch {
		case math.IsNaN(v) && !math.IsNaN(was): // the end of a stretch
			fmt.Fprintf(&d, "H%dV%d", x, sparkHeight)
		case math.IsNaN(was) && !math.IsNaN(v):
			fmt.Fprintf(&d, "M%d %dV%v", x, sparkHeight, y)
		case y != was && !math.IsNaN(v):
			fmt.Fprintf(&d, "H%dV%v", x, y)
		}
		was = y
	}
	return d.String()
}
