package ui

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/plain"
)

var (
	memoryOf = func(r procRow) sampler.Opt[sampler.Bytes] { return r.memory() }
	peakOf   = ofProc(func(p *sampler.Process) sampler.Opt[sampler.Bytes] {
		if p.Peak == nil {
			return sampler.Opt[sampler.Bytes]{}
		}
		return sampler.Some(p.Peak.Bytes)
	})
	smOf   = ofProc(func(p *sampler.Process) sampler.Opt[int] { return p.SM })
	cpuOf  = ofProc(func(p *sampler.Process) sampler.Opt[float64] { return p.CPU })
	hostOf = ofProc(func(p *sampler.Process) sampler.Opt[sampler.Bytes] { return p.HostMemory })
	ageOf  = func(r procRow) sampler.Opt[time.Duration] {
		if r.proc == nil {
			return sampler.Opt[time.Duration]{}
		}
		if t, ok := r.proc.StartTime.Value(); ok {
			return sampler.Some(r.snap.Time.Sub(t))
		}
		return sampler.Opt[time.Duration]{}
	}
	// nodeOf is not called host: that is the memory of one.
	nodeOf = func(r procRow) string { return cmp.Or(r.machine(), r.snap.Host) }
	userOf = word(func(p *sampler.Process) string { return p.User })
	typeOf = word(func(p *sampler.Process) string { return shortType(p.Type) })
	// englishCommand orders the rows; the last column is drawn in the language of the screen.
	englishCommand = func(r procRow) string { return commandOf(r, lang.English()) }
	containerOf    = word(func(p *sampler.Process) string { return p.Container.Or("") })
)

func memoryRole(r procRow) theme.Role { return pick(r.proc == nil, theme.Unknown, theme.Strong) }

// Titles by which a column is found.
const (
	titleMemory    = "GPU MEM"
	titleHistory   = "HISTORY"
	titlePeak      = "▲PEAK"
	titleContainer = "CONTAINER"
	titleNode      = "NODE"
)

var columns = []column{
	{"PID", 7, 0, false, false, always(theme.Text), func(r procRow) string {
		if r.proc == nil {
			return "-"
		}
		return strconv.Itoa(r.proc.PID)
	}, func(a, b procRow) int { return cmp.Compare(pidOf(a), pidOf(b)) }},
	{titleNode, 12, 0, true, false, always(theme.Accent), nodeOf, byText(nodeOf)},
	{"USER", 8, 3, true, false, always(theme.Dim), userOf, byText(userOf)},
	{"GPU", 4, 2, false, false, always(theme.Text), func(r procRow) string { return r.gpu.Label() },
		func(a, b procRow) int {
			return cmp.Or(cmp.Compare(a.gpu.Index, b.gpu.Index), strings.Compare(a.gpu.Label(), b.gpu.Label()))
		}},
	{"TYPE", 4, 8, true, false, always(theme.Dim), typeOf, byText(typeOf)},
	{"SM%", 4, 4, false, true, always(theme.Util), formatted(smOf, strconv.Itoa), byOpt(smOf)},
	{titleMemory, 9, 0, false, true, memoryRole, func(r procRow) string {
		if b, ok := r.memory().Value(); ok {
			return b.String()
		}
		return notAvailable
	}, byOpt(memoryOf)},
	{titlePeak, 9, 1, false, true, nil, formatted(peakOf, sampler.Bytes.String), byOpt(peakOf)},
	{"SHARE", 8, 9, true, true, memoryRole, nil, nil},
	{titleHistory, 12, 9, true, true, nil, nil, nil},
	{"CPU%", 5, 7, false, true, always(theme.Dim), formatted(cpuOf, func(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }), byOpt(cpuOf)},
	{"HOST", 6, 5, false, true, always(theme.Dim), formatted(hostOf, sampler.Bytes.Short), byOpt(hostOf)},
	{"TIME", 7, 6, false, true, always(theme.Dim), formatted(ageOf, plain.Runtime), byOpt(ageOf)},
	{titleContainer, 19, 10, true, false, always(theme.Dim), containerOf, byText(containerOf)},
	{titleCommand, 8, 0, true, false, always(theme.Text), englishCommand, byText(englishCommand)},
}

