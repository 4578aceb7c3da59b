package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/theme"
)

// several says whether the screen shows all machines.
func (v *view) several() bool { return v.fleet != nil && v.fleet.open == nil }

// of is what there is of the machine of a row of several, and the row as that has it.
func (v *view) of(r procRow) (*view, procRow) {
	if r.host == "" || v.fleet == nil {
		return v, r
	}
	if k := v.fleet.named(r.host); k != nil && k.row.v != nil {
		v, r.host = k.row.v, ""
	}
	return v, r
}

// fleetPlan is where everything goes on the screen of all machines.
type fleetPlan struct {
	header, footer, list, procs rect
	blocks                      int // columns of machines with a bar for each GPU; 0: each has a line
}

// fleetTable is what the processes have at least, where they have room below all machines.
const fleetTable = 6

// arrangeFleet plans it: the machines first, in as much room as they can use, then the processes.
func (v *view) arrangeFleet(w, h int) (p fleetPlan) {
	top, bottom := 0, h
	if h >= headerHeight || v.label != "" && h > 1 {
		p.header, top = rect{0, 0, w, 1}, 1
	}
	if h >= footerHeight {
		p.footer, bottom = rect{0, h - 1, w, 1}, h-1
	}
	body, border := bottom-top, pick(boxed(w, h), 2, 0)
	lines := len(v.fleet.keys()) + 1 + border
	if h < footerHeight {
		lines-- // no titles
	}
	if v.sayingApart(w, h) {
		lines++
	}
	used := lines
	if cols, rows := v.blocksIn(w, body-max(body/4, fleetTable)); cols > 0 {
		p.blocks, used = cols, rows
	}
	switch {
	case used <= body-fleetTable:
	case v.fleet.listed:
		used = 0
	default:
		used = body
	}
	p.list, p.procs = rect{0, top, w, used}, rect{0, top + used, w, body - used}
	return p
}

// blocksIn is in how many columns every machine has a block in a room, and how many rows those take; 0: it has not.
func (v *view) blocksIn(w, h int) (cols, rows int) {
	if v.fleet.by != ungrouped || len(v.fleet.rows) == 0 || w < boxesWidth {
		return 0, 0
	}
	for n := 1; n <= len(v.fleet.rows) && (w-n+1)/n >= blockMinWidth; n++ {
		total := 0
		for i := 0; i < len(v.fleet.rows); i += n {
			total += v.rowHeight(v.fleet.rows[i:min(i+n, len(v.fleet.rows))], (w-n+1)/n)
		}
		if total <= h && (cols == 0 || total < rows) {
			cols, rows = n, total
		}
	}
	return cols, rows
}

// blockMinWidth is that of a block in which a sentence and the figures of a GPU have room.
const blockMinWidth = 56

// rowHeight is that of the highest of blocks beside each other.
func (v *view) rowHeight(list []*machine, w int) (h int) {
	for _, k := range list {
		h = max(h, k.row.height(w))
	}
	return h
}

// height is how many rows the block of a machine takes.
func (r *machineRow) height(w int) int {
	n := 1
	if r.v != nil {
		n = max(1, len(r.v.snap.GPUs))
	}
	return 2 + rowsIn(n, gpuColumns(w))
}

// gpuColumns is in how many columns of lines a block has its GPUs at most.
func gpuColumns(w int) int { return max(1, (w-4+lineGap)/(lineMinWidth+lineGap)) }

