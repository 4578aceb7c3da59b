package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// procPane draws the process table: a heading, rows, and how many do not fit; in a box, or without.
func (v *view) procPane(c *canvas, r rect, boxed bool) {
	if boxed && r.h > 3 {
		v.frame(c, r, theme.Faint)
		x := c.put(r.x+1, r.y, r.x+r.w, theme.Accent, " "+v.words.Say("screen.processes")+" ")
		x = c.put(x, r.y, r.x+r.w, theme.Text, pick(v.table.filter.text == "", strconv.Itoa(v.table.shown)+" ", ""))
		x = c.put(x, r.y, r.x+r.w, theme.Need, v.filterText())
		if n := len(v.table.tagged); n > 0 {
			x = c.put(x, r.y, r.x+r.w, theme.Accent, " "+v.words.Say("screen.tagged", "count", n)+" ")
		}
		v.keys(c, x+1, r.y, r.x+r.w-2, v.footer.table)
		defer v.tableMore(c, rect{r.x + 1, r.y + r.h - 1, r.w - 3, 1}, r.h-3)
		r = rect{r.x + 1, r.y + 1, r.w - 2, r.h - 2}
	} else if r.h >= 2 {
		c.fill(r.x, r.y, r.x+r.w, theme.Faint, v.glyphs.Line)
	}
	if r.h < 2 {
		return
	}
	cols := slots(r, fitting(r.w, v.anyContainer(), v.several(), v.table.columns))
	heads := v.procHead(c, r, cols)
	rows := r.h - 1
	first := v.firstRow(rows)
	for i := range min(rows, len(v.table.rows)-first) {
		v.procLine(c, rect{r.x, r.y + 1 + i, r.w, 1}, cols, first+i)
	}
	if len(v.table.rows) == 0 {
		none := pick(v.focus != nil, "screen.no_processes_here", "screen.no_processes")
		if v.unlisted() {
			none = "screen.no_list"
		}
		c.put(r.x+2, r.y+1, r.x+r.w, theme.Dim, v.words.Say(pick(v.table.all > 0, "screen.no_match", none)))
	}
	if !boxed {
		end := r.x + r.w - 1
		if text := v.filterText(); text != "" {
			end = max(r.x, end-width(text))
			c.cut(end, r.y, r.x+r.w-1, theme.Need, text)
		}
		v.tableMore(c, rect{heads, r.y, end - heads, 1}, rows)
	}
}

// unlisted says whether nobody knows who uses the memory: a log without processes, a driver that lists none.
func (v *view) unlisted() bool {
	if v.several() {
		return slices.ContainsFunc(v.fleet.rows, func(k *machine) bool { return k.row.v != nil && k.row.v.unlisted() })
	}
	silent := 0 // GPUs
	for i := range v.snap.GPUs {
		g := &v.snap.GPUs[i]
		if g.Memory.Used.Or(0) >= unattributedRow && !g.Memory.Unattributed.Known() {
			return true
		}
		if g.Error.Known() && !g.Memory.Used.Known() {
			silent++
		}
	}
	return silent > 0 && silent == len(v.snap.GPUs)
}

// filterText is the filter and how many rows it leaves; empty without one.
func (v *view) filterText() string {
	if v.table.filter.text == "" {
		return ""
	}
	return " " + v.words.Say("screen.filtered", "count", v.table.shown, "all", v.table.all, "filter", "/"+v.table.filter.text) + " "
}

// tableMore says how many processes are below those that so many rows show, if there is room for it.
func (v *view) tableMore(c *canvas, r rect, rows int) {
	hidden := len(v.table.rows) - v.firstRow(rows) - rows
	if hidden <= 0 {
		return
	}
	text := " " + v.words.Say("screen.more", "count", hidden) + fmt.Sprintf(" %c", v.glyphs.Down)
	if width(text) > r.w {
		text = fmt.Sprintf(" +%d", hidden)
	}
	if width(text) <= r.w {
		c.right(r.x, r.y, r.x+r.w, theme.Dim, text)
	}
}

// anyContainer says whether the column of containers would show anything.
func (v *view) anyContainer() bool {
	for _, r := range v.table.rows {
		if r.proc != nil && r.proc.Container.Known() {
			return true
		}
	}
	return false
}

