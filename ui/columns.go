package ui

import (
	"cmp"
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
	userOf = word(func(p *sampler.Process) string { return p.User })
	typeOf = word(func(p *sampler.Process) string { return shortType(p.Type) })
	// englishCommand orders the rows; the last column is drawn in the language of the screen.
	englishCommand = func(r procRow) string { return commandOf(r, lang.English()) }
	containerOf    = word(func(p *sampler.Process) string { return p.Container.Or("") })
)

func memoryRole(r procRow) theme.Role { return pick(r.proc == nil, theme.Unknown, theme.Strong) }

// peakRole is the level of the peak of the GPU where the process has most of it, and quiet otherwise.
func peakRole(r procRow) theme.Role {
	own, _ := peakOf(r).Value()
	if p := r.gpu.Memory.Peak; p != nil && own > p.Bytes.Less(own) {
		own = max(own, p.Bytes)
	}
	level := theme.Level(percent(own, r.gpu.Memory.Total.Or(0)), gpuLevels)
	return pick(level == theme.Ok, theme.Text, level)
}

// Titles by which a column is found.
const (
	titleMemory    = "GPU MEM"
	titleHistory   = "HISTORY"
	titleContainer = "CONTAINER"
)

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
	{"SM%", 4, 4, false, true, always(theme.Util), formatted(smOf, strconv.Itoa), byOpt(smOf)},
	{titleMemory, 9, 0, false, true, memoryRole, func(r procRow) string {
		if b, ok := r.memory().Value(); ok {
			return b.String()
		}
		return notAvailable
	}, byOpt(memoryOf)},
	{"▲PEAK", 9, 1, false, true, peakRole, formatted(peakOf, sampler.Bytes.String), byOpt(peakOf)},
	{"SHARE", 8, 9, true, true, memoryRole, nil, nil},
	{titleHistory, 12, 9, true, true, nil, nil, nil},
	{"CPU%", 5, 7, false, true, always(theme.Dim), formatted(cpuOf, func(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }), byOpt(cpuOf)},
	{"HOST", 6, 5, false, true, always(theme.Dim), formatted(hostOf, sampler.Bytes.Short), byOpt(hostOf)},
	{"TIME", 7, 6, false, true, always(theme.Dim), formatted(ageOf, plain.Runtime), byOpt(ageOf)},
	{titleContainer, 19, 10, true, false, always(theme.Dim), containerOf, byText(containerOf)},
	{"COMMAND", 8, 0, true, false, always(theme.Text), englishCommand, byText(englishCommand)},
}

// sortMemory is the column by which the table is sorted at first.
var sortMemory = slices.IndexFunc(columns, func(c column) bool { return c.title == titleMemory })

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
		if columns[i].title == titleContainer && !containers {
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