// drawFleet draws the screen of all machines.
func (v *view) drawFleet(w, h int) *canvas {
	c := v.canvas(w, h)
	if v.snap == nil || len(v.fleet.list) == 0 {
		c.put(1, h/2, w, theme.Dim, v.words.Say("fleet.connecting"))
		return c
	}
	p := v.arrangeFleet(w, h)
	if p.header.h > 0 {
		v.fleetHeader(c, p.header)
	}
	switch {
	case p.list.h == 0:
	case v.fleet.by != ungrouped:
		v.fleetGroups(c, v.fleetBox(c, p.list, boxed(w, h)))
	case p.blocks > 0:
		v.fleetBlocks(c, p.list, p.blocks)
	default:
		r := v.fleetBox(c, p.list, boxed(w, h))
		if v.sayingApart(w, h) && r.h > 2 {
			r.h--
			said := v.selectedSaying()
			c.cut(r.x+1, r.y+r.h, r.x+r.w, said.role, said.text)
		}
		v.fleetLines(c, r, h >= footerHeight)
	}
	if p.procs.h > 0 {
		v.procPane(c, p.procs, boxed(w, h))
	}
	if p.footer.h > 0 || v.footer.prompt != "" || v.footer.notice != "" {
		r := p.footer
		if r.h == 0 {
			r = rect{0, h - 1, w, 1}
			c.clear(r)
		}
		v.footerPane(c, r)
	}
	return c
}

// fleetHeader is the first line: how the machines stand, what they have, and what is open. What matters least goes first where
// there is no room.
func (v *view) fleetHeader(c *canvas, r rect) {
	t := &v.fleet.total
	type part struct {
		piece
		rank int
	}
	var parts []part
	add := func(rank int, role theme.Role, text string) {
		if text != "" {
			parts = append(parts, part{piece{role, text}, rank})
		}
	}
	counted := func(rank int, role theme.Role, id string, n int) {
		if n > 0 {
			add(rank, role, v.words.Say(id, "count", n))
		}
	}
	add(0, theme.Strong, v.words.Count("count.host", len(v.fleet.list)))
	add(2, theme.Need, v.needText())
	counted(6, theme.Ok, "fleet.ok", t.hosts[fleet.OK])
	counted(3, theme.Warning, "fleet.late", t.hosts[fleet.Late])
	counted(1, theme.Critical, "fleet.lost", t.hosts[fleet.Lost])
	counted(5, theme.Notice, "fleet.waiting", t.hosts[fleet.Connecting])
	counted(2, theme.Critical, "fleet.critical", t.critical)
	if t.warned > 0 {
		add(4, theme.Warning, v.words.Count("count.warning", t.warned))
	}
	if t.notices > 0 {
		add(9, theme.Notice, v.words.Count("count.notice", t.notices))
	}
	add(7, theme.Text, v.words.Count("count.gpu", t.gpus))
	add(8, theme.Text, usedOf(t.used, t.capacity))
	add(10, theme.Dim, v.words.Count("count.process", t.procs))
	x := r.x + 1
	if r.w >= slitWidth {
		x = c.put(r.x, r.y, r.x+r.w, theme.Accent, " nvpeak ")
	}
	for _, p := range v.state() {
		text := p.text
		if r.w < slitWidth {
			text, _, _ = strings.Cut(text, " ")
		}
		x = c.cut(x, r.y, r.x+r.w-1, p.role, text) + 2
	}
	end := r.x + r.w - 1
	if clock := v.wall(v.now()).Format("15:04:05"); r.w >= slitWidth {
		end = c.right(x, r.y, end, theme.Dim, clock) - 2
	}
	room := func() (w int) {
		for _, p := range parts {
			w += width(p.text) + 2
		}
		return w - 2
	}
	for room() > end-x && len(parts) > 1 {
		last := 0
		for i, p := range parts {
			if p.rank > parts[last].rank {
				last = i
			}
		}
		parts = slices.Delete(parts, last, last+1)
	}
	for _, p := range parts {
		x = c.cut(x, r.y, end, p.role, p.text) + 2
	}
	c.ground(r.x, r.y, r.x+r.w, theme.Bar)
}

// usedOf is how much of a total is used: "481/637G".
func usedOf(used, total sampler.Bytes) string { return beside(used, total) + "/" + total.Short() }

