package tape

import (
	"errors"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

// ErrNoFB is of a log of `nvidia-smi dmon` or `pmon` without the column of the memory.
var ErrNoFB = errors.New("the log of nvidia-smi dmon or pmon has no column fb: add it with -s (dmon -s pum, pmon -s um)")

// monitorLog decodes what `nvidia-smi dmon` and `nvidia-smi pmon` print: a row for each GPU, or
// for each process, under names and units that come again and again. The columns are those that
// -s asked for; -o D and T put the date and the time before them.
type monitorLog struct {
	foreign
	names []string
	day   time.Time     // of a log with times and no dates
	last  time.Duration // of its newest row, since midnight
}

// monitorColumns has a row for each column of dmon that is read.
var monitorColumns = map[string]func(g *sampler.GPU, text string){
	"pwr":   func(g *sampler.GPU, text string) { g.Power = watts(text) },
	"gtemp": func(g *sampler.GPU, text string) { g.Temperature = whole(text) },
	"temp":  func(g *sampler.GPU, text string) { g.Temperature = whole(text) },
	"sm":    func(g *sampler.GPU, text string) { g.Utilization.GPU = whole(text) },
	"mem":   func(g *sampler.GPU, text string) { g.Utilization.Memory = whole(text) },
	"enc":   func(g *sampler.GPU, text string) { g.Utilization.Encoder = whole(text) },
	"dec":   func(g *sampler.GPU, text string) { g.Utilization.Decoder = whole(text) },
	"mclk":  func(g *sampler.GPU, text string) { g.Clocks.Memory = whole(text) },
	"pclk":  func(g *sampler.GPU, text string) { g.Clocks.SM = whole(text) },
	"fb":    func(g *sampler.GPU, text string) { g.Memory.Used = mebibytes(text) },
	"rxpci": func(g *sampler.GPU, text string) { g.PCIe.RX = perSecond(text) },
	"txpci": func(g *sampler.GPU, text string) { g.PCIe.TX = perSecond(text) },
}

// perSecond is a traffic that dmon counts in MB.
func perSecond(text string) sampler.Opt[uint64] {
	b, ok := mebibytes(text).Value()
	if !ok {
		return sampler.Opt[uint64]{}
	}
	return sampler.Some(uint64(b / sampler.MiB * 1e6))
}

func openMonitorLog(line string, _ []byte) (decoder, error) {
	names, ok := monitorNames(line)
	switch {
	case !ok:
		return nil, nil
	case !slices.Contains(names, "fb"):
		return nil, ErrNoFB
	}
	return &monitorLog{}, nil
}

// monitorNames reads a line of column names.
func monitorNames(line string) ([]string, bool) {
	rest, ok := strings.CutPrefix(line, "#")
	if !ok {
		return nil, false
	}
	names := monitorCells(strings.ToLower(rest))
	i := slices.Index(names, "gpu")
	return names, i >= 0 && i <= 2 && len(names) > i+2
}

// monitorCells cuts a row at its blanks, or commas in the form for CSV.
func monitorCells(text string) []string {
	if strings.Contains(text, ",") {
		return splitAt(text, ",")
	}
	return strings.Fields(text)
}

func (l *monitorLog) restart() { *l = monitorLog{} }

func (l *monitorLog) line(p *progress, b []byte, out *Record) error {
	text := plainLine(b)
	if names, ok := monitorNames(text); ok {
		l.names = names
		return errNone
	}
	if text == "" || strings.HasPrefix(text, "#") { // the units
		return errNone
	}
	row, ok := l.row(text)
	if !ok {
		return errLine
	}
	at, ok := l.time(p, row)
	if !ok {
		l.meter.flaws[badTime] = true
		p.notes.flawed(out.Line, &l.meter)
		return errLine
	}
	index := whole(row["gpu"])
	n, ok := index.Value()
	if !ok || n < 0 || n >= maxDevices {
		return errLine
	}
	line, result := out.Line, errNone
	if l.begins(n, row["pid"], at) {
		if l.give(p, out) {
			result = nil
		}
		l.begin(line, at)
	} else if len(l.sweep.GPUs) == 0 {
		l.begin(line, at)
	}
	l.take(n, row)
	return result
}

// row is a line by the names of its columns; the command, which comes last, may have blanks.
func (l *monitorLog) row(text string) (map[string]string, bool) {
	cells := monitorCells(text)
	n := len(l.names)
	if n == 0 || len(cells) < n || len(cells) > n && l.names[n-1] != "command" {
		return nil, false
	}
	if len(cells) > n {
		cells = append(cells[:n-1:n-1], strings.Join(cells[n-1:], " "))
	}
	row := make(map[string]string, n)
	for i, name := range l.names {
		if cells[i] != "-" {
			row[name] = cells[i]
		}
	}
	return row, true
}

// time is that of a row, zero where the log tells none.
func (l *monitorLog) time(p *progress, row map[string]string) (time.Time, bool) {
	clock, has := row["time"]
	if !has {
		return time.Time{}, !slices.Contains(l.names, "time")
	}
	if date, ok := row["date"]; ok {
		t, err := time.ParseInLocation("20060102 15:04:05", date+" "+clock, time.Local)
		return t.UTC(), err == nil && isTime(t)
	}
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		return t, false
	}
	since := t.Sub(t.Truncate(24 * time.Hour))
	if l.day.IsZero() {
		l.day = undatedDay()
		if !p.saidUntimed {
			p.saidUntimed = true
			p.notes.add("tape.no_date")
		}
	} else if l.last-since > 12*time.Hour { // past midnight
		l.day = l.day.AddDate(0, 0, 1)
	}
	l.last = since
	return l.day.Add(since).UTC(), true
}

// begins says whether a row is of the next sweep: its GPU comes before the last one, or is that and
// the row can only be of a later time.
func (l *monitorLog) begins(index int, pid string, at time.Time) bool {
	g := l.foreign.last()
	switch {
	case g == nil:
		return false
	case index != g.Index:
		return index < g.Index
	case !slices.Contains(l.names, "pid") || pid == "" || !at.Equal(l.at):
		return true
	}
	return slices.ContainsFunc(g.Processes, func(o sampler.Process) bool { return sampler.Some(o.PID).Equal(whole(pid)) })
}

// take adds what a row says.
func (l *monitorLog) take(index int, row map[string]string) {
	g := l.foreign.last()
	if g == nil || g.Index != index {
		if g = l.gpu(sampler.GPU{Index: index}); g == nil {
			return
		}
	}
	if !slices.Contains(l.names, "pid") {
		for name, text := range row {
			if set := monitorColumns[name]; set != nil {
				set(g, text)
			}
		}
		return
	}
	memory := mebibytes(row["fb"])
	if pid, ok := whole(row["pid"]).Value(); ok && pid > 0 && pid < 1<<31 {
		l.process(g, pid, row["type"], row["command"], memory)
	}
	// What the processes hold is all that is known of a GPU.
	g.Memory.Used = sampler.Some(min(g.Memory.Used.Or(0)+memory.Or(0), sampler.MaxPlausible))
}

func (l *monitorLog) end(p *progress, out *Record) bool {
	given := l.give(p, out)
	if given {
		p.notes.add("tape.no_totals")
	}
	return given
}
