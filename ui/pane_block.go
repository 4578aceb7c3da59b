package ui

import (
	"fmt"
	"strings"

	"nvpeak/sampler/fleet"
	"nvpeak/theme"
)

// blocksIn is in how few columns every machine has a block in a room, and how many rows those take; 0: it has not.
func (v *view) blocksIn(w, h int) (cols, rows int) {
	if v.fleet.by != ungrouped || len(v.fleet.rows) == 0 || w < boxesWidth {
		return 0, 0
	}
	for n := max(1, min(w/blockWidth, len(v.fleet.rows))); n <= len(v.fleet.rows) && (w-n+1)/n >= blockMinWidth; n++ {
		total := 0
		for i := 0; i < len(v.fleet.rows); i += n {
			total += v.rowHeight(v.fleet.rows[i:min(i+n, len(v.fleet.rows))], (w-n+1)/n)
		}
		if total <= h {
			return n, total
		}
	}
	return 0, 0
}

// blockWidth is what a block would like, and blockMinWidth that in which a sentence and the figures of a GPU have room.
const (
	blockWidth    = 100
	blockMinWidth = 56
)

// rowHeight is that of the highest of blocks beside each other.
func (v *view) rowHeight(list []*machine, w int) (h int) {
	for _, k := range list {
		h = max(h, k.row.height(w))
	}
	return h
}

// height is how many rows the block of a machine takes.
func (r *machineRow) height(w int) int {
	n := 0
	if r.v != nil {
		n = len(r.v.snap.GPUs)
	}
	return 2 + rowsIn(n, gpuColumns(w))
}

// gpuColumns is in how many columns of lines a block has its GPUs at most.
func gpuColumns(w int) int { return max(1, (w-4+lineGap)/(lineMinWidth+lineGap)) }

// fleetBlocks draws a block for each machine.
func (v *view) fleetBlocks(c *canvas, r rect, cols int) {
	w := (r.w - cols + 1) / cols
	y := r.y
	for i := 0; i < len(v.fleet.rows); i += cols {
		list := v.fleet.rows[i:min(i+cols, len(v.fleet.rows))]
		h := v.rowHeight(list, w)
		for j, k := range list {
			v.block(c, rect{r.x + j*(r.w-w)/max(cols-1, 1), y, w, h}, k, i+j)
		}
		y += h
	}
}

// block is a machine with a bar for each GPU; the most urgent of it stands in its lower border.
func (v *view) block(c *canvas, r rect, k *machine, n int) {
	row := &k.row
	v.spot(r, clickMachine(n, k.host.Name))
	said := row.saying(v)
	role := pick(said.role == theme.Dim, theme.Faint, said.role)
	if n == v.fleet.cursor && !v.fleet.listed {
		role = theme.Accent
	}
	v.frame(c, r, role)
	x := c.put(r.x+1, r.y, r.x+r.w-2, pick(n == v.fleet.cursor, theme.Accent, theme.Text), " "+pick(n == v.fleet.cursor && !v.fleet.listed, string(v.glyphs.Focus)+" ", ""))
	x = c.cut(x, r.y, r.x+r.w-2, theme.Strong, k.host.Name+" ")
	if text := row.figures(v); text != "" && x+width(text)+3 < r.x+r.w {
		c.right(x, r.y, r.x+r.w-2, theme.Dim, " "+text+" ")
	}
	if said.text != "" {
		sign := pick(said.role == theme.Dim, "", string(v.glyphs.Alert)+" ")
		c.cut(r.x+2, r.y+r.h-1, r.x+r.w-2, said.role, " "+sign+said.text+" ")
	}
	if row.v == nil {
		return
	}
	in := rect{r.x + 2, r.y + 1, r.w - 4, r.h - 2}
	gpus := row.v.snap.GPUs
	cols := columnsFor(len(gpus), in.h, gpuColumns(r.w))
	rows, w := rowsIn(len(gpus), cols), (in.w-(cols-1)*lineGap)/cols
	for i := range gpus {
		row.v.gpuLine(c, rect{in.x + i/rows*(w+lineGap), in.y + i%rows, w, 1}, &gpus[i])
	}
	if row.old() {
		c.recolor(in, theme.Dim)
	}
}

// figures are the totals of a machine.
func (r *machineRow) figures(v *view) string {
	if r.v == nil || len(r.v.snap.GPUs) == 0 {
		return ""
	}
	text := ""
	if r.room > 0 {
		text = usedOf(r.used, r.room)
	}
	if busy, ok := r.busy.Value(); ok {
		text += fmt.Sprintf("  %3d%%", busy)
	}
	if v.need > 0 {
		text = v.words.Say("fleet.fits", "count", r.fitText()) + "  " + text
	}
	if len(r.users) > 0 {
		text = strings.Join(r.users[:min(len(r.users), 3)], " ") + pick(len(r.users) > 3, string(v.glyphs.Ellipsis), "") + "  " + text
	}
	return text
}

// saying is what there is to say of a machine: how it stands where that is not well, or what is open there.
func (r *machineRow) saying(v *view) piece {
	reason := ""
	if r.host.Reason != "" {
		reason = v.words.Say("list.colon") + v.words.Reason(r.host.Reason)
	}
	since := r.host.Since.Format("15:04:05")
	switch r.host.State {
	case fleet.Lost:
		text := v.words.Say("fleet.says_lost", "time", since) + reason
		if at, ok := r.host.Retry.Value(); ok {
			text += v.words.Say("fleet.retry", "time", at.Format("15:04:05"))
		}
		return piece{theme.Critical, text}
	case fleet.Connecting:
		return piece{theme.Dim, v.words.Say("fleet.connecting") + reason}
	}
	said := piece{theme.Dim, ""}
	if r.said != "" {
		said = piece{r.level, r.said}
	}
	if r.host.State == fleet.Late {
		late := v.words.Say("fleet.says_late", "time", since)
		if said.text != "" {
			return piece{said.role, said.text + v.words.Say("list.semicolon") + late}
		}
		return piece{theme.Warning, late + reason}
	}
	if said.text == "" {
		said.text = v.words.Reason(r.host.Reason) // what its figures lack
	}
	return said
}
