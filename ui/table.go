package ui

import (
	"sort"
	"time"

	"nvpeak/sampler"
)

// table is the process table: its rows, their order, and the cursor.
type table struct {
	rows    []procRow
	cursor  int                 // a row, -1: none
	follow  *sampler.ProcessKey // the process under the cursor
	sort    int                 // a column
	reverse bool
	settled map[sampler.ProcessKey]settled
	lately  int // how many rows there were of late: the room that the layout leaves
}

// latelyTime is how long a process that is gone keeps its room. A GPU that fails is asked
// again after up to half a minute; without that every pane would be drawn anew each time
// that one fails and each time that it is back.
const latelyTime = time.Minute

// list makes the rows of the processes on one GPU, or on all (nil). The cursor stays on its
// process, or on its row when the process is gone.
func (t *table) list(s *sampler.Snapshot, only *sampler.GPU) {
	t.rows = t.rows[:0:0]
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if only != nil && g != only {
			continue
		}
		for j := range g.Processes {
			t.rows = append(t.rows, procRow{gpu: g, proc: &g.Processes[j], snap: s})
		}
		if un := g.Memory.Unattributed.Or(0); un >= max(unattributedRow, g.Memory.Total.Or(0)/200) {
			t.rows = append(t.rows, procRow{gpu: g, snap: s})
		}
	}
	t.settle(s.Time)
	t.sortRows()
	t.cursor = min(t.cursor, len(t.rows)-1)
	for i, r := range t.rows {
		if t.follow != nil && r.key() == *t.follow {
			t.cursor = i
			return
		}
	}
}

// settled is memory as far as the order of rows goes, and when there was last such a row.
type settled struct {
	memory sampler.Bytes
	seen   time.Time
}

// settledShare of a GPU is by how much memory has to move before its row may: rows must not change places because of
// what two processes allocate from second to second. Two rows are out of order by twice as much at most.
const settledShare = 0.005

// settle notes the memory of each row as it was when it last moved, in steps, so that rows which are next to equal
// keep the order of their GPUs. A row that is gone for a moment comes back to its place.
func (t *table) settle(now time.Time) {
	if t.settled == nil {
		t.settled = map[sampler.ProcessKey]settled{}
	}
	for i := range t.rows {
		r := &t.rows[i]
		memory, ok := r.memory().Value()
		if !ok {
			continue
		}
		step := max(sampler.Bytes(settledShare*float64(r.gpu.Memory.Total.Or(0))), 1)
		was, had := t.settled[r.key()]
		if !had || max(memory, was.memory)-min(memory, was.memory) > step {
			was.memory = memory - memory%step
			if memory-was.memory > step/2 {
				was.memory += step
			}
		}
		t.settled[r.key()], r.settled = settled{was.memory, now}, sampler.Some(was.memory)
	}
	for key, s := range t.settled {
		if now.Sub(s.seen) > latelyTime {
			delete(t.settled, key)
		}
	}
}

func (t *table) sortRows() {
	col, rows := columns[t.sort], t.rows
	sort.SliceStable(rows, func(i, j int) bool {
		n := col.order(rows[i], rows[j])
		if n == 0 {
			return false
		}
		return (n < 0) != (col.down != t.reverse)
	})
}

// unattributedRow is the least unattributed memory that gets a row of its own, or half a
// percent of the total: less is what moved between two readings.
const unattributedRow = 64 * sampler.MiB

// unattributed is how many rows are of no process.
func (t *table) unattributed() (n int) {
	for _, r := range t.rows {
		if r.proc == nil {
			n++
		}
	}
	return n
}

// move puts the cursor on a row.
func (t *table) move(row int) {
	if len(t.rows) == 0 {
		return
	}
	t.cursor = max(0, min(row, len(t.rows)-1))
	key := t.rows[t.cursor].key()
	t.follow = &key
}

// leave takes the cursor away.
func (t *table) leave() { t.cursor, t.follow = -1, nil }

// selected is the row under the cursor.
func (t *table) selected() (row procRow, ok bool) {
	if t.cursor < 0 || t.cursor >= len(t.rows) {
		return procRow{}, false
	}
	return t.rows[t.cursor], true
}

// lost says whether the process that the cursor follows is gone.
func (t *table) lost() bool {
	row, ok := t.selected()
	return t.follow != nil && !(ok && row.key() == *t.follow)
}
