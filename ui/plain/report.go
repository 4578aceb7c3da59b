package plain

import (
	"io"
	"strings"
	"time"

	"nvpeak/advice/report"
)

// ReportText writes a report for people: what happened, a plot and the figures of each
// GPU, who held what, alerts, events, advice. Everything foreign is cleaned.
func ReportText(w io.Writer, r report.Report, o ReportOptions) error {
	p := newReportPage(r, o)
	p.title()
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
	return p.write(w, p.out.String())
}

func (p *reportPage) title() {
	parts := []string{p.r.Source}
	if p.r.Host != "" && p.r.Host != p.r.Source {
		parts = append(parts, p.r.Host)
	}
	if p.r.Driver != "" {
		parts = append(parts, p.words.Say("report.driver", "version", p.r.Driver))
	}
	p.text("", strings.Join(parts, "  "), p.paint.bold)
	p.text("", p.taken(p.began(p.r.Start, p.o.Zone, ""), p.r), p.paint.dim)
}

// began is when a recording was made, if it tells.
func (p *page) began(start report.Moment, zone *time.Location, mark string) string {
	if !start.Known() {
		return p.words.Say("report.undated")
	}
	return start.In(zone).Format("2006-01-02 15:04:05") + mark
}

// taken is when and how a recording was made.
func (p *page) taken(start string, r *report.Report) string {
	if r.Duration <= 0 { // a single snapshot
		return p.words.Say("report.taken_once", "start", start, "snapshots", p.words.Count("count.snapshot", r.Snapshots))
	}
	line := p.words.Say("report.taken", "start", start, "span", p.words.Lasted(r.Duration), "snapshots", p.words.Count("count.snapshot", r.Snapshots))
	if r.Interval > 0 {
		line += p.words.Say("report.every", "span", p.words.Lasted(r.Interval))
	}
	if r.Unseen > 0 {
		line += p.words.Say("report.unseen", "span", p.words.Lasted(r.Unseen))
	}
	return line
}

// conclusion is what to know first.
func (p *reportPage) conclusion() {
	p.line("")
	if p.r.Headline == "" && len(p.r.Causes) == 0 {
		text, mood := p.quiet(p.r)
		paint := plainly
		if mood == "warn" {
			paint = p.paint.warn
		}
		p.text("", text, paint)
		return
	}
	p.text("", p.headline(p.r), p.paint.bad)
	if p.r.Detail != "" {
		p.text("", p.r.Detail, plainly)
	}
	if len(p.r.Causes) > 0 {
		p.causes(p.r.Causes)
	}
	p.steps(p.r.Advice)
}
