package plain

import (
	"fmt"
	"io"
	"strings"

	"nvpeak/advice/report"
)

// ReportText writes a report for people: what happened, a plot and the figures of each
// GPU, who held what, alerts, events, advice. Everything foreign is cleaned.
func ReportText(w io.Writer, r report.Report, o ReportOptions) error {
	p := newReportPage(r, o)
	p.head()
	p.conclusion()
	for i := range r.GPUs {
		p.gpu(&r.GPUs[i])
	}
	p.processes()
	p.alerts()
	p.phases()
	p.events()
	p.evidenceAndAdvice()
	p.remarks()
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *reportPage) head() {
	parts := []string{p.r.Source}
	if p.r.Host != "" && p.r.Host != p.r.Source {
		parts = append(parts, p.r.Host)
	}
	if p.r.Driver != "" {
		parts = append(parts, "driver "+p.r.Driver)
	}
	p.text("", strings.Join(parts, "  "), p.paint.bold)
	line := fmt.Sprintf("%s, %s, %d snapshot(s)", p.r.Start.In(p.o.Zone).Format("2006-01-02 15:04:05"), lasted(p.r.Duration), p.r.Snapshots)
	if p.r.Interval > 0 {
		line += fmt.Sprintf(", one every %s", lasted(p.r.Interval))
	}
	p.text("", line, p.paint.dim)
}

// conclusion is what to know first.
func (p *reportPage) conclusion() {
	p.line("")
	if p.r.Headline == "" && len(p.r.Causes) == 0 {
		p.text("", quietText(p.r), plainly)
		return
	}
	p.text("", p.r.Headline, p.paint.bad)
	if p.r.Detail != "" {
		p.text("", p.r.Detail, plainly)
	}
	if len(p.r.Causes) > 0 {
		p.causes(p.r.Causes)
	}
	p.steps(p.r.Advice)
}

// quietText is the conclusion of a recording without failures and warnings: what there is
// left, and where.
func quietText(r *report.Report) string {
	text := "No problems found"
	if n := len(r.Alerts); n > 0 {
		text += fmt.Sprintf(", %d notice(s), see below", n)
	}
	var tightest *report.GPU
	for i := range r.GPUs {
		g := &r.GPUs[i]
		if free, known := g.WorstFree.Value(); known && (tightest == nil || free < tightest.WorstFree.Or(0)) {
			tightest = g
		}
	}
	if tightest != nil {
		text += fmt.Sprintf("; at least %s stayed free (GPU %s)", tightest.WorstFree.Or(0), tightest.Label)
	}
	return text + "."
}
