package plain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Table writes the snapshot as two aligned tables, GPUs and processes, and its open alerts between them. On a terminal of
// so many columns (0: it is none) they leave out what is no memory, names are shortened, and no line is longer.
func Table(w io.Writer, s *sampler.Snapshot, label string, o Options, words lang.Catalog) error {
	p := page{ascii: o.ASCII, words: words}
	p.snapshot(s, label, o.Width)
	return p.write(w, p.out.String())
}

func (p *page) snapshot(s *sampler.Snapshot, label string, width int) {
	words := p.words
	head := []string{s.Host}
	if label != "" {
		head = append([]string{label}, head...)
	}
	if s.Driver != "" {
		head = append(head, words.Say("report.driver", "version", s.Driver))
	}
	if s.CUDA != "" {
		head = append(head, "CUDA "+s.CUDA)
	}
	head = append(head, s.Time.Local().Format("2006-01-02 15:04:05"))
	p.width = cmp.Or(width, 1<<20)
	p.text("", strings.Join(head, "  "), plainly)
	p.line("")
	p.aligned("", p.narrowed(gpuRows(s, words), width, "once.temp", "once.power", "once.util", "once.free", "tablehead.peak", nameTitle))
	for i, a := range s.Alerts {
		if i == 0 {
			p.line("")
		}
		p.text("! ", a.Text, plainly)
	}
	if rows := processRows(s, words); len(rows) > 1 {
		p.line("")
		p.aligned("", p.narrowed(rows, width, "<tablehead.type", "tablehead.host", "CPU", "tablehead.time", "SM", "<tablehead.user", "tablehead.peak"))
	}
}

const nameTitle = "<once.name"

// A title or cell that begins with '<' stands left; others stand right. A title is a sentence, or stands as it is in every language.
func gpuRows(s *sampler.Snapshot, words lang.Catalog) [][]string {
	rows := [][]string{{"GPU", nameTitle, "once.temp", "once.power", "once.util", "once.used", "tablehead.peak", "once.free", "once.at_worst", "once.total", "<"}}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		m := &g.Memory
		peak := sampler.Opt[sampler.Bytes]{}
		if m.Peak != nil {
			peak = sampler.Some(m.Peak.Bytes)
		}
		note := words.Reason(g.Error.Or(""))
		if m.SharedWithHost && note == "" {
			note = words.Say("report.shared")
		}
		rows = append(rows, []string{g.Label(), "<" + g.Name, opt(g.Temperature, "%dC"), power(g), opt(g.Utilization.GPU, "%d%%"),
			size(m.Used), size(peak), free(m.Free), free(m.WorstFree), size(m.Total), "<" + note})
	}
	return rows
}

func processRows(s *sampler.Snapshot, words lang.Catalog) [][]string {
	rows := [][]string{{"GPU", "PID", "<tablehead.user", "<tablehead.type", "SM", "once.memory", "tablehead.peak", "CPU", "tablehead.host", "tablehead.time", "<tablehead.command"}}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		for j := range g.Processes {
			p := &g.Processes[j]
			age := "N/A"
			if t, ok := p.StartTime.Value(); ok {
				age = Runtime(s.Time.Sub(t))
			}
			peak := sampler.Opt[sampler.Bytes]{}
			if p.Peak != nil {
				peak = sampler.Some(p.Peak.Bytes)
			}
			command := p.Command
			switch {
			case p.Ended:
				command = words.Say("table.ended", "command", cmp.Or(command, p.Name))
			case command == "" && !p.Visible:
				command = words.Say("report.now_other")
			case command == "":
				command = p.Name
			}
			rows = append(rows, []string{g.Label(), fmt.Sprint(p.PID), "<" + p.User, "<" + p.Type, opt(p.SM, "%d%%"),
				size(p.Memory), size(peak), opt(p.CPU, "%.0f%%"), size(p.HostMemory), age, "<" + command})
		}
		if un := g.Memory.Unattributed.Or(0); un > 0 {
			rows = append(rows, []string{g.Label(), "-", "<", "<", "", un.String(), "", "", "", "", "<" + words.Say("report.unattributed")})
		}
	}
	return rows
}

func power(g *sampler.GPU) string {
	w, ok := g.Power.Value()
	if !ok {
		return "N/A"
	}
	if limit, ok := g.PowerLimit.Value(); ok {
		return fmt.Sprintf("%.0f/%.0fW", w, limit)
	}
	return fmt.Sprintf("%.0fW", w)
}

func opt[T comparable](o sampler.Opt[T], format string) string {
	if v, ok := o.Value(); ok {
		return fmt.Sprintf(format, v)
	}
	return "N/A"
}

// leastLast is the room that the last column gets before others are left out, leastName that of the names of GPUs.
const (
	leastLast = 24
	leastName = 24
)

// narrowed puts the titles into words and leaves columns out, in this order, until the rest fits into a width (0: any does), and gives
// names what that leaves.
func (p *page) narrowed(rows [][]string, width int, titles ...string) [][]string {
	ids := slices.Clone(rows[0])
	for i, id := range ids {
		side, name := "", id
		if strings.HasPrefix(id, "<") {
			side, name = "<", id[1:]
		}
		if p.words.Has(name) {
			rows[0][i] = side + strings.ToUpper(p.words.Say(name))
		}
	}
	if width == 0 {
		return rows
	}
	least := func() int { return leastWidth(rows, slices.Index(ids, nameTitle)) }
	for _, title := range titles {
		if i := slices.Index(ids, title); i >= 0 && least() > width {
			ids = slices.Delete(ids, i, i+1)
			for k := range rows {
				rows[k] = slices.Delete(rows[k], i, i+1)
			}
		}
	}
	if i := slices.Index(ids, nameTitle); i >= 0 {
		room := leastName + max(0, width-least())
		for k := range rows {
			rows[k][i] = "<" + cut(strings.TrimPrefix(rows[k][i], "<"), room)
		}
	}
	return rows
}

// leastWidth is what rows take at least, with names, which are in a column, and the last column as short as they may be.
func leastWidth(rows [][]string, names int) (sum int) {
	for i, w := range columnWidths(rows) {
		switch {
		case i == len(rows[0])-1:
			w = min(w, leastLast)
		case i == names:
			w = min(w, leastName)
		}
		if sum += w; i > 0 && w > 0 {
			sum += 2
		}
	}
	return sum
}

func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], columns(strings.TrimPrefix(text, "<")))
		}
	}
	return widths
}

// aligned writes rows with their columns aligned, each line cut to the width. The texts are clean already.
func (p *page) aligned(indent string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		for i := range row {
			row[i] = strings.Map(narrow, row[i])
		}
	}
	widths := columnWidths(rows)
	for _, row := range rows {
		b := strings.Builder{}
		b.WriteString(indent)
		for i, text := range row {
			left := strings.TrimPrefix(text, "<")
			pad := strings.Repeat(" ", widths[i]-columns(left))
			if left != text || text == "<" {
				b.WriteString(left + pad + "  ")
			} else {
				b.WriteString(pad + text + "  ")
			}
		}
		p.line(cut(strings.TrimRight(b.String(), " "), p.width))
	}
}
