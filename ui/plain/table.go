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
// so many columns (0: it is none) they leave out what is no memory, and no line is longer.
func Table(w io.Writer, s *sampler.Snapshot, label string, width int, words lang.Catalog) error {
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
	if _, err := fmt.Fprintf(w, "%s\n\n", strings.Join(head, "  ")); err != nil {
		return err
	}
	if err := write(w, narrowed(gpuRows(s, words), width, "TEMP", "POWER", "UTIL"), width); err != nil {
		return err
	}
	gap := "\n"
	for _, a := range s.Alerts {
		if _, err := fmt.Fprintf(w, "%s! %s\n", gap, a.Text); err != nil {
			return err
		}
		gap = ""
	}
	rows := processRows(s, words)
	if len(rows) == 1 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return write(w, narrowed(rows, width, "<TYPE", "HOST", "CPU", "TIME", "SM", "<USER"), width)
}

// A title or cell that begins with '<' stands left; others stand right.
func gpuRows(s *sampler.Snapshot, words lang.Catalog) [][]string {
	rows := [][]string{{"GPU", "<NAME", "TEMP", "POWER", "UTIL", "USED", "PEAK", "FREE", "AT WORST", "TOTAL", "<"}}
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
	rows := [][]string{{"GPU", "PID", "<USER", "<TYPE", "SM", "MEMORY", "PEAK", "CPU", "HOST", "TIME", "<COMMAND"}}
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

// leastLast is the room that the last column gets before others are left out.
const leastLast = 24

// narrowed leaves columns out, in this order, until the rest fits into a width.
func narrowed(rows [][]string, width int, titles ...string) [][]string {
	for _, title := range titles {
		widths, sum := columnWidths(rows), 0
		widths[len(widths)-1] = min(widths[len(widths)-1], leastLast)
		for _, w := range widths {
			sum += w + 2
		}
		i := slices.Index(rows[0], title)
		if width == 0 || sum-2 <= width || i < 0 {
			continue
		}
		for k := range rows {
			rows[k] = slices.Delete(rows[k], i, i+1)
		}
	}
	return rows
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

// write aligns the columns of the rows, and cuts lines that are wider than a width; 0: none is. The texts are clean already.
func write(w io.Writer, rows [][]string, width int) error {
	for _, row := range rows {
		for i := range row {
			row[i] = strings.Map(narrow, row[i])
		}
	}
	widths := columnWidths(rows)
	for _, row := range rows {
		var b strings.Builder
		for i, text := range row {
			left := strings.TrimPrefix(text, "<")
			pad := strings.Repeat(" ", widths[i]-columns(left))
			if left != text || text == "<" {
				b.WriteString(left + pad + "  ")
			} else {
				b.WriteString(pad + text + "  ")
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if width > 0 {
			line = cut(line, width)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}
