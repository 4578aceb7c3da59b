package plain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

func largestSpikes(list []report.Spike, n int) []report.Spike {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(b.Bytes, a.Bytes) })
	list = list[:min(n, len(list))]
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(a.T, b.T) })
	return list
}

// table writes aligned rows, indented; the last column may be long and is cut to the width.
func (p *reportPage) table(rows [][]string) {
	var b strings.Builder
	write(&b, rows) //nolint:errcheck // a Builder takes everything
	for line := range strings.Lines(b.String()) {
		line = "  " + strings.TrimSuffix(line, "\n")
		p.line(cut(line, p.width))
	}
}

// nameColumns is the room of a foreign name among others.
const nameColumns = 20

// cut shortens a text to a number of columns.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		n := columns(string(r))
		if used+n > width-1 {
			return s[:i] + "…"
		}
		used += n
	}
	return s
}

// plotHeight is in lines; axisColumns stand left of a plot.
const (
	plotHeight  = 9
	axisColumns = 6
)

// plot draws the used memory, with its peak marked above and what happened below.
func (p *reportPage) plot(g *report.GPU) {
	if p.o.Plot == nil || len(g.Plot) < 2 || p.r.Duration <= 0 {
		return
	}
	n := p.width - axisColumns - 1
	total := float64(g.Total.Or(0))
	if g.Peak != nil {
		total = max(total, float64(g.Peak.Bytes))
	}
	if total <= 0 {
		return
	}
	values := reduce(g.Plot, p.r.Duration, n)
	lines := p.o.Plot(values, total/float64(sampler.GiB), plotHeight)
	if lines == nil {
		return
	}
	p.peakLine(g, n)
	for i, line := range lines {
		axis := ""
		if i == 0 || i == len(lines)-1 || i == (len(lines)-1)/2 {
			axis = axisFigure(total * float64(len(lines)-1-i) / float64(len(lines)-1) / float64(sampler.GiB))
		}
		p.line(strings.Repeat(" ", axisColumns-1-len(axis)) + axis + p.drawn("┤") + p.drawn(line))
	}
	p.markLine(g, n)
	end := clock(p.r.Duration)
	p.line(strings.Repeat(" ", axisColumns) + p.paint.dim(clock(0)+strings.Repeat(" ", max(1, n-len(clock(0))-len(end)))+end))
}

// figure is a number of at most four characters.
func axisFigure(v float64) string {
	if v >= 10 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

var asciiPlot = strings.NewReplacer("─", "-", "│", "|", "╭", ".", "╮", ".", "╰", "'", "╯", "'", "┤", "|", "┼", "+", "╴", "-", "╶", "-")

func (p *reportPage) drawn(s string) string {
	if p.o.ASCII {
		return asciiPlot.Replace(s)
	}
	return s
}

// reduce turns points into one value per column, in GiB: the maximum of its time. A column
// without a point continues the one before, unless there is a gap.
func reduce(points []report.Point, duration float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.NaN()
	}
	at := func(t float64) int { return max(0, min(n-1, int(t/duration*float64(n)))) }
	for i, q := range points {
		from := at(q.T)
		to := n - 1
		if i+1 < len(points) {
			to = max(from, at(points[i+1].T)-1)
		}
		for c := from; c <= to; c++ {
			if v := q.High / float64(sampler.GiB); math.IsNaN(values[c]) || v > values[c] {
				values[c] = v
			}
		}
	}
	return values
}

func (p *reportPage) column(t float64, n int) int {
	return max(0, min(n-1, int(t/p.r.Duration*float64(n))))
}

// peakLine stands above the plot: the peak at its place, with its size at the side that has room.
func (p *reportPage) peakLine(g *report.GPU, n int) {
	if g.Peak == nil {
		return
	}
	at := p.column(g.Peak.T, n)
	label := g.Peak.Bytes.String() + " at " + clock(g.Peak.T)
	if at+2+len(label) <= n {
		p.line(strings.Repeat(" ", axisColumns+at) + p.paint.accent(p.peakMark()+" "+label))
		return
	}
	p.line(strings.Repeat(" ", axisColumns+max(0, at-len(label)-1)) + p.paint.accent(label+" "+p.peakMark()))
}

// markLine stands below the plot: alerts, failures, process ends at their places.
func (p *reportPage) markLine(g *report.GPU, n int) {
	row := []rune(strings.Repeat(" ", n))
	used := map[rune]bool{}
	put := func(t float64, r rune) { row[p.column(t, n)], used[r] = r, true }
	for _, e := range p.r.Events {
		switch {
		case e.GPU.Or(g.Index) != g.Index:
		case e.Kind == "process_end":
			put(e.T, 'e')
		case e.Kind == "process_start":
			put(e.T, 's')
		}
	}
	for _, s := range g.Spikes {
		if len(g.Spikes) <= n/4 {
			put(s.T, '\'')
		}
	}
	for _, a := range p.r.Alerts {
		if a.GPU.Or(g.Index) == g.Index && a.Kind != "oom" {
			put(a.T, '!')
		}
	}
	for _, e := range p.r.Events {
		if e.Kind == "oom" && e.GPU.Or(g.Index) == g.Index {
			put(e.T, 'X')
		}
	}
	if len(used) == 0 {
		return
	}
	var legend []string
	for _, m := range []struct {
		mark rune
		text string
	}{{'!', "! alert"}, {'X', "X out of memory"}, {'s', "s process start"}, {'e', "e process end"}, {'\'', "' spike"}} {
		if used[m.mark] {
			legend = append(legend, m.text)
		}
	}
	p.line(strings.Repeat(" ", axisColumns) + p.paint.warn(strings.TrimRight(string(row), " ")))
	p.flow(axisColumns, legend)
}

// shown* bound the lists of the text; JSON has all.
const (
	shownProcesses = 20
	shownAlerts    = 20
	shownEvents    = 20
	shownPhases    = 12
)

func (p *reportPage) section(title string) {
	p.line("")
	p.line(p.paint.dim(p.marks.rule(title, p.width)))
}

func (p *reportPage) more(all, shown int) {
	if all > shown {
		p.line(fmt.Sprintf("  … %d more in --json", all-shown))
	}
}

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
		p.text(padTo("  "+clock(a.T), 12), fmt.Sprintf("%s  %s (%s)", a.Level, a.Text, until), p.levelPaint(a.Level))
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
		p.text(padTo("  "+clock(e.T), 12), eventText(e), plainly)
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
		parts = append(parts, "for "+spanText(d))
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

// clock is a place on the timeline: "0:00", "12:05", "1:02:03", with tenths in short recordings.
func clock(t float64) string {
	s := int(math.Floor(t + 1e-6))
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// spanText is how long something took: "20 ms", "1.5 s", "40 s", "4 min", "2.5 h".
func spanText(s float64) string {
	switch {
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 10 && s != math.Trunc(s):
		return fmt.Sprintf("%.1f s", s)
	case s < 90:
		return fmt.Sprintf("%.0f s", s)
	case s < 90*60:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%.1f h", s/3600)
	}
	return fmt.Sprintf("%.1f days", s/86400)
}