// fleetBox frames the list, and returns the room inside.
func (v *view) fleetBox(c *canvas, r rect, boxed bool) rect {
	if !boxed || r.h < 4 {
		return r
	}
	v.frame(c, r, pick(v.fleet.listed, theme.Faint, theme.Accent))
	title := map[grouping]string{ungrouped: "fleet.hosts", byUser: "fleet.users", byJob: "fleet.jobs"}[v.fleet.by]
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Accent, " "+v.words.Say(title)+" ")
	x = c.put(x, r.y, r.x+r.w, theme.Text, strconv.Itoa(len(v.fleet.keys()))+" ")
	x = c.put(x, r.y, r.x+r.w, theme.Need, v.filterText())
	v.keys(c, x+1, r.y, r.x+r.w-2, listHints)
	end := r.x + r.w - 2
	if hidden := len(v.fleet.keys()) - v.firstOf(r.h-3) - (r.h - 3); hidden > 0 {
		end = c.right(r.x+1, r.y+r.h-1, end, theme.Dim, " "+v.words.Say("screen.more", "count", hidden)+fmt.Sprintf(" %c ", v.glyphs.Down))
	}
	if said := v.selectedSaying(); said.text != "" {
		c.cut(r.x+2, r.y+r.h-1, end-1, said.role, " "+said.text+" ")
	}
	return rect{r.x + 1, r.y + 1, r.w - 2, r.h - 2}
}

var listHints = []hint{{"t", "hint.by"}, {"/", "hint.filter"}, {"Enter", "hint.open"}}

// selectedSaying is what there is to say of the machine under the cursor, which its line may have no room for.
func (v *view) selectedSaying() piece {
	if v.fleet.by != ungrouped || v.fleet.cursor >= len(v.fleet.rows) {
		return piece{}
	}
	k := v.fleet.rows[v.fleet.cursor]
	said := k.row.saying(v)
	if said.text == "" {
		said.text = k.row.figures(v)
	}
	if said.text != "" {
		said.text = v.words.Say("fleet.alert", "host", k.host.Name, "text", strings.TrimPrefix(said.text, string(v.glyphs.Alert)+" "))
	}
	return said
}

// firstOf is the first row of the list of which so many are shown, so that the cursor is among them.
func (v *view) firstOf(rows int) int {
	return max(0, min(v.fleet.cursor-rows+1, len(v.fleet.keys())-rows))
}

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
		c.cut(r.x+2, r.y+r.h-1, r.x+r.w-2, said.role, " "+said.text+" ")
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
	text := usedOf(r.used, r.room)
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

// fitText is on how many of its GPUs the need fits: "3/8".
func (r *machineRow) fitText() string { return fmt.Sprintf("%d/%d", r.fits, len(r.v.snap.GPUs)) }

// saying is what there is to say of a machine: how it stands where that is not well, or what is open there.
func (r *machineRow) saying(v *view) piece {
	reason := ""
	if r.host.Reason != "" {
		reason = v.words.Say("list.colon") + r.host.Reason
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
		said = piece{r.level, string(v.glyphs.Alert) + " " + r.said}
	}
	if r.host.State == fleet.Late {
		late := v.words.Say("fleet.says_late", "time", since)
		if said.text != "" {
			return piece{said.role, said.text + v.words.Say("list.semicolon") + late}
		}
		return piece{theme.Warning, late + reason}
	}
	if said.text == "" {
		said.text = r.host.Reason // what its figures lack
	}
	return said
}

// lineColumns are what the line of a machine has room for.
type lineColumns struct {
	name, cell, strip, free, fits, peak, busy, memory, users, text int
}

// slitText is with less room than that for each sentence, that of the selected machine has a line of its own.
const slitText = 60

// sayingApart says whether it has: a box has it in its border.
func (v *view) sayingApart(w, h int) bool {
	return !boxed(w, h) && v.fleet.by == ungrouped && v.columnsOf(w).text < slitText
}

// textLeast is the least room in which a sentence says something.
const textLeast = 16

