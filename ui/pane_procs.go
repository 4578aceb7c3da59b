package ui

import (
	"fmt"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// procPane draws the process table: a heading, rows, and how many do not fit.
func (v *view) procPane(c *canvas, r rect) {
	if r.h < 2 {
		return
	}
	cols := fitting(r.w, v.anyContainer())
	v.procHead(c, r, cols)
	rows := r.h - 1
	first := v.firstRow(rows)
	for i := range min(rows, len(v.table.rows)-first) {
		v.procLine(c, rect{r.x, r.y + 1 + i, r.w, 1}, cols, first+i)
	}
	switch hidden := len(v.table.rows) - first - rows; {
	case len(v.table.rows) == 0:
		c.put(r.x+2, r.y+1, r.x+r.w, theme.Dim, v.words.Say(pick(v.focus != nil, "screen.no_processes_here", "screen.no_processes")))
	case hidden > 0:
		c.right(r.x, r.y, r.x+r.w-1, theme.Dim, " "+v.words.Say("screen.more", "count", hidden)+fmt.Sprintf(" %c", v.glyphs.Down))
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

func (v *view) procHead(c *canvas, r rect, cols []int) {
	c.fill(r.x, r.y, r.x+r.w, theme.Faint, v.glyphs.Line)
	x := r.x + 1
	for _, i := range cols {
		col := columns[i]
		title := col.title
		if v.ascii {
			title = plainTitle(col)
		}
		role := theme.Dim
		if i == v.table.sort {
			role = theme.Accent
			title += string(pick(col.down != v.table.reverse, v.glyphs.Down, v.glyphs.Up))
		}
		at := x
		if !col.left {
			at = max(x, x+col.width-width(title))
		}
		c.put(at, r.y, r.x+r.w, role, " "+title+" ")
		x += col.width + 1
	}
}

func (v *view) procLine(c *canvas, r rect, cols []int, n int) {
	row := v.table.rows[n]
	x := r.x + 2
	for k, i := range cols {
		col := columns[i]
		end := min(x+col.width, r.x+r.w)
		if k == len(cols)-1 {
			end = r.x + r.w
		}
		if col.text == nil {
			v.shareBar(c, x, r.y, end-x, row)
		} else {
			text := col.format(row, col.width)
			if k == len(cols)-1 {
				text = commandOf(row, v.words)
			}
			c.put(x, r.y, end, col.role(row), text)
		}
		x += col.width + 1
	}
	if n == v.table.cursor {
		c.ground(r.x, r.y, r.x+r.w, theme.Selected)
		c.set(r.x, r.y, v.glyphs.Cursor, theme.Accent)
	}
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
