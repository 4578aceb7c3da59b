package tape

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

// csvLog decodes logs of `nvidia-smi --query-gpu=… --format=csv`. Every line is one GPU;
// the lines of one sweep make a snapshot, which is given when the next sweep begins.
type csvLog struct {
	columns *csvColumns
	driver  string
	group   []sampler.GPU
	at      time.Time
	line1   int // the first line of the group
	sweeps  int
	untimed bool
	dates   csvDates
	totals  map[sampler.GPUKey]sampler.Bytes // of each GPU as it was first
}

// csvColumns is what one line of names says.
type csvColumns struct {
	separator string
	names     []string
	units     []string
	set       []func(*sampler.GPU, cell)
	twice     []string // names that come again
}

func (c *csvLog) restart() { c.group, c.sweeps = nil, 0 }

// csvHeader reads a line of column names such as "timestamp, memory.used [MiB]". One word
// that happens to be a column name does not make a line one.
func csvHeader(line []byte) (*csvColumns, bool) {
	c := &csvColumns{separator: separator(string(line))}
	known := 0
	for _, name := range splitAt(string(line), c.separator) {
		name, unit, _ := strings.Cut(name, "[")
		name = strings.ToLower(strings.TrimSpace(name))
		set, ok := csvRow(name)
		if (ok || name == "timestamp") && c.has(name) {
			c.twice, set, name = append(c.twice, name), nil, "" // the first one counts
		}
		if ok {
			known++
		}
		if name == "timestamp" || strings.HasPrefix(name, "memory.") {
			known += 2 // nothing else is called that
		}
		c.names = append(c.names, name)
		c.units = append(c.units, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(unit), "]")))
		c.set = append(c.set, set)
	}
	return c, known > 1
}

func (c *csvColumns) has(name string) bool {
	return slices.Contains(c.names, name)
}

// hasMemory says whether the used memory is known.
func (c *csvColumns) hasMemory() bool {
	return c.has("memory.used") || c.has("memory.total") && c.has("memory.free")
}

// looksLikeRows says whether a text without column names may be such a log.
func looksLikeRows(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.IndexByte(line, ',') > 0 && (bytes.Contains(line, []byte(" MiB")) || bytes.Contains(line, []byte(" %")))
}

func (c *csvLog) line(p *progress, b []byte, out *Record) error {
	var m meter
	if len(bytes.Trim(b, ",; \t")) == 0 { // commas and nothing between them
		m.flaws[badCells] = c.columns != nil && bytes.Count(b, []byte(c.columns.separator)) >= len(c.columns.names)
		p.notes.flawed(out.Line, &m)
		return errLine
	}
	if columns, ok := csvHeader(b); ok { // once, or again and again
		if !columns.hasMemory() {
			return errLine
		}
		c.begin(p, columns, out.Line)
		if !columns.has("timestamp") {
			c.untimed = true
			p.untimed()
		}
		return errNone
	}
	if c.columns == nil {
		return errLine // something before the first names
	}
	defer p.notes.flawed(out.Line, &m)
	cells := splitAt(string(b), c.columns.separator)
	m.flaws[badCells] = len(cells) > len(c.columns.names)
	if len(cells) != len(c.columns.names) {
		return errLine
	}
	g, at, ok := c.row(cells, &m)
	if !ok {
		return errLine
	}
	n := out.Line
	if c.begins(&g, at) {
		c.give(p, out)
	}
	if len(c.group) == 0 {
		c.at, c.line1 = at, n
	}
	if !c.columns.has("index") {
		g.Index = len(c.group)
	}
	if len(c.group) < maxDevices {
		c.group = append(c.group, g)
	}
	if out.Snapshot == nil {
		return errNone
	}
	return nil
}

// begin takes a line of names.
func (c *csvLog) begin(p *progress, columns *csvColumns, line int) {
	if c.columns == nil {
		for _, name := range columns.twice {
			p.notes.add("tape.csv_twice", "line", line, "name", name)
		}
		if len(columns.names) >= maxCells {
			p.notes.add("tape.csv_columns", "line", line, "most", maxCells)
		}
	}
	c.columns = columns
}

// row reads one line. It is no row when its time or its memory cannot be read at all.
func (c *csvLog) row(cells []string, m *meter) (g sampler.GPU, at time.Time, ok bool) {
	g.Throttle, g.Processes = []string{}, []sampler.Process{}
	for i, text := range cells {
		switch name := c.columns.names[i]; {
		case name == "timestamp":
			at, ok = c.dates.parse(text, m)
			if !ok {
				m.flaws[badTime] = true
				return g, at, false
			}
		case name == "driver_version":
			c.driver = text
		case c.columns.set[i] != nil:
			value := cell{text, c.columns.units[i]}
			if strings.HasPrefix(name, "memory.") && !noValue(text) && !value.amount(m) || name == "index" && !value.index(m) {
				return g, at, false
			}
			c.columns.set[i](&g, value)
		}
		if s := strings.Trim(text, "[] "); s == "GPU is lost" || s == "Unknown Error" {
			g.Error = sampler.Some(s)
		}
	}
	c.judgeTotal(&g, m)
	fillDerived(&g, true, m)
	return g, at, true
}

// judgeTotal notes a GPU without memory, and one whose memory is not what it was.
func (c *csvLog) judgeTotal(g *sampler.GPU, m *meter) {
	total, known := g.Memory.Total.Value()
	if !known {
		return
	}
	m.flaws[noTotal] = total == 0
	first, seen := c.totals[g.Key()]
	switch {
	case seen:
		m.flaws[otherTotal] = total != first
	case len(c.totals) < maxGPUs:
		if c.totals == nil {
			c.totals = map[sampler.GPUKey]sampler.Bytes{}
		}
		c.totals[g.Key()] = total
	}
}

// begins says whether the row is of the next sweep: its GPU comes not after the last one
// in order, or the time is another where nothing names the GPU.
func (c *csvLog) begins(g *sampler.GPU, at time.Time) bool {
	if len(c.group) == 0 {
		return false
	}
	last := &c.group[len(c.group)-1]
	switch {
	case c.columns.has("index"):
		return g.Index <= last.Index
	case g.UUID != "" || g.PCI != "":
		return slices.ContainsFunc(c.group, func(o sampler.GPU) bool { return o.UUID == g.UUID && o.PCI == g.PCI })
	case c.untimed:
		return true // nothing distinguishes GPUs: there is one
	}
	return !at.Equal(c.at)
}

// give makes a snapshot of the sweep so far.
func (c *csvLog) give(p *progress, out *Record) bool {
	if len(c.group) == 0 {
		return false
	}
	at := c.at
	if c.untimed {
		at = p.undated(c.sweeps)
	}
	c.sweeps++
	out.Line, out.Time = c.line1, at
	out.Snapshot = &sampler.Snapshot{Type: "snapshot", Schema: sampler.Schema, Time: at, Driver: c.driver,
		GPUs: c.group, Alerts: []sampler.Alert{}}
	c.group = nil
	return true
}

func (c *csvLog) end(p *progress, out *Record) bool { return c.give(p, out) }