// columnsOf plans the lines of all machines.
func (v *view) columnsOf(w int) (l lineColumns) {
	gpus := 1
	for _, k := range v.fleet.rows {
		l.name = max(l.name, width(k.host.Name))
		if k.row.v != nil {
			gpus = max(gpus, len(k.row.v.snap.GPUs))
		}
	}
	l.name = max(4, min(l.name, max(w/4, 10), 24))
	left := w - 2 - l.name - 1
	take := func(room, keep int) int {
		if left-room-1 < keep {
			return 0
		}
		left -= room + 1
		return room
	}
	l.free = take(pick(w < slitWidth, 6, 8), 6)
	if v.need > 0 {
		l.fits = take(5, 8)
	}
	l.peak = take(6, 10)
	l.cell = max(1, min((left*2/5)/gpus, 8))
	switch {
	case l.cell < markCell:
		l.cell = 1
	case l.cell < barCell:
		l.cell = markCell
	}
	l.strip = max(1, min(gpus*l.cell, left-1))
	left -= l.strip + 1
	l.busy = take(4, 24)
	l.memory = take(10, 44)
	l.users = take(14, 44)
	if l.text = left; l.text < textLeast {
		l.text = 0 // it would say nothing
	}
	return l
}

// fleetLines draws a line for each machine.
func (v *view) fleetLines(c *canvas, r rect, titled bool) {
	l := v.columnsOf(r.w)
	if titled {
		v.lineTitles(c, r, l, r.x > 0)
		r.y, r.h = r.y+1, r.h-1
	}
	first := v.firstOf(r.h)
	for i := range min(r.h, len(v.fleet.rows)-first) {
		v.machineLine(c, rect{r.x, r.y + i, r.w, 1}, v.fleet.rows[first+i], first+i, l)
	}
	if len(v.fleet.rows) == 0 {
		c.put(r.x+2, r.y, r.x+r.w, theme.Dim, v.words.Say("fleet.no_match"))
	}
}

// lineTitles are the titles of the columns.
func (v *view) lineTitles(c *canvas, r rect, l lineColumns, boxed bool) {
	x := r.x + 2
	put := func(w int, right bool, text string) {
		if w == 0 {
			return
		}
		if text = v.words.Say(text); right {
			c.right(x, r.y, x+w, theme.Dim, text)
		} else {
			c.cut(x, r.y, x+w, theme.Dim, text)
		}
		x += w + 1
	}
	put(l.name, false, "fleethead.host")
	put(l.strip, false, "fleethead.gpus")
	put(l.free, true, "fleethead.free")
	put(l.fits, true, "fleethead.fits")
	if l.peak > 0 {
		c.set(x, r.y, v.glyphs.Peak, theme.Dim)
		c.cut(x+1, r.y, x+l.peak, theme.Dim, v.words.Say("fleethead.peak"))
		x += l.peak + 1
	}
	put(l.busy, true, "fleethead.busy")
	put(l.memory, true, "fleethead.memory")
	put(l.users, false, "fleethead.users")
	put(l.text, false, "fleethead.alert")
	if hidden := len(v.fleet.rows) - v.firstOf(r.h-1) - (r.h - 1); hidden > 0 && !boxed {
		c.right(r.x, r.y, r.x+r.w-1, theme.Dim, " "+v.words.Say("screen.more", "count", hidden)+fmt.Sprintf(" %c", v.glyphs.Down))
	}
}

