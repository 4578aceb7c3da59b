package plain

import (
	"embed"
	"io"
	"strings"
	"time"

	dom "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// Style and script of the page and the chart library in it: uPlot 1.6.32, MIT, https://github.com/leeoniya/uPlot
//
//go:embed assets
var assets embed.FS

const chartLicense = "1.6.32, © 2022 Leon Sorokin, MIT license"

// asset is a file of the page, as it is; they are part of the binary.
func asset(name string) dom.Node {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return dom.Raw(string(b))
}

// htmlPage makes pieces of the page. Texts and attributes are escaped by dom, whatever they hold;
// package html/template would keep every method of every type in the binary.
type htmlPage struct{ page }

// ReportHTML writes one page with everything in it, charts included: it loads nothing, works
// offline, and follows the light or dark of the browser. Everything foreign is escaped.
func ReportHTML(w io.Writer, reports []report.Report) error {
	p, title := &htmlPage{newPage(Options{}, lang.English())}, ""
	if len(reports) > 0 {
		p.words, title = lang.For(reports[0].Lang), sampler.Clean(reports[0].Source)
	}
	var sections dom.Group
	charts := []chartReport{}
	for i, r := range reports {
		r.Source, r.Host, r.Driver = sampler.Clean(r.Source), sampler.Clean(r.Host), sampler.Clean(r.Driver)
		sections = append(sections, p.report(i, &r))
		charts = append(charts, chartsOf(r))
	}
	return p.whole(w, title, charts, sections)
}

func (p *htmlPage) say(id string, pairs ...any) dom.Node { return dom.Text(p.words.Say(id, pairs...)) }

// report is everything about one recording; n is its place in the data of the charts.
func (p *htmlPage) report(n int, r *report.Report) dom.Node {
	name, taken := r.Source, p.taken(p.began(r.Start, time.UTC, " UTC"), r)
	if r.Host != "" {
		name += " · " + r.Host
	}
	if r.Driver != "" {
		taken += "; " + p.words.Say("report.driver", "version", r.Driver)
	}
	list := dom.Group{html.Header(html.H1(dom.Text(name)), html.P(dom.Text(taken))), p.verdict(r), p.overview(n, r)}
	for i := range r.GPUs {
		list = append(list, p.gpu(n, i, r))
	}
	return append(list, p.processes(r), p.alerts(r), p.phases(r.Phases), p.events(r.Events), p.why(r), p.notes(r.Notes))
}

// verdict is what happened and what to do first.
func (p *htmlPage) verdict(r *report.Report) dom.Node {
	if r.Headline == "" && len(r.Causes) == 0 {
		text, mood := p.quiet(r)
		return html.Section(classOf(mood), html.P(html.Class("headline"), dom.Text(text)))
	}
	list := dom.Group{html.P(html.Class("headline"), dom.Text(p.headline(r)))}
	if r.Detail != "" {
		list = append(list, html.P(dom.Text(r.Detail)))
	}
	for n, c := range r.Causes[:min(len(r.Causes), 2)] {
		label := p.words.Say([]string{"label.cause", "html.or"}[n]) + p.words.Say("list.colon")
		list = append(list, html.P(html.B(dom.Text(label)), dom.Text(explain.Title(p.words, c)), dim(p.sure(c))))
	}
	if len(r.Advice) > 0 {
		list = append(list, html.H3(p.say("label.do")), html.Ol(each(r.Advice[:min(len(r.Advice), 3)], func(n int, a sampler.Advice) dom.Node {
			return html.Li(html.B(dom.Text(a.Title)), dimmed(" ", p.saves(a)), dom.If(n == 0, html.Pre(dom.Text(cleanLines(a.Do)))))
		})))
	}
	return html.Section(html.Class(moodOf(r)), list)
}

func (p *htmlPage) sure(c sampler.Cause) string {
	return p.words.Say("head.when", "when", p.words.Confidence(c.Confidence))
}

// why is all causes and all advice.
func (p *htmlPage) why(r *report.Report) dom.Node {
	if len(r.Causes)+len(r.Advice) == 0 {
		return nil
	}
	list := dom.Group{html.H2(p.say("html.why"))}
	for _, c := range r.Causes {
		list = append(list, html.H3(dom.Text(explain.Title(p.words, c)+" "+p.sure(c))), html.Ul(each(c.Evidence, item)))
	}
	if len(r.Advice) > 0 {
		list = append(list, html.H3(p.say("label.do")), html.Ol(each(r.Advice, p.advice)))
	}
	return html.Section(list)
}

func (p *htmlPage) advice(_ int, a sampler.Advice) dom.Node {
	list := dom.Group{html.B(dom.Text(a.Title)), dimmed(" ", p.saves(a)), html.Br(), dom.Text(a.Why)}
	if a.Cost != "" {
		list = append(list, html.Br(), dim(p.words.Say("label.cost")+p.words.Say("list.colon")+a.Cost))
	}
	if len(a.Do) > 0 {
		list = append(list, html.Pre(dom.Text(cleanLines(a.Do))))
	}
	return html.Li(list, dimmed("", a.Source))
}

func (p *htmlPage) notes(list []string) dom.Node {
	if len(list) == 0 {
		return nil
	}
	return html.Section(html.H2(p.say("report.notes")), html.Ul(each(list, item)))
}

// each makes a node of each item.
func each[T any](list []T, of func(int, T) dom.Node) dom.Group {
	nodes := make(dom.Group, len(list))
	for i, x := range list {
		nodes[i] = of(i, x)
	}
	return nodes
}

func item(_ int, text string) dom.Node { return html.Li(dom.Text(text)) }

func dim(text string) dom.Node { return html.Span(html.Class("dim"), dom.Text(text)) }

// dimmed is a text behind something, or nothing.
func dimmed(gap, text string) dom.Node {
	if text == "" {
		return nil
	}
	return dom.Group{dom.Text(gap), dim(text)}
}

func cleanLines(list []string) string {
	lines := strings.Split(strings.Join(list, "\n"), "\n")
	for i := range lines {
		lines[i] = sampler.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
