package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// identity is what a process is known by on all its GPUs.
func (p procRow) identity() sampler.ProcessKey {
	k := p.key()
	k.GPU = sampler.GPUKey{Host: k.GPU.Host}
	return k
}

// toggleTag tags the selected process, or takes its tag away, and goes to the next one.
func (m *Model) toggleTag() tea.Cmd {
	m.selectFirst()
	row, ok := m.table.selected()
	if !ok {
		return m.note(m.words.Say("say.signal_whom"))
	}
	if row.proc == nil && row.head == nil {
		return m.note(m.words.Say("say.signal_nobody"))
	}
	if m.table.tagged == nil {
		m.table.tagged = map[sampler.ProcessKey]bool{}
	}
	list := m.table.below(row)
	tag := slices.ContainsFunc(list, func(r procRow) bool { return !m.table.isTagged(r) })
	for _, r := range list {
		if tag {
			m.table.tagged[r.identity()] = true
		} else {
			delete(m.table.tagged, r.identity())
		}
	}
	m.table.move(m.table.cursor + 1)
	return nil
}

// below are the rows of a group, where the row stands above one, or the row itself.
func (t *table) below(row procRow) (rows []procRow) {
	if row.head == nil {
		return []procRow{row}
	}
	for _, r := range t.rows {
		if r.proc != nil && row.head.procs[r.identity()] {
			rows = append(rows, r)
		}
	}
	return rows
}

// isTagged says whether the process of a row is tagged.
func (t *table) isTagged(r procRow) bool { return r.proc != nil && t.tagged[r.identity()] }

// taggedRows are the rows of tagged processes on all GPUs, whatever the table shows.
func (t *table) taggedRows(s *sampler.Snapshot) (rows []procRow) {
	if s == nil || len(t.tagged) == 0 {
		return nil
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		for j := range g.Processes {
			if r := (procRow{gpu: g, proc: &g.Processes[j], snap: s}); t.isTagged(r) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// forgetTags takes the tags of processes away that are gone.
func (t *table) forgetTags(s *sampler.Snapshot) {
	if len(t.tagged) == 0 {
		return
	}
	here := map[sampler.ProcessKey]bool{}
	for _, r := range t.taggedRows(s) {
		here[r.identity()] = true
	}
	t.tagged = here
}
