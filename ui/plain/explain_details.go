package plain

import (
	"fmt"
	"strconv"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// details are for those who want to check: evidence, the other advice with its cost, plans,
// notes, the other events.
func (p *page) details(e explain.Explanation, event explain.Event) {
	p.line("")
	p.line(p.paint.dim(p.marks.rule(p.words.Say("label.details"), p.width)))
	if len(e.Causes) > 0 {
		p.evidence(e.Causes)
	}
	p.reasons(e.Advice)
	p.plans(e.Plans)
	p.notes(event.Notes)
	p.snapshots(e)
	if len(e.Events) > 1 {
		p.events(e)
	}
}

func (p *page) evidence(causes []sampler.Cause) {
	p.line(p.paint.bold(p.words.Say("label.why")))
	for _, c := range causes {
		text := explain.Title(p.words, c)
		if c.ID != "unknown" {
			text += p.words.Say("head.when", "when", p.words.Confidence(c.Confidence)+p.words.Say("list.comma")+strconv.FormatFloat(c.Confidence, 'f', 2, 64))
		}
		p.text("  ", text, plainly)
		for _, text := range c.Evidence {
			p.text("    "+p.marks.bullet+" ", text, plainly)
		}
	}
}

func (p *page) reasons(list []sampler.Advice) {
	if len(list) == 0 {
		return
	}
	p.line(p.paint.bold(p.words.Say("label.do")))
	for i, a := range list {
		title := a.Title
		if saves := p.saves(a); saves != "" {
			title += p.words.Say("list.semicolon") + saves
		}
		p.text(fmt.Sprintf("  %d ", a.Rank), title, plainly)
		p.text("    ", a.Why, plainly)
		p.text("    "+p.words.Say("label.cost")+p.words.Say("list.colon"), a.Cost, plainly)
		if i > 0 || len(a.Do) > firstCommands {
			p.commands(a.Do, 6)
		}
		p.line("    " + p.paint.dim(sampler.Clean(a.Source)))
	}
}

func (p *page) plans(plans []explain.Plan) {
	if len(plans) == 0 {
		return
	}
	p.line(p.paint.bold(p.words.Say("label.plans")))
	for _, plan := range plans {
		p.text("  "+plan.Name+" ", plan.Title+p.words.Say("list.colon")+p.words.Say("label.enough."+plan.Enough), plainly)
		p.text("    ", plan.Arithmetic, plainly)
	}
}

func (p *page) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	p.line(p.paint.bold(p.words.Say("label.notes")))
	for _, n := range notes {
		p.text("  "+p.marks.bullet+" ", n, plainly)
	}
}

// maxEvents bounds the list of events; a log can hold thousands.
const maxEvents = 12

func (p *page) events(e explain.Explanation) {
	p.line(p.paint.bold(p.words.Say("label.events")))
	for i, event := range e.Events[:min(maxEvents, len(e.Events))] {
		mark := " "
		if i == e.Verdict.Event {
			mark = p.marks.first
		}
		text := p.words.Say("label.line", "line", event.Line) + p.words.Say("list.colon") + event.Headline
		if event.Line == 0 && event.File != "" { // a memory snapshot
			text = event.File + p.words.Say("list.colon") + event.Headline
		}
		if event.Recovered {
			text += p.words.Say("head.when", "when", p.words.Say("label.recovered"))
		} else if len(event.Causes) > 0 {
			text += p.words.Say("list.colon") + explain.Title(p.words, event.Causes[0])
		}
		p.text(mark+" ", text, plainly)
	}
	if more := max(len(e.Events)-maxEvents, 0) + e.Omitted; more > 0 {
		p.line("  " + p.words.Say("label.more", "count", more))
	}
}