// sortMemory is the column by which the table is sorted at first.
var sortMemory = slices.IndexFunc(columns, func(c column) bool { return c.title == titleMemory })

// titleCommand is the column that takes what the others leave.
const titleCommand = "COMMAND"

// ColumnNames are the names of the columns, as --columns and --sort take them.
func ColumnNames() (names []string) {
	for _, c := range columns {
		names = append(names, c.name())
	}
	return names
}

// SortNames are those of the columns that the table can be sorted by.
func SortNames() (names []string) {
	for _, c := range columns {
		if c.order != nil {
			names = append(names, c.name())
		}
	}
	return names
}

// columnNamed is the column of a name; -1: there is none.
func columnNamed(name string) int { return slices.Index(ColumnNames(), name) }

// NoColumnError is the name of a column that there is not.
type NoColumnError struct{ Name string }

func (e *NoColumnError) Error() string {
	return fmt.Sprintf("there is no column %q: %s", e.Name, strings.Join(ColumnNames(), ", "))
}

// ParseColumns reads names of columns with commas between them, each at most once.
func ParseColumns(text string) (names []string, err error) {
	for _, name := range strings.Split(text, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case columnNamed(name) < 0:
			return nil, &NoColumnError{name}
		case slices.Contains(names, name):
			return nil, fmt.Errorf("the column %s stands twice in %q", name, text)
		}
		names = append(names, name)
	}
	return names, nil
}

// choose takes the columns of those names; none: as many as matter and fit.
func (t *table) choose(names []string) {
	t.columns = nil
	for _, name := range names {
		t.columns = append(t.columns, columnNamed(name))
	}
}

// sortBy sorts by the column of that name, the other way round with a dash before it. An empty name: by memory.
func (t *table) sortBy(name string) {
	name, t.reverse = strings.CutPrefix(name, "-")
	t.sort = pick(name == "", sortMemory, columnNamed(name))
}

// commandWidth is what columns of high rank leave to the command line.
const commandWidth = 40

// fitting are the columns that fit: the chosen ones in their order, or all that matter. A row of several machines always
// names its own.
func fitting(w int, containers, several bool, chosen []int) []int {
	node := slices.IndexFunc(columns, func(c column) bool { return c.title == titleNode })
	if several && chosen != nil && !slices.Contains(chosen, node) {
		chosen = slices.Insert(slices.Clone(chosen), 0, node)
	}
	byRank := slices.Clone(chosen)
	if chosen == nil {
		for i, c := range columns {
			if (c.title != titleContainer || containers) && (c.title != titleNode || several) {
				byRank = append(byRank, i)
			}
		}
	}
	sort.SliceStable(byRank, func(i, j int) bool { return columns[byRank[i]].rank < columns[byRank[j]].rank })
	var kept []int
	left := w - 2
	for _, i := range byRank {
		need := columns[i].width + 1
		if need > left || chosen == nil && columns[i].rank > 4 && need > left-commandWidth+columns[len(columns)-1].width {
			break
		}
		left -= need
		kept = append(kept, i)
	}
	if chosen == nil {
		sort.Ints(kept)
		return kept
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return !slices.Contains(kept, i) })
}

// slot is where a column stands in a row of the table.
type slot struct {
	column int
	x, w   int
}

// slots are the places of columns in a row: the command takes what the others leave.
func slots(r rect, cols []int) (list []slot) {
	left := r.w - 2
	for _, i := range cols {
		left -= columns[i].width + 1
	}
	x := r.x + 2
	for k, i := range cols {
		w := columns[i].width
		switch {
		case columns[i].title == titleCommand && k == len(cols)-1:
			w = r.x + r.w - x
		case columns[i].title == titleCommand:
			w += max(left, 0)
		}
		list = append(list, slot{i, x, min(w, r.x+r.w-x)})
		x += w + 1
	}
	return list
}
