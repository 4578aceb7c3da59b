package watch

import "slices"

// Clone is a copy that goes its own way: a replay keeps one every few minutes, so that it
// can go back. Snapshots, alerts and explanations are shared; they never change.
func (w *Watch) Clone() *Watch {
	c := *w
	c.needs.refused = slices.Clone(w.needs.refused)
	c.failures = slices.Clone(w.failures)
	c.deaths = slices.Clone(w.deaths)
	c.tensors.readings = slices.Clone(w.tensors.readings)
	c.stages.counters = slices.Clone(w.stages.counters)
	for i := range c.stages.counters {
		c.stages.counters[i].seen = slices.Clone(c.stages.counters[i].seen)
	}
	c.lastAlert = slices.Clone(w.lastAlert)
	c.gpus = make([]*gpu, len(w.gpus))
	for i, old := range w.gpus {
		c.gpus[i] = old.clone()
	}
	copies := make(map[*incident]*incident, len(w.past))
	copied := func(in *incident) *incident {
		if copies[in] == nil {
			fresh := *in
			fresh.rises = slices.Clone(in.rises)
			copies[in] = &fresh
		}
		return copies[in]
	}
	c.past = make([]*incident, len(w.past))
	for i, in := range w.past {
		c.past[i] = copied(in)
	}
	c.open = make(map[incidentKey]*incident, len(w.open))
	for k, in := range w.open {
		c.open[k] = copied(in)
	}
	return &c
}

func (g *gpu) clone() *gpu {
	fresh := *g
	fresh.spare, fresh.ends, fresh.tightest = nil, slices.Clone(g.ends), tightest{} // which has processes of g
	fresh.procs = make([]*proc, len(g.procs))
	for i, p := range g.procs {
		own := *p
		own.dips.Kept, own.logged, own.asking.kin = p.dips.Kept.Clone(), p.logged.Clone(), slices.Clone(p.asking.kin)
		fresh.procs[i] = &own
	}
	return &fresh
}
