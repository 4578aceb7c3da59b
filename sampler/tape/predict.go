package tape

import (
	"time"

	"nvpeak/sampler"
)

// What mostly follows from the used memory is left out of a tick when it is as predicted here:
// it would be half of the file. Readers do the same sums. Columns are applied in stages,
// since later ones are predicted from earlier ones.
const (
	stageGiven   = iota // nothing is predicted of these
	stageWindow         // from the used memory before and now
	stageDerived        // from those two
)

// stages names the columns that others are predicted from; all others come last.
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

// predictWindow sets the window of g: its memory went from what it was before to what it
// is now, without a detour.
func predictWindow(g, before *sampler.GPU) {
	used, ok := g.Memory.Used.Value()
	was, ok2 := before.Memory.Used.Value()
	w := before.Memory.Window
	if low, high := min(used, was), max(used, was); ok && ok2 && w != nil && (w.Min != low || w.Max != high) {
		next := *w
		next.Min, next.Max = low, high
		g.Memory.Window = &next
	}
}

// predictRest sets the free memory of g, and its marks: the peak rises to the maximum of
// the window, and the least free memory falls to what was free then.
func predictRest(g, before *sampler.GPU) {
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

// predictOnly gives the only process of a GPU what its used memory grew or shrank by.
func predictOnly(g, before *sampler.GPU) {
	used, ok := g.Memory.Used.Value()
	was, ok2 := before.Memory.Used.Value()
	if len(g.Processes) != 1 || !ok || !ok2 {
		return
	}
	if n, ok := before.Processes[0].Memory.Value(); ok && n+used >= was {
		g.Processes[0].Memory = sampler.Some(n + used - was)
	}
}

// predictPeak lets the peak of a process rise with its memory.
func predictPeak(p, before *sampler.Process, now time.Time) {
	if used, ok := p.Memory.Value(); ok && before.Peak != nil && used > before.Peak.Bytes {
		p.Peak = &sampler.Peak{Bytes: used, Time: now, Source: before.Peak.Source}
	}
}

// predict makes what a reader would believe cur to be, knowing prev and what is given.
func predict(prev, cur *sampler.Snapshot, now time.Time) *sampler.Snapshot {
	guess := &sampler.Snapshot{GPUs: append([]sampler.GPU(nil), prev.GPUs...)}
	for i := range guess.GPUs {
		g, was, is := &guess.GPUs[i], &prev.GPUs[i], &cur.GPUs[i]
		g.Memory.Total, g.Memory.Reserved, g.Memory.Used = is.Memory.Total, is.Memory.Reserved, is.Memory.Used
		predictWindow(g, was)
		window := g.Memory.Window
		g.Memory.Window = is.Memory.Window
		predictRest(g, was)
		g.Memory.Window = window
		g.Processes = append([]sampler.Process(nil), was.Processes...)
		for n := range g.Processes {
			g.Processes[n].Memory = is.Processes[n].Memory
			predictPeak(&g.Processes[n], &was.Processes[n], now)
			g.Processes[n].Memory = was.Processes[n].Memory
		}
		predictOnly(g, was)
	}
	return guess
}