// machineLine draws a machine on one line.
func (v *view) machineLine(c *canvas, r rect, k *machine, n int, l lineColumns) {
	row := &k.row
	v.spot(r, clickMachine(n, k.host.Name))
	said := row.saying(v)
	x := r.x + 2
	sign := pick(said.role == theme.Dim, ' ', v.glyphs.Alert)
	c.set(r.x+1, r.y, sign, said.role)
	c.cut(x, r.y, x+l.name, pick(said.role == theme.Dim, theme.Text, said.role), k.host.Name)
	x += l.name + 1
	if row.v == nil {
		c.cut(x, r.y, r.x+r.w, said.role, said.text)
	} else {
		v.strip(c, rect{x, r.y, l.strip, 1}, row, l.cell)
		x += l.strip + 1
		v.machineFigures(c, x, r.y, row, l)
		if end := r.x + r.w; l.text > 0 {
			text := strings.TrimPrefix(said.text, string(v.glyphs.Alert)+" ")
			c.cut(end-l.text, r.y, end, said.role, text)
		}
		if row.old() {
			c.recolor(rect{x - l.strip - 1, r.y, r.x + r.w - l.text - x + l.strip + 1, 1}, theme.Dim)
		}
	}
	if n == v.fleet.cursor && !v.fleet.listed {
		c.ground(r.x, r.y, r.x+r.w, theme.Selected)
		c.set(r.x, r.y, v.glyphs.Cursor, theme.Accent)
	}
}

// machineFigures are those of the line after the strip.
func (v *view) machineFigures(c *canvas, x, y int, row *machineRow, l lineColumns) {
	free, peak, level := "", "", theme.Dim
	if g := row.least; g != nil {
		free = row.free.Short()
		level = row.v.levelOf(g, g.Memory.Total.Or(0).Less(row.free))
		if g.Memory.Peak != nil {
			peak = string(v.glyphs.Peak) + gib(g.Memory.Peak.Bytes)
		}
	}
	if l.free > 0 {
		c.right(x, y, x+l.free, pick(level == theme.Ok, theme.Text, level), free)
		x += l.free + 1
	}
	if l.fits > 0 {
		c.right(x, y, x+l.fits, pick(row.fits > 0, theme.Need, theme.Dim), row.fitText())
		x += l.fits + 1
	}
	if l.peak > 0 {
		c.cut(x, y, x+l.peak, pick(level == theme.Ok, theme.Peak, level), peak)
		x += l.peak + 1
	}
	if l.busy > 0 {
		c.right(x, y, x+l.busy, theme.Util, percentOr(row.busy))
		x += l.busy + 1
	}
	if l.memory > 0 {
		c.right(x, y, x+l.memory, theme.Text, usedOf(row.used, row.room))
		x += l.memory + 1
	}
	if l.users > 0 {
		c.cut(x, y, x+l.users, theme.Dim, strings.Join(row.users, " "))
	}
}

// barCell is the room from which on a GPU of a strip has a bar, markCell that from which on it has a mark beside its height.
const (
	barCell  = 6
	markCell = 3
)

// strip draws the GPUs of a machine beside each other: as bars with their peaks where there is room, or else as high as their use with
// the mark of the peak; with the least room in a cell each, in the color of the peak. Where there are more than cells the worst are shown.
func (v *view) strip(c *canvas, r rect, row *machineRow, cell int) {
	list := (&gpuList{worstFirst: len(row.v.snap.GPUs)*cell > r.w}).ordered(row.v.snap)
	for i, g := range list[:min(len(list), r.w/cell)] {
		x := r.x + i*cell
		switch total, known := g.Memory.Total.Value(); {
		case !known || !g.Memory.Used.Known():
			c.fill(x, r.y, x+max(cell-1, 1), theme.Critical, v.glyphs.Alert)
		case cell >= barCell:
			row.v.memoryBar(c, x, r.y, cell-1, g, v.glyphs.Low)
		default:
			used := g.Memory.Used.Or(0)
			peak := used
			if p := g.Memory.Peak; p != nil {
				peak = max(peak, p.Bytes)
			}
			role := row.v.levelOf(g, pick(cell < markCell, peak, used))
			if cell >= markCell && peak > 0 {
				c.set(x+1, r.y, v.glyphs.Peak, row.v.peakRole(g, peak))
			}
			at := int(math.Round(min(percent(used, total), 100) / 100 * float64(len(v.glyphs.Spark)-1)))
			c.set(x, r.y, v.glyphs.Spark[at], role)
			c.bar(x, r.y, x+1)
		}
	}
}

