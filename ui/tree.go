package ui

import (
	"slices"
	"strconv"
)

// branch is one process of the tree: one on GPUs with its rows, or one that several of those come from.
type branch struct {
	parent *branch
	below  []*branch
	rows   []procRow // none: it is on no GPU itself
	name   string
}

// arrangeTree puts the rows below the processes that have started them, as the ranks below torchrun; of processes on no
// GPU only those are shown that more than one branch comes from. What no process holds stays at the end.
func (t *table) arrangeTree() {
	known, roots, rest := t.branches()
	for _, b := range roots {
		b.settle(known)
	}
	var top []*branch
	for _, b := range roots {
		for b.parent != nil {
			b = b.parent
		}
		if !slices.Contains(top, b) {
			top = append(top, b)
		}
	}
	t.rows = t.rows[:0:0]
	heads := 0
	for _, b := range top {
		t.plant(b, "", "", &heads)
	}
	t.rows = append(t.rows, rest...)
}

// branchID is a process of a host.
type branchID struct {
	host string
	pid  int
}

// branches are the processes on GPUs and those that more than one of them come from; roots are the former in the
// order of their rows.
func (t *table) branches() (known map[branchID]*branch, roots []*branch, rest []procRow) {
	known = map[branchID]*branch{}
	for _, r := range t.rows {
		if r.proc == nil {
			rest = append(rest, r)
			continue
		}
		id := branchID{r.machine(), r.proc.PID}
		b := known[id]
		if b == nil {
			b = &branch{name: r.proc.Name}
			known[id], roots = b, append(roots, b)
		}
		b.rows = append(b.rows, r)
	}
	from := map[branchID]branchID{} // the one branch seen below a process
	for _, b := range roots {
		r := b.rows[0]
		last := branchID{r.machine(), r.proc.PID}
		for _, p := range r.proc.Parents {
			id := branchID{last.host, p.PID}
			if other, seen := from[id]; seen && other != last && known[id] == nil && !slices.Contains(sessions, p.Name) {
				known[id] = &branch{name: p.Name + " " + strconv.Itoa(p.PID)}
			} else if !seen {
				from[id] = last
			}
			last = id
		}
	}
	return known, roots, rest
}

// sessions are what everything on a machine comes from: that two programs have one of them in common says nothing.
var sessions = []string{"systemd", "init", "sshd", "tmux: server", "screen", "containerd-shim", "dockerd", "conmon", "cron", "login"}

// settle puts a process on GPUs, and those that it comes from, below the nearest that is shown.
func (b *branch) settle(known map[branchID]*branch) {
	if len(b.rows) == 0 {
		return
	}
	host := b.rows[0].machine()
	for _, p := range b.rows[0].proc.Parents {
		up := known[branchID{host, p.PID}]
		if up == nil || up == b {
			continue
		}
		if b.parent == nil && !up.within(b) {
			b.parent = up
			up.below = append(up.below, b)
		}
		if b.parent != up {
			return // it has settled elsewhere
		}
		if b = up; len(b.rows) > 0 {
			return // it settles by itself
		}
	}
}

// within says whether a branch is below another: a recording can say that two come from each other.
func (b *branch) within(other *branch) bool {
	for ; b != nil; b = b.parent {
		if b == other {
			return true
		}
	}
	return false
}

// plant adds the rows of a branch and of what is below it; first stands before its own command, and more before those of
// what comes from it.
func (t *table) plant(b *branch, first, more string, heads *int) {
	if len(b.rows) == 0 {
		*heads++
		g := newGroup(b.name, *heads)
		g.tree, g.indent = true, first
		b.sum(g)
		one := b.leaf()
		t.rows = append(t.rows, procRow{gpu: one.gpu, snap: one.snap, host: one.host, head: g})
	}
	for i, r := range b.rows {
		r.indent = pick(i == 0, first, more)
		t.rows = append(t.rows, r)
	}
	slices.SortStableFunc(b.below, func(x, y *branch) int { return t.place(x) - t.place(y) })
	for i, c := range b.below {
		last := i == len(b.below)-1
		t.plant(c, more+pick(last, "└─ ", "├─ "), more+pick(last, "   ", "│  "), heads)
	}
}

// place is where the first row of a branch was before the tree was made.
func (t *table) place(b *branch) int { return t.places[b.leaf().key()].at }

// leaf is a row of the branch.
func (b *branch) leaf() procRow {
	for len(b.rows) == 0 {
		b = b.below[0]
	}
	return b.rows[0]
}

// sum adds up what a branch holds.
func (b *branch) sum(g *group) {
	for _, r := range b.rows {
		g.add(r)
	}
	for _, c := range b.below {
		c.sum(g)
	}
}
