package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nvpeak/advice/report"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// shown* bound the lists of the text; JSON has all.
const (
	shownProcesses = 20
	shownAlerts    = 20
	shownEvents    = 20
	shownPhases    = 12
)

func (p *reportPage) processes() {
	if len(p.r.Processes) == 0 {
		return
	}
	p.section(p.words.Say("report.processes"))
	rows := [][]string{p.head("GPU", "PID", "<user", "peak", "at", "mean", "<seen", "<command")}
	shown := p.r.Processes[:min(shownProcesses, len(p.r.Processes))]
	exact := slices.ContainsFunc(shown, func(q report.Process) bool { return exactPeak(&q) })
	for _, q := range shown {
		peak, at := p.processPeak(&q, p.r.Start.Time)
		if exact && !exactPeak(&q) { // its figure stands below the others
			peak += strings.Repeat(" ", columns(p.words.Say("report.exact", "size", "")))
		}
		rows = append(rows, []string{q.Label, strconv.Itoa(q.PID), "<" + cut(q.User, nameColumns), peak, at, size(q.Mean), "<" + p.seen(q), "<" + cmp.Or(q.Command, q.Name)})
	}
	p.aligned("  ", rows)
	p.more(len(p.r.Processes), shownProcesses)
	p.requests(shown)
}

// requests are what processes asked the driver for, in a table of its own: beside the rest it would leave no room for
// their commands.
func (p *reportPage) requests(list []report.Process) {
	if !seesRequests(list) {
		return
	}
	rows := [][]string{p.head(append([]string{"GPU", "PID"}, requestColumns...)...)}
	for _, q := range list {
		rows = append(rows, append([]string{q.Label, strconv.Itoa(q.PID)}, requestCells(q.Requests)...))
	}
	p.line("")
	p.aligned("  ", rows)
}

func (p *reportPage) alerts() {
	if len(p.r.Alerts) == 0 {
		return
	}
	p.section(p.words.Say("report.alerts", "n", len(p.r.Alerts)))
	groups := watch.PastGroups(p.r.Alerts, p.words)
	for _, a := range groups[:min(shownAlerts, len(groups))] {
		until := p.words.Say("report.open")
		if end, ok := a.End.Value(); ok {
			until = p.words.Say("report.until", "time", clock(end))
		}
		p.text(pad("  "+clock(a.T), 11)+" ", p.words.Say("level."+a.Level)+"  "+a.Text+p.words.Say("head.when", "when", until), p.levelPaint(a.Level))
		if came := p.outcome(p.r, a.Alert); came != "" {
			p.text(strings.Repeat(" ", 12), came, p.paint.dim)
		}
	}
	p.more(len(groups), shownAlerts)
}

// outcome is what came of a warning, as far as that is known.
func (p *page) outcome(r *report.Report, a sampler.Alert) string {
	end := r.Start.Add(time.Duration(r.Duration * float64(time.Second)))
	switch failure, came, known := watch.Outcome(a, r.Alerts, end); {
	case came:
		return p.words.Say("panel.came", "time", clock(failure.T))
	case known:
		return p.words.Say("panel.not_come")
	}
	return ""
}

func (p *reportPage) levelPaint(level string) func(string) string {
	switch level {
	case sampler.LevelCritical:
		return p.paint.bad
	case sampler.LevelWarning:
		return p.paint.warn
	}
	return plainly
}

func (p *reportPage) phases() {
	if len(p.r.Phases) == 0 {
		return
	}
	p.section(p.words.Say("report.phases"))
	rows := [][]string{p.head("from", "to", "<phase", "peak")}
	shown := p.r.Phases[max(0, len(p.r.Phases)-shownPhases):]
	for _, f := range shown {
		rows = append(rows, []string{clock(f.T), clock(f.End), "<" + p.phase(f), size(f.Peak)})
	}
	if earlier := len(p.r.Phases) - len(shown); earlier > 0 {
		p.line("  " + p.words.Say("report.earlier_json", "n", earlier))
	}
	p.aligned("  ", rows)
}

func (p *reportPage) events() {
	if len(p.r.Events) == 0 {
		return
	}
	p.section(p.words.Say("report.events"))
	for _, e := range p.r.Events[:min(shownEvents, len(p.r.Events))] {
		p.text(pad("  "+clock(e.T), 11)+" ", p.event(e), plainly)
	}
	p.more(len(p.r.Events), shownEvents)
}

// seen is from when to when a process was seen.
func (p *page) seen(q report.Process) string {
	if !q.Exited {
		return p.words.Say("report.seen_from", "from", clock(q.First))
	}
	return p.words.Say("report.seen", "from", clock(q.First), "to", clock(q.Last))
}

// phase names a phase of the training.
func (p *page) phase(f report.Phase) string {
	name := f.Kind
	if id := "mark." + name; p.words.Has(id) {
		name = p.words.Say(id)
	}
	if n, ok := f.N.Value(); ok {
		name += " " + strconv.Itoa(n)
	}
	return name
}

// event is an event in a line.
func (p *page) event(e report.Event) string {
	var parts []string
	if gpu, ok := e.GPU.Value(); ok && e.Kind != "oom" {
		parts = append(parts, fmt.Sprintf("GPU %d", gpu))
	}
	kind := strings.ReplaceAll(sampler.Clean(e.Kind), "_", " ")
	if id := "event." + e.Kind; p.words.Has(id) {
		kind = p.words.Say(id)
	}
	if x, ok := e.XID.Value(); ok {
		kind = fmt.Sprintf("%s %d", kind, x)
	}
	if e.Kind != "oom" || e.Text == "" { // its text says so itself
		parts = append(parts, kind)
	}
	if pid, ok := e.PID.Value(); ok {
		parts = append(parts, p.words.Say("report.pids", "pid", pid))
	}
	if d, ok := e.Duration.Value(); ok {
		parts = append(parts, p.words.Say("event.for", "span", p.words.Lasted(d)))
	}
	text := strings.Join(parts, " ")
	switch {
	case e.Text == "":
	case text == "":
		text = sampler.Clean(e.Text)
	default:
		text += p.words.Say("list.colon") + sampler.Clean(e.Text)
	}
	return text
}

// evidenceAndAdvice are for those who want to check.
func (p *reportPage) evidenceAndAdvice() {
	if len(p.r.Causes) == 0 && len(p.r.Advice) == 0 {
		return
	}
	p.section(p.words.Say("label.details"))
	if len(p.r.Causes) > 0 {
		p.evidence(p.r.Causes)
	}
	p.reasons(p.r.Advice)
}

func (p *reportPage) remarks() {
	if len(p.r.Notes) == 0 {
		return
	}
	p.section(p.words.Say("report.notes"))
	for _, n := range p.r.Notes {
		p.text("  "+p.marks.bullet+" ", n, plainly)
	}
}
