package plain

import (
	"cmp"
	"strconv"
	"strings"

	dom "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"nvpeak/advice/report"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Bounds of the tables: more is not read any more. openRows is how many stand open.
const (
	htmlSpikes    = 50
	htmlProcesses = 200
	openRows      = 30
)

// gpu is figures and chart of one GPU; report and n are its place in the data of the charts.
func (p *htmlPage) gpu(report, n int, r *report.Report) dom.Node {
	g := &r.GPUs[n]
	low := func(free sampler.Opt[sampler.Bytes]) string {
		if scarce(free, g.Total) {
			return "low"
		}
		return ""
	}
	list := dom.Group{html.H2(dom.Text("GPU "+g.Label), dimmed(" ", g.Name)),
		html.Div(html.Class("tiles"), p.tile("", "", "report.total", size(g.Total)), p.tile("", "", "report.typical", size(g.Typical)),
			p.tile("peak", "▲ ", "report.peak", p.peakAt(g.Peak)), p.tile(low(g.WorstFree), "", "report.min_free", free(g.WorstFree)),
			p.tile("", "", "report.growth", p.growth(g))),
		html.Div(html.Class("chart"), html.Data("report", strconv.Itoa(report)), html.Data("gpu", strconv.Itoa(n)), html.Role("img"),
			html.Aria("label", p.words.Say("html.chart", "gpu", g.Label))),
		html.NoScript(p.say("html.noscript")), p.legend(),
		html.H3(p.say("html.free")),
		html.Div(html.Class("tiles"), p.tile("", "", "report.while_running", free(g.FreeTypical)),
			p.tile(low(g.FreeAtPeak), "", "report.at_the_peak", free(g.FreeAtPeak)),
			dom.If(g.FreeAfterExit.Known(), p.tile("", "", "report.after_exit", free(g.FreeAfterExit))))}
	if len(g.Holders) > 0 {
		list = append(list, html.H3(p.say("html.holders")), html.P(dom.Text(sampler.Clean(p.holders(g)))))
	}
	if g.SpikeCount > 0 {
		list = append(list, html.Details(html.Summary(dom.Text(p.words.Count("count.spike", g.SpikeCount))), p.spikes(r, g)))
	}
	return html.Section(html.ID(gpuID(report, n)), list)
}

func (p *htmlPage) tile(class, mark, name, value string) dom.Node {
	if class != "" {
		class = " " + class
	}
	return html.Div(html.Class("tile"+class), html.Span(dom.Text(mark), p.say(name)), html.B(dom.Text(value)))
}

// legend is what the marks of a chart mean.
func (p *htmlPage) legend() dom.Node {
	mark := func(color, sign, id string) dom.Node {
		return html.Span(html.I(dom.If(color != "", html.Style("color:var(--"+color+")")), dom.Text(sign)), dom.Text(" "), p.say(id))
	}
	return html.P(html.Class("marks"), mark("peak", "▲", "report.peak"), mark("warn", "!", "event.alert"), mark("bad", "✖", "event.oom"),
		mark("", "▸", "event.process_start"), mark("", "▪", "event.process_end"), html.Span(p.say("html.zoom")))
}

func (p *htmlPage) spikes(r *report.Report, g *report.GPU) dom.Node {
	return p.table(p.heads("col.time", "r col.size", "r col.peak", "r col.lasted"), each(largestSpikes(g.Spikes, htmlSpikes), func(_ int, s report.Spike) dom.Node {
		return html.Tr(tableCell("t", clock(s.T)), tableCell("r", "+"+s.Bytes.String()), tableCell("r", s.Peak.String()), tableCell("r", p.spikeLasted(r, s)))
	}))
}

func (p *htmlPage) processes(r *report.Report) dom.Node {
	list := r.Processes
	if len(list) == 0 {
		return nil
	}
	heads, asked := []string{"GPU", "r PID", "col.user", "r col.peak", "r col.at", "r col.mean"}, seesRequests(list)
	for _, id := range requestColumns {
		if asked {
			heads = append(heads, "r col."+id)
		}
	}
	rows := each(list[:min(len(list), htmlProcesses)], func(_ int, q report.Process) dom.Node {
		peak, at := p.processPeak(&q, r.Start.Time)
		var requests dom.Group
		if asked {
			requests = each(requestCells(q.Requests), func(_ int, text string) dom.Node { return tableCell("r", text) })
		}
		return html.Tr(tableCell("", q.Label), tableCell("r", strconv.Itoa(q.PID)), tableCell("", q.User), tableCell("r", peak), tableCell("r", at),
			tableCell("r", size(q.Mean)), requests, tableCell("t", p.seen(q)), tableCell("c", cmp.Or(q.Command, q.Name)))
	})
	return html.Section(html.H2(p.say("report.processes")), p.table(p.heads(append(heads, "col.seen", "col.command")...), rows))
}

func (p *htmlPage) alerts(r *report.Report) dom.Node {
	if len(r.Alerts) == 0 {
		return nil
	}
	rows := each(watch.PastGroups(r.Alerts, p.words), func(_ int, a watch.Group) dom.Node {
		until := p.words.Say("html.end")
		if end, ok := a.End.Value(); ok {
			until = clock(end)
		}
		return html.Tr(tableCell("t", clock(a.T)), tableCell("t", until), tableCell("", a.GPUs), tableCell(a.Level, p.words.Say("level."+a.Level)), html.Td(dom.Text(a.Text), dimmed("; ", p.outcome(r, a.Alert))))
	})
	return html.Section(html.H2(p.say("compare.alerts")), html.P(html.Class("dim"), p.say("html.alerts")),
		p.table(p.heads("col.from", "col.to", "GPU", "col.level", "col.what"), rows))
}

func (p *htmlPage) phases(list []report.Phase) dom.Node {
	return p.folded("report.phases", "count.phase", p.heads("col.from", "col.to", "col.phase", "r col.peak"), each(list, func(_ int, f report.Phase) dom.Node {
		return html.Tr(tableCell("t", clock(f.T)), tableCell("t", clock(f.End)), tableCell("", p.phase(f)), tableCell("r", size(f.Peak)))
	}))
}

func (p *htmlPage) events(list []report.Event) dom.Node {
	return p.folded("report.events", "count.event", p.heads("col.time", "col.what"), each(list, func(_ int, e report.Event) dom.Node {
		class := ""
		if e.Kind == "oom" {
			class = "critical"
		}
		return html.Tr(tableCell("t", clock(e.T)), tableCell(class, p.event(e)))
	}))
}

// folded is a section whose table is closed when it is long.
func (p *htmlPage) folded(title, count string, heads dom.Node, rows dom.Group) dom.Node {
	if len(rows) == 0 {
		return nil
	}
	return html.Section(html.H2(p.say(title)), html.Details(dom.If(len(rows) < openRows, dom.Attr("open")),
		html.Summary(dom.Text(p.words.Count(count, len(rows)))), p.table(heads, rows)))
}

func (p *htmlPage) table(heads dom.Node, rows dom.Group) dom.Node {
	return html.Div(html.Class("scroll"), html.Table(heads, rows))
}

// heads is the first row. A name may follow the class of its column; what is no id is the title itself.
func (p *htmlPage) heads(names ...string) dom.Node {
	return html.Tr(each(names, func(_ int, name string) dom.Node {
		class, id, classed := strings.Cut(name, " ")
		if !classed {
			class, id = "", name
		}
		if p.words.Has(id) {
			id = p.words.Say(id)
		}
		return html.Th(classOf(class), dom.Text(id))
	}))
}

func tableCell(class, text string) dom.Node { return html.Td(classOf(class), dom.Text(text)) }

func classOf(name string) dom.Node { return dom.If(name != "", html.Class(name)) }
