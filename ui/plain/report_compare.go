package plain

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/report"
	"nvpeak/advice/watch"
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
	aloneBefore, aloneAfter := report.Alone(before, after)
	for _, r := range []struct {
		name string
		report.Report
		alone []*report.GPU
	}{{was, before, aloneBefore}, {is, after, aloneAfter}} {
		if r.Headline != "" {
			p.line("")
			p.text(r.name, p.headline(&r.Report), p.paint.bold)
		}
		if len(r.alone) > 0 {
			p.text(r.name, p.words.Say("compare.alone", "gpus", labels(r.alone)), p.paint.dim)
		}
		for _, n := range r.Notes {
			p.text(r.name, n, p.paint.dim)
		}
	}
	return p.write(w, p.out.String())
}

// labels are the names of GPUs: "1–7".
func labels(gpus []*report.GPU) string {
	var indices []int
	var names []string // of what has no index of its own
	for _, g := range gpus {
		if n, err := strconv.Atoi(g.Label); err == nil {
			indices = append(indices, n)
		} else {
			names = append(names, g.Label)
		}
	}
	if len(indices) > 0 {
		slices.Sort(indices)
		names = append([]string{watch.GPUList(indices)}, names...)
	}
	return strings.Join(names, ", ")
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
	case "per_hour":
		text = strconv.FormatFloat(math.Abs(v), 'f', 1, 64)
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
