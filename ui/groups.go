package ui

import (
	"regexp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// grouping is by what the rows of the table stand together.
type grouping int

const (
	ungrouped grouping = iota
	byParent
	byJob
	byUser
	groupings // how many
)

// groupSays name the groupings, in sentences of the catalog.
var groupSays = [groupings]string{"say.ungrouped", "say.by_parent", "say.by_job", "say.by_user"}

// groupNext groups the rows by the next thing.
func (m *Model) groupNext() tea.Cmd {
	if m.overviewed() && !m.fleet.listed {
		return m.groupMachines()
	}
	m.table.group = (m.table.group + 1) % groupings
	m.list()
	return m.note(m.words.Say(groupSays[m.table.group]))
}

// group is what stands above rows that belong together.
type group struct {
	id    string // of no other one
	name  string
	procs map[sampler.ProcessKey]bool
	gpus  map[sampler.GPUKey]bool
	holds sampler.Bytes
	order int
	first procRow // of its rows

	tree   bool   // it is a process of the tree
	indent string // what stands before it there
}

func newGroup(name string, order int) *group {
	return &group{name: name, procs: map[sampler.ProcessKey]bool{}, gpus: map[sampler.GPUKey]bool{}, order: order}
}

// add counts a row of the group.
func (g *group) add(r procRow) {
	if g.first.gpu == nil {
		g.first = r
	}
	g.procs[r.identity()], g.gpus[r.gpuKey()] = true, true
	g.holds += min(r.memory().Or(0), sampler.MaxPlausible)
}

// text is a group with its totals.
func (g *group) text(words lang.Catalog) string {
	return words.Say("proc.group", "name", pick(g.tree, "", g.name), "size", g.holds, "gpus", words.Count("count.gpu", len(g.gpus)), "count", len(g.procs))
}

// arrange puts the rows of one group below a row of its own, groups and rows in the order that they have. What no
// process holds stays at the end.
func (t *table) arrange() {
	switch t.group {
	case ungrouped:
		return
	case byParent:
		t.arrangeTree()
		return
	}
	list, rows, rest := t.grouped(t.group)
	t.rows = t.rows[:0:0]
	for _, g := range list {
		t.rows = append(append(t.rows, procRow{gpu: rows[g][0].gpu, snap: rows[g][0].snap, host: rows[g][0].host, head: g}), rows[g]...)
	}
	t.rows = append(t.rows, rest...)
}

// grouped are the groups of the rows by user or by job, their rows, and those that no process holds.
func (t *table) grouped(by grouping) (list []*group, rows map[*group][]procRow, rest []procRow) {
	jobs := jobStarts{}
	of := map[string]*group{}
	rows = map[*group][]procRow{}
	for _, r := range t.rows {
		if r.proc == nil {
			rest = append(rest, r)
			continue
		}
		id, name := r.gpu.Host+"\x00"+r.proc.User, or(r.proc.User, notAvailable)
		if by == byJob {
			id, name = jobs.of(r)
		}
		g := of[id]
		if g == nil {
			g = newGroup(name, len(list)+1)
			g.id = id
			of[id], list = g, append(list, g)
		}
		g.add(r)
		rows[g] = append(rows[g], r)
	}
	if t.sort == sortMemory {
		way := pick(t.reverse, -1.0, 1.0)
		list = calmly(list, func(g *group) float64 { return way * float64(g.holds) }, func(g *group) float64 { return orderAtOnce * float64(g.holds) })
	}
	return list, rows, rest
}

// jobStarts are the starts of jobs that nothing else tells apart. A job is a program that was started several times at once: the ranks
// of one torchrun, srun, accelerate or mpirun.
// By what tells them apart, and by how many jobStart it was since 1970: of each such time there is one.
type jobStarts map[string]map[int64]time.Time

// jobStart is within what time the ranks of a job start.
const jobStart = 2 * time.Minute

// rankOption is what differs between the command lines of ranks.
var rankOption = regexp.MustCompile(`\s--?(local|node)?[-_]?rank[= ]\d+`)

// of is the job that the process of a row belongs to: the allocation of Slurm, those of one launcher, or those with the same user, container
// and command line, but for the rank, that started at about the same time. A recording tells no more.
func (known jobStarts) of(r procRow) (id, name string) {
	p := r.proc
	user := or(p.User, notAvailable)
	container := p.Container.Or("")
	if number, ok := strings.CutPrefix(container, "slurm:"); ok {
		return r.gpu.Host + "\x00" + container, user + "  slurm " + number
	}
	if p.Launch != "" {
		return strings.Join([]string{r.machine(), container, p.Launch}, "\x00"), user + "  " + p.Launch + "  " + or(p.Command, p.Name)
	}
	command := rankOption.ReplaceAllString(or(p.Command, p.Name), "")
	id = strings.Join([]string{r.gpu.Host, p.User, container, command}, "\x00")
	name = user + "  " + command
	start := p.StartTime.Or(time.Time{})
	place := start.Unix() / int64(jobStart/time.Second)
	for at := place - 1; at <= place+1; at++ {
		if first, ok := known[id][at]; ok && start.Sub(first).Abs() <= jobStart {
			return id + first.String(), name
		}
	}
	if known[id] == nil {
		known[id] = map[int64]time.Time{}
	}
	known[id][place] = start
	return id + start.String(), name
}
