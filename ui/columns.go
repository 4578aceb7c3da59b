package ui

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/plain"
)

// procRow is one row of the process table: a process on one GPU, or what is used by no
// process the driver names (proc nil).
type procRow struct {
	gpu  *sampler.GPU
	proc *sampler.Process
	v    *view
}

// key is the identity that the cursor follows.
func (p procRow) key() sampler.ProcessKey {
	if p.proc == nil {
		return sampler.ProcessKey{GPU: p.gpu.Key()}
	}
	return p.proc.Key(p.gpu.Key())
}

func (p procRow) memory() sampler.Opt[sampler.Bytes] {
	if p.proc == nil {
		return p.gpu.Memory.Unattributed
	}
	return p.proc.Memory
}

// column of the process table. A new one is one row of columns.
type column struct {
	title string
	width int  // of the text; the last column takes what is left
	rank  int  // columns with a low rank stay when there is little room
	left  bool // aligned
	down  bool // sorts from large to small first
	role  func(procRow) theme.Role
	text  func(procRow) string
	order func(a, b procRow) int
}

// noOrder: unknown sorts below everything.
func byOpt[T cmp.Ordered](of func(procRow) sampler.Opt[T]) func(a, b procRow) int {
	return func(a, b procRow) int {
		x, xok := of(a).Value()
		y, yok := of(b).Value()
		if !xok || !yok {
			return boolInt(xok) - boolInt(yok)
		}
		return cmp.Compare(x, y)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func byText(of func(procRow) string) func(a, b procRow) int {
	return func(a, b procRow) int { return strings.Compare(of(a), of(b)) }
}

func always(r theme.Role) func(procRow) theme.Role { return func(procRow) theme.Role { return r } }

// ofProc reads an optional figure of a process; the unattributed row has none.
func ofProc[T any](of func(*sampler.Process) sampler.Opt[T]) func(procRow) sampler.Opt[T] {
	return func(r procRow) sampler.Opt[T] {
		if r.proc == nil {
			return sampler.Opt[T]{}
		}
		return of(r.proc)
	}
}

// shown formats an optional figure; nothing at all for the unattributed row.
func shown[T any](of func(procRow) sampler.Opt[T], format func(T) string) func(procRow) string {
	return func(r procRow) string {
		if x, ok := of(r).Value(); ok {
			return format(x)
		}
		return pick(r.proc == nil, "", notAvailable)
	}
}

func word(of func(*sampler.Process) string) func(procRow) string {
	return func(r procRow) string {
		if r.proc == nil {
			return ""
		}
		return of(r.proc)
	}
}

var (
	memoryOf = func(r procRow) sampler.Opt[sampler.Bytes] { return r.memory() }
	// roughMemory is in steps of a 32nd of the card: rows must not change places because
	// of what two processes allocate from second to second.
	roughMemory = func(r procRow) sampler.Opt[sampler.Bytes] {
		b, ok := r.memory().Value()
		if !ok {
			return sampler.Opt[sampler.Bytes]{}
		}
		return sampler.Some(b / max(r.gpu.Memory.Total.Or(0)/32, 1))
	}
	peakOf = ofProc(func(p *sampler.Process) sampler.Opt[sampler.Bytes] {
		if p.Peak == nil {
			return sampler.Opt[sampler.Bytes]{}
		}
		return sampler.Some(p.Peak.Bytes)
	})
	smOf   = ofProc(func(p *sampler.Process) sampler.Opt[int] { return p.SM })
	cpuOf  = ofProc(func(p *sampler.Process) sampler.Opt[float64] { return p.CPU })
	hostOf = ofProc(func(p *sampler.Process) sampler.Opt[sampler.Bytes] { return p.HostMemory })
	ageOf  = func(r procRow) sampler.Opt[float64] {
		if r.proc == nil {
			return sampler.Opt[float64]{}
		}
		if t, ok := r.proc.StartTime.Value(); ok {
			return sampler.Some(r.v.now().Sub(t).Seconds())
		}
		return sampler.Opt[float64]{}
	}
	userOf      = word(func(p *sampler.Process) string { return p.User })
	typeOf      = word(func(p *sampler.Process) string { return shortType(p.Type) })
	containerOf = word(func(p *sampler.Process) string { return p.Container.Or("") })
)

func shortType(t string) string {
	switch t {
	case "compute":
		return "C"
	case "graphics":
		return "G"
	case "compute+graphics":
		return "C+G"
	case "mps":
		return "M"
	}
	return t
}

func commandOf(r procRow) string {
	switch {
	case r.proc == nil:
		return "unattributed: used, but by no process the driver names"
	case !r.proc.Visible && r.proc.Command == "":
		return "(process of another pid namespace)"
	case r.proc.Command != "":
		return r.proc.Command
	}
	return r.proc.Name
}

func memoryRole(r procRow) theme.Role { return pick(r.proc == nil, theme.Unknown, theme.Strong) }

var columns = []column{
	{"PID", 7, 0, false, false, always(theme.Text), func(r procRow) string {
		if r.proc == nil {
			return "-"
		}
		return strconv.Itoa(r.proc.PID)
	}, func(a, b procRow) int { return cmp.Compare(pidOf(a), pidOf(b)) }},
	{"USER", 8, 3, true, false, always(theme.Dim), userOf, byText(userOf)},
	{"GPU", 4, 2, false, false, always(theme.Text), func(r procRow) string { return r.gpu.Label() },
		func(a, b procRow) int {
			return cmp.Or(cmp.Compare(a.gpu.Index, b.gpu.Index), strings.Compare(a.gpu.Label(), b.gpu.Label()))
		}},
	{"TYPE", 4, 8, true, false, always(theme.Dim), typeOf, byText(typeOf)},
	{"SM%", 4, 4, false, true, always(theme.Util), shown(smOf, strconv.Itoa), byOpt(smOf)},
	{"GPU MEM", 9, 0, false, true, memoryRole, func(r procRow) string {
		if b, ok := r.memory().Value(); ok {
			return b.String()
		}
		return notAvailable
	}, byOpt(roughMemory)},
	{"▲PEAK", 9, 1, false, true, always(theme.Peak), shown(peakOf, sampler.Bytes.String), byOpt(peakOf)},
	{"SHARE", 8, 9, true, true, memoryRole, nil, byOpt(memoryOf)},
	{"CPU%", 5, 7, false, true, always(theme.Dim), shown(cpuOf, func(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }), byOpt(cpuOf)},
	{"HOST", 6, 5, false, true, always(theme.Dim), shown(hostOf, sampler.Bytes.Short), byOpt(hostOf)},
	{"TIME", 7, 6, false, true, always(theme.Dim), shown(ageOf, func(s float64) string { return plain.Runtime(seconds(s)) }), byOpt(ageOf)},
	{"CONTAINER", 19, 10, true, false, always(theme.Dim), containerOf, byText(containerOf)},
	{"COMMAND", 8, 0, true, false, always(theme.Text), commandOf, byText(commandOf)},
}

// sortMemory is the column by which the table is sorted at first.
const sortMemory = 5

func pidOf(r procRow) int {
	if r.proc == nil {
		return 0
	}
	return r.proc.PID
}

// processRows lists the processes of the GPUs that are shown, sorted.
func processRows(v *view) []procRow {
	var rows []procRow
	for i := range v.snap.GPUs {
		g := &v.snap.GPUs[i]
		if v.focus >= 0 && i != v.focus {
			continue
		}
		for j := range g.Processes {
			rows = append(rows, procRow{g, &g.Processes[j], v})
		}
		if un := g.Memory.Unattributed.Or(0); un >= max(unattributedRow, g.Memory.Total.Or(0)/200) {
			rows = append(rows, procRow{g, nil, v})
		}
	}
	col := columns[v.sort]
	sort.SliceStable(rows, func(i, j int) bool {
		n := col.order(rows[i], rows[j])
		if n == 0 {
			return false
		}
		return (n < 0) != (col.down != v.reverse)
	})
	return rows
}

// unattributedRow is the least unattributed memory that gets a row of its own, or half a
// percent of the card: less is what moved between two readings.
const unattributedRow = 64 * sampler.MiB

// commandWidth is what columns of high rank leave to the command line.
const commandWidth = 40

// fitting are the columns that fit, in order; the last one takes the rest.
func fitting(w int, containers bool) []int {
	var kept []int
	byRank := make([]int, len(columns))
	for i := range byRank {
		byRank[i] = i
	}
	sort.SliceStable(byRank, func(i, j int) bool { return columns[byRank[i]].rank < columns[byRank[j]].rank })
	left := w - 2
	for _, i := range byRank {
		if columns[i].title == "CONTAINER" && !containers {
			continue
		}
		need := columns[i].width + 1
		if need > left || columns[i].rank > 4 && need > left-commandWidth+columns[len(columns)-1].width {
			break
		}
		left -= need
		kept = append(kept, i)
	}
	sort.Ints(kept)
	return kept
}

func (c column) format(r procRow, w int) string {
	text := c.text(r)
	if c.left {
		return text
	}
	return fmt.Sprintf("%*s", w, text)
}