// firstRow is the row at the top of the table, so that the cursor is visible.
func (v *view) firstRow(rows int) int {
	if v.table.cursor < rows {
		return 0
	}
	return min(v.table.cursor-rows+1, max(len(v.table.rows)-rows, 0))
}

// procHead writes the titles of the columns and returns the column after the last.
func (v *view) procHead(c *canvas, r rect, cols []slot) (end int) {
	for _, s := range cols {
		col := columns[s.column]
		title := v.words.Say("tablehead." + col.name())
		if col.title != plainTitle(col) {
			title = string(v.glyphs.Peak) + title
		}
		role := theme.Dim
		if col.title == titleCommand && v.table.sideways > 0 {
			title = string(v.glyphs.Ellipsis) + title
		}
		if s.column == v.table.sort {
			role = theme.Accent
			title += pick(v.ascii && width(title)+2 <= col.width, " ", "") // a letter must not read as one of the title
			title += string(pick(col.down != v.table.reverse, v.glyphs.Down, v.glyphs.Up))
		}
		at := s.x - 1
		if !col.left {
			at = max(at, at+col.width-width(title))
		}
		end = c.put(at, r.y, r.x+r.w, role, " "+title+" ")
		v.spot(rect{at, r.y, end - at, 1}, clickColumn(s.column))
	}
	return end
}

func (v *view) procLine(c *canvas, r rect, cols []slot, n int) {
	row := v.table.rows[n]
	v.spot(r, clickRow(row.key()))
	if row.head != nil {
		v.groupLine(c, r, cols, row.head)
		cols = nil
	}
	for _, s := range cols {
		switch col := columns[s.column]; {
		case col.title == titleHistory:
			v.processSpark(c, rect{s.x, r.y, s.w, 1}, row)
		case col.text == nil:
			v.shareBar(c, s.x, r.y, s.w, row)
		case col.title == titleCommand:
			text, room := commandOf(row, v.words), s.w-width(row.indent)
			c.cut(s.x, r.y, s.x+s.w, col.role(row), row.indent+v.from(text, v.table.sideways, room))
		case col.title == titlePeak:
			c.cut(s.x, r.y, s.x+s.w, v.processPeakRole(row), col.format(row, col.width))
		default:
			c.cut(s.x, r.y, s.x+s.w, col.role(row), col.format(row, col.width))
		}
	}
	if v.table.isTagged(row) {
		c.set(r.x+1, r.y, '*', theme.Accent)
	}
	if n == v.table.cursor {
		c.ground(r.x, r.y, r.x+r.w, theme.Selected)
		c.set(r.x, r.y, v.glyphs.Cursor, theme.Accent)
	}
}

// groupLine is a group with its totals; in the tree its name stands among the commands.
func (v *view) groupLine(c *canvas, r rect, cols []slot, g *group) {
	end := r.x + r.w
	if i := slices.IndexFunc(cols, func(s slot) bool { return columns[s.column].title == titleCommand }); g.tree && i >= 0 {
		c.cut(cols[i].x, r.y, cols[i].x+cols[i].w, theme.Strong, g.indent+g.name)
		end = cols[i].x - 1
	}
	c.cut(r.x+2, r.y, end, theme.Strong, strings.TrimSpace(g.text(v.words)))
}

// shareBar is the part of the GPU that the row holds.
func (v *view) shareBar(c *canvas, x, y, w int, r procRow) {
	total := r.gpu.Memory.Total.Or(0)
	used, ok := r.memory().Value()
	if !ok || total == 0 {
		return
	}
	share := percent(min(used, sampler.MaxPlausible), total)
	c.fill(x, y, x+w, theme.Faint, v.glyphs.BarEmpty)
	v.fillBar(c, x, y, w, share/100*float64(w), pick(r.proc == nil, theme.Unknown, theme.Ok), v.glyphs.Thin)
}

// processSpark is the memory of a process over time, in its own range: a leak or a spike is seen on however large a GPU.
func (v *view) processSpark(c *canvas, r rect, row procRow) {
	v, row = v.of(row)
	s, total := v.history.Process(row.key()), row.gpu.Memory.Total.Or(0).MiB()
	if s == nil || row.proc == nil || total == 0 {
		return
	}
	role := v.historyRole(row.gpu)
	v.ownLane(c, r, s.Used, laneHeldFor, func(mib float64) theme.Role { return role(100 * mib / total) })
}
