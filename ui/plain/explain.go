package plain

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// ExplainOptions say how an explanation is written.
type ExplainOptions struct {
	Width int  // columns, 40 to 120; others are brought into that range
	Color bool // ANSI colours; leave it off where the output is no terminal
	ASCII bool // no box characters
	// Rows is the height of the terminal. What is longer would scroll the verdict away: then the details
	// are left out, and the last line says how to see them. 0: everything.
	Rows int
}

// Explain writes an explanation for people: the verdict, a bar of the card at the moment of
// failure, cause and first steps in about ten lines, then the details. Everything that came from
// a log or a process is cleaned. Commands are not wrapped, so they can be copied.
func Explain(w io.Writer, e explain.Explanation, o ExplainOptions) error {
	p := &explainPage{width: min(max(o.Width, 40), 120), paint: paintFor(o), marks: marksFor(o), words: lang.For(e.Lang)}
	p.verdict(e)
	if i := e.Verdict.Event; i >= 0 {
		event := e.Events[i]
		p.card(event)
		p.causes(e.Causes)
		p.steps(e.Advice)
		first := p.out.String()
		p.details(e, event)
		if o.Rows > 0 && strings.Count(p.out.String(), "\n") >= o.Rows {
			p.out.Reset()
			p.out.WriteString(first)
			p.text("", p.words.Say("label.more_details", "count", len(e.Advice)), p.paint.dim)
		}
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// ExplainJSON writes an explanation as indented JSON.
func ExplainJSON(w io.Writer, e explain.Explanation) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(e)
}

// explainPage collects the lines.
type explainPage struct {
	out   strings.Builder
	width int
	paint explainPaint
	marks explainMarks
	words lang.Catalog
}

// line writes one line as it is.
func (p *explainPage) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// text wraps a sentence; the first line begins with head, the others are indented as far.
func (p *explainPage) text(head, s string, paint func(string) string) {
	indent := columns(head)
	for i, part := range wrapText(sampler.Clean(s), p.width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		p.line(head + paint(part))
	}
}

func (p *explainPage) verdict(e explain.Explanation) {
	paint := p.paint.bad
	if e.Verdict.Recovered || e.Verdict.Event < 0 {
		paint = p.paint.bold
	}
	p.text("", e.Verdict.Headline, paint)
	if e.Verdict.Detail != "" {
		p.text("", e.Verdict.Detail, plainly)
	}
	if e.Verdict.Run != "" {
		p.text("", e.Verdict.Run, plainly)
	}
}

// causes are the surest one and at most one more that is worth a thought.
func (p *explainPage) causes(causes []sampler.Cause) {
	p.line("")
	for i, c := range causes {
		if i > 1 || i == 1 && c.Confidence < 0.4 {
			break
		}
		label := p.label("label.cause")
		if i == 1 {
			label = p.label("label.also")
		}
		text := p.words.Say("cause." + c.ID)
		if c.ID != "unknown" {
			text += " (" + p.words.Confidence(c.Confidence) + ")"
		}
		p.text(label, text, p.paint.bold)
	}
}

// label is a word at the left edge, as wide as the widest of its column.
func (p *explainPage) label(id string) string { return padTo(p.words.Say(id), 7) }

// firstCommands is how many of the first advice's commands the first screen has room for.
const firstCommands = 2

// steps are the first three advices, the first with what to type.
func (p *explainPage) steps(list []sampler.Advice) {
	for i, a := range list[:min(3, len(list))] {
		label := strings.Repeat(" ", 7)
		if i == 0 {
			label = p.label("label.do")
		}
		title := a.Title
		if saves := p.saves(a); saves != "" {
			title += "; " + saves
		}
		p.text(label+strconv.Itoa(a.Rank)+" ", title, p.paint.accent)
		if i == 0 {
			p.commands(a.Do[:min(firstCommands, len(a.Do))], 9)
		}
	}
}

// saves is the range an advice gains: "saves up to 3.56 GiB".
func (p *explainPage) saves(a sampler.Advice) string {
	r, known := a.Saves.Value()
	if !known {
		return ""
	}
	high := r.High.String()
	low := r.Low.String()
	switch {
	case r.Low < r.High/20:
		return p.words.Say("label.saves") + " " + p.words.Say("label.upto", "size", high)
	case low == high:
		return p.words.Say("label.saves") + " " + high
	}
	if r.High >= sampler.GiB { // one unit is enough
		low = strconv.FormatFloat(r.Low.GiB(), 'f', 1, 64)
	} else {
		low = strings.TrimSuffix(low, " MiB")
	}
	return p.words.Say("label.saves") + " " + p.words.Say("label.range", "low", low, "high", high)
}

// commands writes what to type. Comments that follow code go to a line of their own when both
// do not fit.
func (p *explainPage) commands(list []string, indent int) {
	space := strings.Repeat(" ", indent)
	for _, entry := range list {
		for line := range strings.SplitSeq(entry, "\n") {
			line = sampler.Clean(line)
			code, comment, both := strings.Cut(line, "  # ")
			switch {
			case strings.HasPrefix(line, "# "):
				p.comment(space, line[2:])
			case both && columns(line)+indent > p.width:
				p.comment(space, comment)
				p.line(space + code)
			case both:
				p.line(space + code + p.paint.dim("  # "+comment))
			default:
				p.line(space + line)
			}
		}
	}
}

// comment wraps a remark so that each of its lines stays one.
func (p *explainPage) comment(space, s string) {
	for _, part := range wrapText(s, p.width-len(space)-2) {
		p.line(space + p.paint.dim("# "+part))
	}
}
