package plain

import (
	"encoding/json"
	"io"
	"strconv"

	dom "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// ExplainHTML writes an explanation as one page, with what was allocated over the history of each memory snapshot,
// in the look of a report. It loads nothing; everything foreign is escaped.
func ExplainHTML(w io.Writer, e explain.Explanation) error {
	p, title := &htmlPage{newPage(Options{}, lang.For(e.Lang))}, ""
	r := &report.Report{Headline: e.Verdict.Headline, Detail: e.Verdict.Detail, Causes: e.Causes, Advice: e.Advice}
	if len(e.Snapshots) > 0 {
		title = p.words.Say("torch.page", "file", sampler.Clean(e.Snapshots[0].File))
	}
	list := dom.Group{html.Header(html.H1(dom.Text(title))), p.verdict(r)}
	charts := []chartReport{}
	for _, s := range e.Snapshots {
		for i := range s.Devices {
			if d := &s.Devices[i]; d.Reserved > 0 || d.Trace != nil {
				list = append(list, p.torchDevice(len(charts), d))
				charts = append(charts, torchChart(d))
			}
		}
	}
	if i := e.Verdict.Event; i >= 0 {
		list = append(list, p.why(r), p.notes(e.Events[i].Notes))
	}
	return p.whole(w, title, charts, list)
}

// whole is a page with what its charts need.
func (p *htmlPage) whole(w io.Writer, title string, charts []chartReport, sections dom.Group) error {
	data, err := json.Marshal(charts) // with < and > as \u003c and \u003e
	if err != nil {
		return err
	}
	const safe = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
	return html.Doctype(html.HTML(html.Lang(p.words.Lang),
		html.Head(html.Meta(html.Charset("utf-8")), html.Meta(dom.Attr("http-equiv", "Content-Security-Policy"), html.Content(safe)),
			html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.Meta(html.Name("color-scheme"), html.Content("light dark")),
			html.TitleEl(p.say("html.title", "source", title)),
			html.StyleEl(asset("uPlot.min.css")), html.StyleEl(asset("report.css"))),
		html.Body(html.Main(html.Data("words", chartWords(p.words)), sections, html.Footer(p.say("html.made", "license", chartLicense))),
			html.Script(html.Type("application/json"), html.ID("data"), dom.Raw(string(data))),
			html.Script(asset("uPlot.iife.min.js")), html.Script(asset("report.js"))),
	)).Render(w)
}

// torchDevice is the allocator of one GPU; n is its place in the data of the charts.
func (p *htmlPage) torchDevice(n int, d *sampler.TorchDevice) dom.Node {
	list := dom.Group{html.H2(p.say("torch.title", "gpu", d.Device)), html.P(dom.Text(p.layersText(d)))}
	if t := d.Trace; t != nil {
		list = append(list, html.Div(html.Class("chart"), html.Data("report", strconv.Itoa(n)), html.Data("gpu", "0"), html.Role("img"),
			html.Aria("label", p.words.Say("html.chart", "gpu", d.Device))), html.NoScript(p.say("html.noscript")),
			html.P(dom.Text(p.historyText(t))))
	}
	if held := explain.Holders(d); len(held) > 0 {
		list = append(list, html.H3(p.say("torch.holders")), p.torchTable(held))
	}
	if len(d.Pins) > 0 && d.Split > 0 {
		list = append(list, html.H3(p.say("torch.keeps")), p.torchTable(d.Pins))
	}
	if d.Trace != nil && len(d.Trace.Last) > 0 {
		id := "torch.events_end"
		if d.Trace.OOM != nil {
			id = "torch.events"
		}
		list = append(list, html.H3(p.say(id)), htmlRows(p.eventRows(d.Trace)))
	}
	return html.Section(list)
}

func (p *htmlPage) torchTable(list []sampler.TorchHolder) dom.Node {
	var rows [][]string
	for _, h := range list {
		rows = append(rows, []string{h.Bytes.String(), "× " + strconv.Itoa(h.Blocks), "<" + p.siteText(h.TorchSite)})
	}
	return htmlRows(rows)
}

// htmlRows is a table; "<" stands before the cells of the left.
func htmlRows(rows [][]string) dom.Node {
	return html.Div(html.Class("scroll"), html.Table(html.TBody(each(rows, func(_ int, row []string) dom.Node {
		return html.Tr(each(row, func(_ int, text string) dom.Node {
			if len(text) > 0 && text[0] == '<' {
				return html.Td(dom.Text(text[1:]))
			}
			return html.Td(html.Class("r"), dom.Text(text))
		}))
	}))))
}

// torchChart is the history of one GPU as a chart, with its refusal.
func torchChart(d *sampler.TorchDevice) chartReport {
	g := chartGPU{Index: d.Device, T: []float64{}, High: []*float64{}, Low: []*float64{}, Processes: []chartProcess{}, Allocated: []*float64{}, Reserved: []*float64{}}
	c := chartReport{Marks: []chartMark{}, Phases: []report.Phase{}}
	top := d.Reserved
	if t := d.Trace; t != nil {
		for _, point := range t.Curve {
			at := round3(point.T)
			if point.High > sampler.Bytes(0) && point.High == t.Peak && g.Peak == nil {
				g.Peak = &chartPeak{at, round3(point.High.GiB())}
			}
			g.T = append(g.T, at)
			g.High, g.Low = append(g.High, inGiB(float64(point.High))), append(g.Low, inGiB(float64(point.Low)))
		}
		if n := len(g.T); n > 0 && t.Seconds > g.T[n-1] { // the last stretch lasts to the end
			g.T, g.High, g.Low = append(g.T, round3(t.Seconds)), append(g.High, g.High[n-1]), append(g.Low, g.Low[n-1])
		}
		top = max(top, t.Peak)
		if t.OOM != nil {
			c.Marks = append(c.Marks, chartMark{round3(t.OOM.T), "oom", sampler.Some(d.Device), ""})
			top = max(top, t.OOM.Reserved)
		}
	}
	g.Top = round3(max(top.GiB()*1.02, 0.1))
	c.GPUs = []chartGPU{g}
	return c
}
