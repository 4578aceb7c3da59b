package watch

import "slices"

// Clone is a copy that goes its own way: a replay keeps one every few minutes, so that it
// can go back. Snapshots, alerts and explanations are shared; they never change.
func (w *Watch) Clone() *Watch {
	c := *w
	c.needs.refused = slices.Clone(w.needs.refused)
	c.ooms = slices.Clone(w.ooms)
	c.lastAlert = slices.Clone(w.lastAlert)
	c.cards = make([]*card, len(w.cards))
	for i, old := range w.cards {
		c.cards[i] = old.clone()
	}
	copies := make(map[*incident]*incident, len(w.past))
	copied := func(in *incident) *incident {
		if copies[in] == nil {
			fresh := *in
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

func (c *card) clone() *card {
	fresh := *c
	fresh.spare = nil
	fresh.procs = make([]*proc, len(c.procs))
	for i, p := range c.procs {
		own := *p
		fresh.procs[i] = &own
	}
	return &fresh
}