// fleetGroups draws a line for each user or job.
func (v *view) fleetGroups(c *canvas, r rect) {
	const hosts, gpus, procs, memory = 5, 5, 6, 10
	name := max(8, min(r.w/3, 48))
	if v.fleet.by == byUser {
		name = max(8, min(r.w/3, 16))
	}
	put := func(y int, x, w int, right bool, role theme.Role, text string) int {
		if x+w > r.x+r.w {
			return r.x + r.w
		}
		if right {
			c.right(x, y, x+w, role, text)
		} else {
			c.cut(x, y, x+w, role, text)
		}
		return x + w + 1
	}
	line := func(y int, title bool, texts ...string) int {
		role := func(r theme.Role) theme.Role { return pick(title, theme.Dim, r) }
		x := put(y, r.x+2, name, false, role(theme.Strong), texts[0])
		x = put(y, x, memory, true, role(theme.Text), texts[1])
		x = put(y, x, gpus, true, role(theme.Text), texts[2])
		x = put(y, x, hosts, true, role(theme.Text), texts[3])
		return put(y, x, procs, true, role(theme.Dim), texts[4]) + 1
	}
	end := line(r.y, true, v.words.Say(pick(v.fleet.by == byUser, "fleethead.user", "fleethead.job")), v.words.Say("fleethead.memory"), v.words.Say("fleethead.gpus"), v.words.Say("fleethead.hosts"), v.words.Say("fleethead.procs"))
	c.cut(end, r.y, r.x+r.w, theme.Dim, v.words.Say("fleethead.where"))
	rows := r.h - 1
	first := v.firstOf(rows)
	for i := range min(rows, len(v.fleet.groups)-first) {
		g, y := v.fleet.groups[first+i], r.y+1+i
		on := g.hosts()
		v.spot(rect{r.x, y, r.w, 1}, clickMachine(first+i, g.id))
		line(y, false, g.name, g.holds.String(), strconv.Itoa(len(g.gpus)), strconv.Itoa(len(on)), strconv.Itoa(len(g.procs)))
		c.cut(end, y, r.x+r.w, theme.Dim, strings.Join(on, " "))
		if first+i == v.fleet.cursor && !v.fleet.listed {
			c.ground(r.x, y, r.x+r.w, theme.Selected)
			c.set(r.x, y, v.glyphs.Cursor, theme.Accent)
		}
	}
	if len(v.fleet.groups) == 0 {
		c.put(r.x+2, r.y+1, r.x+r.w, theme.Dim, v.words.Say("screen.no_processes"))
	}
}

// hosts are the machines that a group is on.
func (g *group) hosts() (list []string) {
	for key := range g.gpus {
		if !slices.Contains(list, key.Host) {
			list = append(list, key.Host)
		}
	}
	slices.Sort(list)
	return list
}

// fleetAdvice is everything there is to say of the machines, in their order: how they stand, and open alerts with why and what to
// type.
func (v *view) fleetAdvice(w int) (lines []textLine) {
	for _, k := range v.fleet.rows {
		r := &k.row
		said := r.saying(v)
		if said.role == theme.Dim {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, textLine{})
		}
		lines = append(lines, textLine{{theme.Accent, k.host.Name}})
		var groups []watch.Group
		if r.v != nil && !r.old() {
			groups = r.v.groups()
		}
		if len(groups) == 0 || r.host.State != fleet.OK {
			lines = append(lines, alertLines(said.role, v.glyphs.Alert, strings.TrimPrefix(said.text, string(v.glyphs.Alert)+" "), w)...)
		}
		for _, a := range groups {
			lines = append(lines, r.v.alertFull(a.Alert, w)...)
		}
	}
	if len(lines) == 0 {
		lines = []textLine{{{theme.Ok, v.words.Say("fleet.no_problems", "hosts", v.words.Count("count.host", len(v.fleet.rows)))}}}
	}
	return lines
}
