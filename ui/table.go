package ui

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"nvpeak/sampler"
)

// table is the process table: its rows, their order, and the cursor.
type table struct {
	rows     []procRow
	cursor   int                 // a row, -1: none
	follow   *sampler.ProcessKey // the process under the cursor
	columns  []int               // those chosen, in order; nil: as many as matter and fit
	sort     int                 // a column
	reverse  bool
	group    grouping
	filter   filter
	shown    int  // rows that fit it
	all      int  // rows without the filter
	keep     bool // the process under the cursor stays, whatever the filter says
	sideways int  // columns of the command lines that are left out
	copied   int  // how often something of copiedOf was copied
	copiedOf sampler.ProcessKey
	tagged   map[sampler.ProcessKey]bool // by identity
	places   map[sampler.ProcessKey]place
	sorted   time.Time // when the rows were last put in order
	lately   int       // how many rows there were of late: the room that the layout leaves
}

// latelyTime is how long a process that is gone keeps its room. A GPU that fails is asked
// again after up to half a minute; without that every pane would be drawn anew each time
// that one fails and each time that it is back.
const latelyTime = time.Minute

// list makes the rows of the processes on one GPU, or on all (nil).
func (t *table) list(s *sampler.Snapshot, only *sampler.GPU) {
	t.begin()
	for i := range s.GPUs {
		if g := &s.GPUs[i]; only == nil || g == only {
			t.addGPU(procRow{gpu: g, snap: s})
		}
	}
	t.forgetTags(s)
	t.end(s.Time)
}

// listAll makes the rows of the processes on several machines, which are named.
func (t *table) listAll(snaps []*sampler.Snapshot, now time.Time) {
	t.begin()
	for _, s := range snaps {
		for i := range s.GPUs {
			t.addGPU(procRow{gpu: &s.GPUs[i], snap: s, host: s.Host})
		}
	}
	t.end(now)
}

// begin takes the rows away. Others take their place: who has drawn them may still hold them.
func (t *table) begin() { t.rows, t.all = make([]procRow, 0, len(t.rows)), 0 }

// addGPU adds the rows of a GPU, each as the one that it is given.
func (t *table) addGPU(r procRow) {
	g := r.gpu
	for j := range g.Processes {
		r.proc = &g.Processes[j]
		t.add(r)
	}
	if un := g.Memory.Unattributed.Or(0); un >= max(unattributedRow, g.Memory.Total.Or(0)/200) {
		r.proc = nil
		t.add(r)
	}
}

// end puts the rows in order. The cursor stays on its process, or on its row when the process is gone.
func (t *table) end(now time.Time) {
	t.sortRows(now)
	t.notePlaces(now)
	t.shown = len(t.rows)
	t.arrange()
	t.cursor = min(t.cursor, len(t.rows)-1)
	for i, r := range t.rows {
		if t.follow != nil && r.key() == *t.follow {
			t.cursor = i
			return
		}
	}
}

// add makes it a row, if it fits the filter.
func (t *table) add(r procRow) {
	t.all++
	if t.filter.fits(r) || t.keep && t.follow != nil && r.key() == *t.follow {
		t.rows = append(t.rows, r)
	}
}

func (t *table) sortRows(now time.Time) {
	if t.sort == sortMemory {
		share := orderAtOnce
		if since := now.Sub(t.sorted); since >= orderTime || since < 0 {
			share, t.sorted = 0, now
		}
		t.sortByMemory(share)
		return
	}
	col, rows := columns[t.sort], t.rows
	sort.SliceStable(rows, func(i, j int) bool {
		n := col.order(rows[i], rows[j])
		if n == 0 {
			return false
		}
		return (n < 0) != (col.down != t.reverse)
	})
}

// place of a row in the table, and when there was last such a row.
type place struct {
	at   int
	seen time.Time
}

// A row may have less than one below it by orderAtOnce of what that holds: rows must not change places, and be sent, because
// of what two processes allocate from second to second. Each orderTime they are put in order.
const (
	orderAtOnce = 0.01
	orderTime   = time.Minute
)

// sortByMemory puts each row where it was, unless it has that much more than a row above it. A row that is gone for a
// moment comes back to its place.
func (t *table) sortByMemory(share float64) {
	memory := func(r procRow) float64 {
		if b, ok := r.memory().Value(); ok {
			return float64(b)
		}
		return -1
	}
	type placed struct {
		procRow
		at    int
		known bool
	}
	was := make([]placed, len(t.rows))
	for i, r := range t.rows {
		p, known := t.places[r.key()]
		was[i] = placed{r, p.at * pick(t.reverse, -1, 1), known}
	}
	slices.SortStableFunc(was, func(a, b placed) int {
		if a.known && b.known {
			return a.at - b.at
		}
		return cmp.Or(pick(a.known, 0, 1)-pick(b.known, 0, 1), cmp.Compare(memory(b.procRow), memory(a.procRow)))
	})
	for i := range was {
		t.rows[i] = was[i].procRow
	}
	list := calmly(t.rows, memory, func(r procRow) float64 { return share * memory(r) })
	if t.reverse {
		slices.Reverse(list)
	}
	t.rows = list
}

// calmly puts each item where it was, unless it has so much more than one above it: its value less the room of that.
func calmly[T any](was []T, value, room func(T) float64) []T {
	list, least := make([]T, 0, len(was)), make([]float64, 0, len(was)) // least of the items down to this one
	for _, item := range was {
		x := value(item)
		at, _ := slices.BinarySearchFunc(least, x-room(item), func(least, x float64) int { return pick(least < x, 1, -1) })
		list, least = slices.Insert(list, at, item), append(least, 0)
		for i := at; i < len(list); i++ {
			least[i] = value(list[i])
			if i > 0 {
				least[i] = min(least[i], least[i-1])
			}
		}
	}
	return list
}

// notePlaces remembers the order of the rows.
func (t *table) notePlaces(now time.Time) {
	if t.places == nil {
		t.places = map[sampler.ProcessKey]place{}
	}
	for i, r := range t.rows {
		t.places[r.key()] = place{i, now}
	}
	for key, p := range t.places {
		if now.Sub(p.seen) > latelyTime {
			delete(t.places, key)
		}
	}
}

// unattributedRow is the least unattributed memory that gets a row of its own, or half a
// percent of the total: less is what moved between two readings.
const unattributedRow = 64 * sampler.MiB

// unattributed is how many rows are of no process.
func (t *table) unattributed() (n int) {
	for _, r := range t.rows {
		if r.proc == nil && r.head == nil {
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
