package plain

import (
	"slices"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// quiet is the conclusion of a recording without failures and warnings, and its color. Nobody
// should read "No problems found" above a figure that says otherwise: the headroom that was left
// stands beside it, and little of it, or a recording of seconds, is no "no problems".
func (p *page) quiet(r *report.Report) (text, mood string) {
	g, notices := tightest(r), len(r.Alerts)
	little := g != nil && scarce(g.WorstFree, g.Total)
	id := "report.no_warning"
	switch {
	case r.TooShort():
		id = "report.short"
	case little:
		id = "report.scarce"
	case g != nil && notices == 0:
		id, mood = "report.no_problems", "good"
	}
	if little {
		mood = "warn"
	}
	text = p.words.Say(id)
	if notices > 0 {
		text += p.words.Say("report.see_below", "notices", p.words.Count("count.notice", notices))
	}
	if g == nil {
		text += p.words.Say("report.no_headroom")
	} else {
		text += p.words.Say("report.headroom", "free", free(g.WorstFree), "gpu", g.Label)
	}
	return text + p.words.Say("report.stop"), mood
}

// headlineColumns of a command are enough to know it by.
const headlineColumns = 100

// headline is what happened, when, and to which process: a recording may show more jobs than the one that its log is of.
func (p *page) headline(r *report.Report) string {
	switch f := r.Failed; {
	case f == nil:
		return r.Headline
	case f.PID == 0:
		return p.words.Say("report.failed_at", "headline", r.Headline, "time", clock(f.T))
	default:
		return p.words.Say("report.failed", "headline", r.Headline, "time", clock(f.T), "pid", f.PID, "command", cut(f.Command, headlineColumns))
	}
}

// tightest is the GPU that had the least free, one with little of its own size first; nil: nothing
// is known of any.
func tightest(r *report.Report) (least *report.GPU) {
	for i := range r.GPUs {
		g := &r.GPUs[i]
		free, ok := g.WorstFree.Value()
		if !ok {
			continue
		}
		if least == nil {
			least = g
			continue
		}
		little, before := scarce(g.WorstFree, g.Total), scarce(least.WorstFree, least.Total)
		if little && !before || little == before && free < least.WorstFree.Or(0) {
			least = g
		}
	}
	return least
}

// scarce says whether that little free is red, as on the screen.
func scarce(free, total sampler.Opt[sampler.Bytes]) bool {
	f, ok := free.Value()
	return ok && float64(f) < 0.05*float64(total.Or(0))
}

// moodOf is the color of a conclusion that names a failure or a warning.
func moodOf(r *report.Report) string {
	if slices.ContainsFunc(r.Events, func(e report.Event) bool { return e.Kind == "oom" && (e.OOM == nil || !e.OOM.Recovered) }) ||
		slices.ContainsFunc(r.Alerts, func(a sampler.Alert) bool { return a.Kind == sampler.AlertOOM && a.Level == sampler.LevelCritical }) {
		return "bad"
	}
	return "warn"
}
