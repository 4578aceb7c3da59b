package plain

import (
	"io"
	"math"
	"strconv"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// CompareText writes the table of two runs, before and after.
func CompareText(w io.Writer, before, after report.Report, o ReportOptions) error {
	p := newReportPage(before, o)
	was, is := pad(p.words.Say("col.before"), 8), pad(p.words.Say("col.after"), 8)
	p.text(was, runText(before), plainly)
	p.text(is, runText(after), plainly)
	p.line("")
	rows := [][]string{p.head("<", "before", "after", "difference", "", "<")}
	for _, c := range report.Compare(before, after) {
		percent := ""
		if v, ok := c.Percent.Value(); ok && v != 0 {
			percent = strconv.FormatFloat(v, 'f', 0, 64) + " %"
			if v > 0 {
				percent = "+" + percent
			}
		}
		word := ""
		if c.Better != "" {
			word = p.words.Say("compare." + c.Better)
		}
		rows = append(rows, []string{"<" + c.Title, p.amount(c.Before, c.Unit, false), p.amount(c.After, c.Unit, false),
			p.amount(c.Difference, c.Unit, true), percent, "<" + word})
	}
	p.aligned("  ", rows)
	for _, r := range []struct {
		name string
		report.Report
	}{{was, before}, {is, after}} {
		if r.Headline != "" {
			p.line("")
			p.text(r.name, p.headline(&r.Report), p.paint.bold)
		}
		for _, n := range r.Notes {
			p.text(r.name, n, p.paint.dim)
		}
	}
	return p.write(w, p.out.String())
}

func runText(r report.Report) string {
	text := r.Source
	if r.Host != "" {
		text += ", " + r.Host
	}
	for i, g := range r.GPUs {
		if i == 3 {
			text += ", …"
			break
		}
		text += ", GPU " + g.Label
		if g.Name != "" {
			text += " " + g.Name
		}
	}
	return text
}

// amount is a figure in its unit; signed ones say their sign.
func (p *page) amount(o sampler.Opt[float64], unit string, sign bool) string {
	v, ok := o.Value()
	if !ok {
		return "N/A"
	}
	if sign && v == 0 {
		return "0"
	}
	text := ""
	switch unit {
	case "bytes", "bytes_per_hour":
		text = sampler.Bytes(math.Abs(v)).String()
	case "seconds":
		text = p.words.Lasted(math.Abs(v))
	default:
		text = strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	}
	switch {
	case v < 0:
		return "-" + text
	case sign:
		return "+" + text
	}
	return text
}
