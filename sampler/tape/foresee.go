package tape

import (
	"time"

	"nvpeak/sampler"
)

// What mostly follows from the used memory is left out of a tick when it is as foreseen here:
// it would be half of the file. Readers do the same sums. Columns are applied in stages,
// since later ones are foreseen from earlier ones.
const (
	stageGiven   = iota // nothing is foreseen of these
	stageWindow         // from the used memory before and now
	stageDerived        // from those two
)

// stages names the columns that others are foreseen from; all others come last.
var stages = map[string]int{
	"memory.total_bytes": stageGiven, "memory.reserved_bytes": stageGiven, "memory.used_bytes": stageGiven,
	"memory_bytes":            stageWindow,
	"memory.window.min_bytes": stageWindow, "memory.window.max_bytes": stageWindow, "memory.window.max_time": stageWindow,
}

func stageOf(path string) int {
	if s, ok := stages[path]; ok {
		return s
	}
	return stageDerived
}

// foreseeWindow sets the window of g: its memory went from what it was before to what it
// is now, without a detour.
func foreseeWindow(g, before *sampler.GPU) {
	used, ok := g.Memory.Used.Value()
	was, ok2 := before.Memory.Used.Value()
	w := before.Memory.Window
	if low, high := min(used, was), max(used, was); ok && ok2 && w != nil && (w.Min != low || w.Max != high) {
		next := *w
		next.Min, next.Max = low, high
		g.Memory.Window = &next
	}
}

// foreseeRest sets the free memory of g, and its marks: the peak rises to the maximum of
// the window, and the least free memory falls to what was free then.
func foreseeRest(g, before *sampler.GPU) {
	m, was := &g.Memory, &before.Memory
	total, ok := m.Total.Value()
	used, ok2 := m.Used.Value()
	if !ok || !ok2 {
		return
	}
	left := total.Less(m.Reserved.Or(0))
	if was.Free.Known() {
		m.Free = sampler.Some(left.Less(used))
	}
	if m.Window == nil {
		return
	}
	if p := was.Peak; p != nil && m.Window.Max > p.Bytes {
		m.Peak = &sampler.Peak{Bytes: m.Window.Max, Time: m.Window.MaxTime, Source: p.Source}
	}
	if worst, ok := was.WorstFree.Value(); ok {
		m.WorstFree = sampler.Some(min(worst, left.Less(m.Window.Max)))
	}
}

// foreseeOnly gives the only process of a GPU what its used memory grew or shrank by.
func foreseeOnly(g, before *sampler.GPU) {
	used, ok := g.Memory.Used.Value()
	was, ok2 := before.Memory.Used.Value()
	if len(g.Processes) != 1 || !ok || !ok2 || used == was {
		return
	}
	if n, ok := before.Processes[0].Memory.Value(); ok && n+used >= was {
		g.Processes[0].Memory = sampler.Some(n + used - was)
	}
}

// foreseePeak lets the peak of a process rise with its memory.
func foreseePeak(p, before *sampler.Process, now time.Time) {
	if used, ok := p.Memory.Value(); ok && before.Peak != nil && used > before.Peak.Bytes {
		p.Peak = &sampler.Peak{Bytes: used, Time: now, Source: before.Peak.Source}
	}
}
