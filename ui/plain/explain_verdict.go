package plain

import (
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

func (p *page) verdict(e explain.Explanation) {
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
func (p *page) causes(causes []sampler.Cause) {
	p.line("")
	for i, c := range causes {
		if i > 1 || i == 1 && (c.Confidence < 0.4 || c.ID == "unknown") { // beside a cause, "cannot tell" says nothing
			break
		}
		label := p.label("label.cause")
		if i == 1 {
			label = p.label("label.also")
		}
		text := explain.Title(p.words, c)
		if c.ID != "unknown" {
			text += p.words.Say("head.when", "when", p.words.Confidence(c.Confidence))
		}
		p.text(label, text, p.paint.bold)
	}
}

// firstCommands is how many of the first advice's commands the first screen has room for.
const firstCommands = 2

// steps are the first three advices, the first with what to type.
func (p *page) steps(list []sampler.Advice) {
	for i, a := range list[:min(3, len(list))] {
		label := strings.Repeat(" ", 7)
		if i == 0 {
			label = p.label("label.do")
		}
		title := a.Title
		if saves := p.saves(a); saves != "" {
			title += p.words.Say("list.semicolon") + saves
		}
		p.text(label+strconv.Itoa(a.Rank)+" ", title, p.paint.accent)
		if i == 0 {
			p.commands(a.Do[:min(firstCommands, len(a.Do))], 9)
		}
	}
}

// saves is the range an advice gains: "saves up to 3.56 GiB".
func (p *page) saves(a sampler.Advice) string {
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
