package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// ReportOptions say how a report is written as text.
type ReportOptions struct {
	ExplainOptions
	// Plot draws values of 0..top, one per column, as height lines; nil: no plots.
	Plot func(values []float64, top float64, height int) []string
	Zone *time.Location // of the times shown; nil: local
}

// ReportText writes a report for people: what happened, a plot and the figures of each
// GPU, who held what, alerts, events, advice. Everything foreign is cleaned.
func ReportText(w io.Writer, r report.Report, o ReportOptions) error {
	p := &reportPage{explainPage: explainPage{width: min(max(o.Width, 40), 120), paint: paintFor(o.ExplainOptions),
		marks: marksFor(o.ExplainOptions), words: lang.English()}, o: o, r: &r}
	if p.o.Zone == nil {
		p.o.Zone = time.Local
	}
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

// ReportJSON writes a report as indented JSON.
func ReportJSON(w io.Writer, r any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// reportPage collects the lines of a report.
type reportPage struct {
	explainPage
	o ReportOptions
	r *report.Report
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
	line := fmt.Sprintf("%s, %s, %d snapshot(s)", p.r.Start.In(p.o.Zone).Format("2006-01-02 15:04:05"), spanText(p.r.Duration), p.r.Snapshots)
	if p.r.Interval > 0 {
		line += fmt.Sprintf(", one every %s", spanText(p.r.Interval))
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

// quietText is the conclusion of a recording without failures and warnings.
func quietText(r *report.Report) string {
	if n := len(r.Alerts); n > 0 {
		return fmt.Sprintf("No out-of-memory failure and no warning as far as this recording shows; %d notice(s), see below.", n)
	}
	return "Nothing went wrong as far as this recording shows: no alert, no out-of-memory failure."
}

func (p *reportPage) gpu(g *report.GPU) {
	p.line("")
	title := "GPU " + g.Label
	if g.Name != "" {
		title += "  " + sampler.Clean(g.Name)
	}
	p.line(p.paint.dim(p.marks.rule(title, p.width)))
	p.plot(g)
	p.facts("total", size(g.Total), "typical", size(g.Typical), "mean", size(g.Mean), p.peakMark()+" peak", peakText(g.Peak), "worst free", size(g.WorstFree))
	p.facts("free", "", "while running", size(g.FreeTypical), "at the peak", size(g.FreeAtPeak), "after the process exit", size(g.FreeAfterExit))
	p.facts("growth", growthText(g))
	if len(g.Holders) > 0 {
		p.text(padTo("at peak", labelWidth), holdersText(g), plainly)
	}
	p.spikes(g)
}

// labelWidth is the column in which figures begin.
const labelWidth = 9

// facts writes "name value" pairs side by side; the first name is the label of the line.
func (p *reportPage) facts(pairs ...string) {
	label := padTo(pairs[0], labelWidth)
	items := []string{}
	if pairs[1] != "" {
		items = append(items, pairs[1])
	}
	for i := 2; i+1 < len(pairs); i += 2 {
		items = append(items, p.paint.dim(pairs[i])+" "+pairs[i+1])
	}
	before := p.out.Len()
	p.flow(labelWidth, items)
	if text := p.out.String()[before:]; len(text) > labelWidth {
		rest := text[labelWidth:]
		whole := p.out.String()[:before]
		p.out.Reset()
		p.out.WriteString(whole + label + rest)
	}
}

func (p *reportPage) peakMark() string {
	if p.o.ASCII {
		return "^"
	}
	return "▲"
}

func peakText(k *report.Peak) string {
	if k == nil {
		return "N/A"
	}
	return fmt.Sprintf("%s at %s (%s)", k.Bytes, clock(k.T), k.Source)
}

func growthText(g *report.GPU) string {
	perHour, ok := g.Growth.Value()
	if !ok {
		return "too short to say"
	}
	text := signed(perHour) + " per hour"
	if math.Abs(perHour) < float64(sampler.MiB) {
		text = "none"
	}
	if e, ok := g.EpochGrowth.Value(); ok {
		text += ", " + signed(e) + " per epoch"
	}
	return text
}

// signed is an amount that may be negative.
func signed(v float64) string {
	if v < 0 {
		return "-" + sampler.Bytes(-v).String()
	}
	return "+" + sampler.Bytes(v).String()
}

// holdersText is who held what at the peak. What came and went between two lists of
// processes belongs to nobody for certain.
func holdersText(g *report.GPU) string {
	var parts []string
	sum := sampler.Bytes(0)
	for i, h := range g.Holders {
		sum += h.Bytes
		switch {
		case i >= 6:
			continue
		case h.PID == 0:
			parts = append(parts, fmt.Sprintf("no listed process %s", h.Bytes))
		case h.User != "":
			parts = append(parts, fmt.Sprintf("%d %s (%s) %s", h.PID, cut(h.Name, nameColumns), cut(h.User, nameColumns), h.Bytes))
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", h.PID, cut(h.Name, nameColumns)))+" "+h.Bytes.String())
		}
	}
	if more := len(g.Holders) - 6; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if g.Peak != nil && g.Peak.Bytes > sum+64*sampler.MiB {
		parts = append(parts, fmt.Sprintf("for a moment %s more", g.Peak.Bytes-sum))
	}
	return strings.Join(parts, ", ")
}

// shownSpikes is how many spikes a page has room for.
const shownSpikes = 10

func (p *reportPage) spikes(g *report.GPU) {
	if g.SpikeCount == 0 {
		return
	}
	rows := [][]string{{"TIME", "SIZE", "PEAK", "LASTED"}}
	for _, s := range largestSpikes(g.Spikes, shownSpikes) {
		rows = append(rows, []string{clock(s.T), "+" + s.Bytes.String(), s.Peak.String(), spanText(s.Duration)})
	}
	title := fmt.Sprintf("%d spike(s)", g.SpikeCount)
	if len(rows)-1 < g.SpikeCount {
		title += fmt.Sprintf(", the largest %d", len(rows)-1)
	}
	p.line(title)
	p.table(rows)
}
