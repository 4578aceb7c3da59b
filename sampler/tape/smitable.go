package tape

import (
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// smiTable decodes `nvidia-smi -l 1 > log`: the table for people, over and over. Its widths and
// titles change from driver to driver; what a cell holds is told by its form, not by its place.
//
//	Mon Nov 23 14:03:22 2026          a new sweep
//	| NVIDIA-SMI … Driver Version …   the GPUs follow, two or three rows each
//	| MIG devices:                    one row each, and one of BAR1
//	| Processes:                      one row each
type smiTable struct {
	foreign
	part   tablePart
	rows   int  // of the GPU that is being read
	closed bool // the table ends with the line read last
	lists  bool // tables of this log end with the processes
}

type tablePart int

const (
	partHead tablePart = iota
	partGPUs
	partMIG
	partProcesses
)

var (
	tableHead   = sampler.Pattern{Source: `\|\s*NVIDIA-SMI\s+v?(\d[\w.]*).*Version:\s*(\S+)`}
	tableDriver = sampler.Pattern{Source: `(?:Driver|KMD) Version:\s*(\d[\w.]*)`}
	tableCUDA   = sampler.Pattern{Source: `CUDA(?: UMD)? Version:\s*(\d[\w.]*)`}
	gpuName     = sampler.Pattern{Source: `^\s*(\d{1,4})\.?\s+(\S.*?)(?:\s+(?:On|Off|N/A|WDDM|TCC|MCDM|Enabled|Disabled))?\s*$`}
	busID       = sampler.Pattern{Source: `\b[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\b`}
	memoryCell  = sampler.Pattern{Source: `(\d+)\s*Mi?B\s*/\s*(\d+)\s*Mi?B`}
	percentCell = sampler.Pattern{Source: `^\s*(\d+)\s*%`}
	heatCell    = sampler.Pattern{Source: `\b(\d+)\s?C\b`}
	stateCell   = sampler.Pattern{Source: `\bP\d{1,2}\b`}
	powerCell   = sampler.Pattern{Source: `(\d+)W\s*/\s*(\S+)`}
	migCell     = sampler.Pattern{Source: `^\s*(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s*$`}
	processRow  = sampler.Pattern{Source: `^\s*(\d{1,4})\s+(?:(\d{1,4}|N/A)\s+(\d{1,4}|N/A)\s+)?(\d{1,10})\s+(?:(C|G|C\+G|M|M\+C)\s+)?(\S.*?)(?:\s+(\d+\s?Mi?B|N/A|Not Supported|Insufficient Permissions|Unknown Error))?\s*$`}
)

func openSMITable(line string, _ []byte) (decoder, error) {
	if !tableHead.Get().MatchString(line) {
		return nil, nil
	}
	return &smiTable{}, nil
}

func (t *smiTable) restart() { *t = smiTable{} }

func (t *smiTable) line(p *progress, b []byte, out *Record) error {
	text := plainLine(b)
	switch {
	case text == "" || strings.Trim(text, "+-=|") == "":
		t.rule(text)
		return errNone
	case strings.HasPrefix(text, "|"):
		if tableHead.Get().MatchString(text) {
			return t.head(p, text, out)
		}
		return t.row(text)
	}
	t.closed = false
	if at, ok := parseClock(text); ok {
		return t.next(p, at, out)
	}
	return errLine
}

// rule takes a line that separates.
func (t *smiTable) rule(text string) {
	if strings.HasPrefix(text, "+") {
		t.rows, t.closed = 0, t.part != partHead
	}
}

// next begins a sweep, and gives the one before.
func (t *smiTable) next(p *progress, at time.Time, out *Record) error {
	given := t.give(p, out)
	t.begin(t.line1, at)
	t.part, t.rows, t.closed = partHead, 0, false
	t.line1 = 0
	if given {
		return nil
	}
	return errNone
}

// head takes the line of versions. A log without the lines of time has only it to begin a sweep.
func (t *smiTable) head(p *progress, text string, out *Record) error {
	line, result := out.Line, errNone
	if t.part != partHead {
		result = t.next(p, time.Time{}, out)
	}
	if m := tableDriver.Get().FindStringSubmatch(text); m != nil {
		t.sweep.Driver = m[1]
	}
	if m := tableCUDA.Get().FindStringSubmatch(text); m != nil {
		t.sweep.CUDA = m[1]
	}
	t.part, t.line1 = partGPUs, line
	return result
}

func (t *smiTable) row(text string) error {
	t.closed = false
	text = strings.TrimSuffix(strings.TrimPrefix(text, "|"), "|")
	switch title := strings.TrimSpace(text); {
	case strings.HasPrefix(title, "MIG devices:"):
		t.part = partMIG
		return errNone
	case strings.HasPrefix(title, "Processes:"), strings.HasPrefix(title, "Compute processes:"):
		t.part, t.lists = partProcesses, true
		return errNone
	}
	cells := strings.Split(text, "|")
	switch {
	case t.part == partProcesses:
		return t.processRow(text)
	case len(cells) < 3:
	case t.part == partGPUs:
		t.gpuRow(cells)
	case t.part == partMIG:
		t.migRow(cells)
	}
	return errNone
}

// gpuRow takes one of the rows of a GPU: its name and bus id, then its figures.
func (t *smiTable) gpuRow(cells []string) {
	pci := busID.Get().FindString(cells[1])
	if name := gpuName.Get().FindStringSubmatch(cells[0]); name != nil && (pci != "" || strings.Contains(cells[0], "ERR!")) && t.rows == 0 {
		index, _ := strconv.Atoi(name[1])
		if !t.meter.within(index+1, maxDevices, badIndex) {
			return
		}
		g := sampler.GPU{Index: index, Name: name[2], PCI: pci}
		if n := whole(cells[2]); n.Known() {
			g.ECCUncorrected = sampler.Some(uint64(max(n.Or(0), 0)))
		}
		if t.gpu(g) != nil {
			t.rows = 1
		}
		return
	}
	if g := t.last(); g != nil && t.rows == 1 {
		t.rows = 2
		figures(g, cells, &t.meter)
	}
}

// figures takes the second row of a GPU.
func figures(g *sampler.GPU, cells []string, flaw *meter) {
	if m := memoryCell.Get().FindStringSubmatch(cells[1]); m != nil {
		g.Memory.Used, g.Memory.Total = mebibytes(m[1]), mebibytes(m[2])
		flaw.flaws[badAmount] = flaw.flaws[badAmount] || !g.Memory.Used.Known() || !g.Memory.Total.Known()
	} else if strings.Contains(cells[1], "GPU is lost") || strings.Contains(cells[1], "Unknown Error") {
		g.Error = sampler.Some(strings.TrimSpace(cells[1]))
	}
	if m := percentCell.Get().FindStringSubmatch(cells[2]); m != nil {
		g.Utilization.GPU = whole(m[1])
	}
	if m := percentCell.Get().FindStringSubmatch(cells[0]); m != nil {
		g.Fan = whole(m[1])
	}
	if m := heatCell.Get().FindStringSubmatch(cells[0]); m != nil {
		g.Temperature = whole(m[1])
	}
	if state := stateCell.Get().FindString(cells[0]); state != "" {
		g.PerformanceState = sampler.Some(state)
	}
	if m := powerCell.Get().FindStringSubmatch(cells[0]); m != nil {
		g.Power, g.PowerLimit = watts(m[1]), watts(m[2])
	}
}

// migRow takes the row of an instance; the one of its BAR1 below has no numbers before it.
func (t *smiTable) migRow(cells []string) {
	id, memory := migCell.Get().FindStringSubmatch(cells[0]), memoryCell.Get().FindStringSubmatch(cells[1])
	if id == nil || memory == nil {
		return
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(id[i+1])
	}
	g := sampler.GPU{Index: n[0], MIG: &sampler.MIG{Index: n[3], GPUInstance: n[1], ComputeInstance: n[2]}}
	if parent := t.find(n[0], "", ""); parent != nil {
		g.Name, g.PCI = parent.Name, parent.PCI
	}
	g.Memory.Used, g.Memory.Total = mebibytes(memory[1]), mebibytes(memory[2])
	t.gpu(g)
}

func (t *smiTable) processRow(text string) error {
	m := processRow.Get().FindStringSubmatch(text)
	if m == nil {
		return errNone // a title
	}
	index, _ := strconv.Atoi(m[1])
	pid, err := strconv.ParseInt(m[4], 10, 32)
	if err != nil {
		return errLine
	}
	t.process(t.find(index, m[2], m[3]), int(pid), m[5], m[6], mebibytes(m[7]))
	return errNone
}

// find is the MIG instance with these ids, or the GPU itself.
func (t *smiTable) find(index int, gi, ci string) (found *sampler.GPU) {
	for i := range t.sweep.GPUs {
		g := &t.sweep.GPUs[i]
		switch {
		case g.Index != index:
		case g.MIG == nil && found == nil:
			found = g
		case g.MIG != nil && gi == strconv.Itoa(g.MIG.GPUInstance) && ci == strconv.Itoa(g.MIG.ComputeInstance):
			return g
		}
	}
	return found
}

// end gives the last sweep, but not one that was cut: the GPUs and processes that are missing
// would seem to be gone.
func (t *smiTable) end(p *progress, out *Record) bool {
	whole := t.closed && (t.part == partProcesses || !t.lists)
	if !whole && len(t.sweep.GPUs) > 0 {
		p.notes.cut = out.Line
		if t.given > 0 {
			return false
		}
	}
	return t.give(p, out)
}
