package plain

import (
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
)

// ReportOptions say how a report is written as text.
type ReportOptions struct {
	Options
	// Plot draws values of 0..top, one per column, as height lines; nil: no plots.
	Plot func(values []float64, top float64, height int) []string
	Zone *time.Location // of the times shown; nil: local
}

// reportPage collects the lines of a report.
type reportPage struct {
	page
	o ReportOptions
	r *report.Report
}

func newReportPage(r report.Report, o ReportOptions) *reportPage {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return &reportPage{page: newPage(o.Options, lang.For(r.Lang)), o: o, r: &r}
}

func (p *reportPage) section(title string) {
	p.line("")
	p.line(p.paint.dim(p.marks.rule(title, p.width)))
}

func (p *reportPage) more(all, shown int) {
	if all > shown {
		p.line("  " + p.words.Say("report.more_json", "n", all-shown))
	}
}

// head is the titles of a table's columns; "<" stands before those of the left.
func (p *reportPage) head(ids ...string) []string {
	row := make([]string, len(ids))
	for i, id := range ids {
		name, left := strings.CutPrefix(id, "<")
		if p.words.Has("col." + name) {
			name = strings.ToUpper(p.words.Say("col." + name))
		}
		row[i] = name
		if left {
			row[i] = "<" + name
		}
	}
	return row
}

// labelWidth is the column in which figures begin.
const labelWidth = 9

// facts writes "name value" pairs side by side; the first name is the label of the line.
func (p *reportPage) facts(pairs ...string) {
	label := pad(pairs[0], labelWidth)
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

// nameColumns is the room of a foreign name among others.
const nameColumns = 20

func (p *reportPage) peakMark() string {
	if p.o.ASCII {
		return "^"
	}
	return "▲"
}
