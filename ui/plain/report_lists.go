package plain

import (
	"fmt"
	"strconv"
	"strings"

	"nvpeak/advice/report"
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
	p.section("processes")
	rows := [][]string{{"GPU", "PID", "<USER", "PEAK", "AT", "MEAN", "<SEEN", "<COMMAND"}}
	for _, q := range p.r.Processes[:min(shownProcesses, len(p.r.Processes))] {
		peak, at := "N/A", ""
		if q.Peak != nil {
			peak, at = q.Peak.Bytes.String(), clock(q.Peak.T)
		}
		seen := clock(q.First) + " to " + clock(q.Last)
		if !q.Exited {
			seen = "from " + clock(q.First)
		}
		command := q.Command
		if command == "" {
			command = q.Name
		}
		rows = append(rows, []string{q.Label, strconv.Itoa(q.PID), "<" + cut(q.User, nameColumns), peak, at, size(q.Mean), "<" + seen, "<" + command})
	}
	p.table(rows)
	p.more(len(p.r.Processes), shownProcesses)
}

func (p *reportPage) alerts() {
	if len(p.r.Alerts) == 0 {
		return
	}
	p.section(fmt.Sprintf("alerts (%d), as the monitor would have raised them", len(p.r.Alerts)))
	for _, a := range p.r.Alerts[:min(shownAlerts, len(p.r.Alerts))] {
		until := "open to the end"
		if end, ok := a.End.Value(); ok {
			until = "to " + clock(end)
		}
		p.text(pad("  "+clock(a.T), 12), fmt.Sprintf("%s  %s (%s)", a.Level, a.Text, until), p.levelPaint(a.Level))
	}
	p.more(len(p.r.Alerts), shownAlerts)
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
	p.section("phases of the training log")
	rows := [][]string{{"FROM", "TO", "<PHASE", "PEAK"}}
	shown := p.r.Phases[max(0, len(p.r.Phases)-shownPhases):]
	for _, f := range shown {
		name := f.Kind
		if n, ok := f.N.Value(); ok {
			name += " " + strconv.Itoa(n)
		}
		rows = append(rows, []string{clock(f.T), clock(f.End), "<" + name, size(f.Peak)})
	}
	if earlier := len(p.r.Phases) - len(shown); earlier > 0 {
		p.line(fmt.Sprintf("  … %d earlier ones in --json", earlier))
	}
	p.table(rows)
}

func (p *reportPage) events() {
	if len(p.r.Events) == 0 {
		return
	}
	p.section("events")
	for _, e := range p.r.Events[:min(shownEvents, len(p.r.Events))] {
		p.text(pad("  "+clock(e.T), 12), eventText(e), plainly)
	}
	p.more(len(p.r.Events), shownEvents)
}

// eventText is an event in a line.
func eventText(e report.Event) string {
	var parts []string
	if gpu, ok := e.GPU.Value(); ok && e.Kind != "oom" {
		parts = append(parts, fmt.Sprintf("GPU %d", gpu))
	}
	parts = append(parts, strings.ReplaceAll(e.Kind, "_", " "))
	if pid, ok := e.PID.Value(); ok {
		parts = append(parts, fmt.Sprintf("pid %d", pid))
	}
	if x, ok := e.XID.Value(); ok {
		parts = append(parts, fmt.Sprintf("Xid %d", x))
	}
	if d, ok := e.Duration.Value(); ok {
		parts = append(parts, "for "+lasted(d))
	}
	text := strings.Join(parts, " ")
	if e.Text != "" {
		text += ": " + sampler.Clean(e.Text)
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
	p.section("notes")
	for _, n := range p.r.Notes {
		p.text("  "+p.marks.bullet+" ", n, plainly)
	}
}
