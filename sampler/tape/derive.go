package tape

import "nvpeak/sampler"

// fillDerived makes the memory of a GPU read from a file hold together: used + reserved + free
// = total, nothing above total, no amount that cannot be. What nvpeak wrote passes
// unchanged. foreign is a file without our header: what can be derived there is.
func fillDerived(g *sampler.GPU, foreign bool, flaw *meter) {
	m := &g.Memory
	total, ok := m.Total.Value()
	if ok && total == 0 {
		m.Total, m.Used, m.Free, m.Reserved = unknown, unknown, unknown, unknown
		ok = false
	}
	if !ok {
		return
	}
	used, ok := m.Used.Value()
	if !ok {
		free, known := m.Free.Value()
		if !known || !foreign {
			return
		}
		used = total.Less(free + m.Reserved.Or(0))
		m.Used = sampler.Some(used)
	}
	if used > total {
		flaw.flaws[overTotal] = true
		used = total
		m.Used = sampler.Some(used)
	}
	if reserved, ok := m.Reserved.Value(); ok {
		m.Reserved = sampler.Some(min(reserved, total-used))
	}
	rest := total - used - m.Reserved.Or(0)
	if m.Free.Known() || foreign {
		m.Free = sampler.Some(min(m.Free.Or(rest), rest))
	}
	dropImpossible(m, total)
	if foreign && !m.Unattributed.Known() && len(g.Processes) > 0 {
		attribute(g, used)
	}
}

var unknown sampler.Opt[sampler.Bytes]

// dropImpossible drops what no reading can have been. The windows and peaks are shared with
// no other snapshot when they are wrong: a wrong one was just read.
func dropImpossible(m *sampler.Memory, total sampler.Bytes) {
	if w := m.Window; w != nil && (w.Max > total || w.Min > w.Max) {
		m.Window = nil
	}
	if p := m.Peak; p != nil && p.Bytes > total {
		m.Peak = nil
	}
	if free, ok := m.WorstFree.Value(); ok && free > total {
		m.WorstFree = unknown
	}
}

func attribute(g *sampler.GPU, used sampler.Bytes) {
	var sum sampler.Bytes
	for i := range g.Processes {
		n, ok := g.Processes[i].Memory.Value()
		if !ok {
			return
		}
		sum = min(sum+n, sampler.MaxPlausible)
	}
	g.Memory.Unattributed = sampler.Some(used.Less(sum))
}
