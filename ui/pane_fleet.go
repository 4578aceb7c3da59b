package ui

import (
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
	lines := v.fleet.size() + 1 + border
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
	case p.blocks > 0:
		v.fleetBlocks(c, p.list, p.blocks)
	default:
		r := v.fleetBox(c, p.list, boxed(w, h))
		if v.sayingApart(w, h) && r.h > 2 {
			r.h--
			said := v.selectedSaying()
			c.cut(r.x+1, r.y+r.h, r.x+r.w, said.role, said.text)
		}
		v.fleetList(c, r, h >= footerHeight, boxed(w, h))
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
	if t.gpus > 0 {
		add(2, theme.Need, v.needText())
	}
	if v.fleet.by == ungrouped && v.fleet.ranked != worstFirst {
		add(5, theme.Need, v.words.Say(orderSays[v.fleet.ranked]))
	}
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
	if t.gpus > 0 {
		add(7, theme.Text, v.words.Count("count.gpu", t.gpus))
		add(8, theme.Text, usedOf(t.used, t.capacity))
	}
	if t.procs > 0 {
		add(10, theme.Dim, v.words.Count("count.process", t.procs))
	}
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

// usedOf is how much of a total is used: "481/637G"; of one that is not known, how much.
func usedOf(used, total sampler.Bytes) string {
	if total == 0 {
		return used.Short()
	}
	return beside(used, total) + "/" + total.Short()
}

// fleetBox frames the list, and returns the room inside.
func (v *view) fleetBox(c *canvas, r rect, boxed bool) rect {
	if !boxed || r.h < 4 {
		return r
	}
	v.frame(c, r, pick(v.fleet.listed, theme.Faint, theme.Accent))
	title := map[grouping]string{ungrouped: "fleet.hosts", byUser: "fleet.users", byJob: "fleet.jobs"}[v.fleet.by]
	x := c.put(r.x+1, r.y, r.x+r.w, theme.Accent, " "+v.words.Say(title)+" ")
	x = c.put(x, r.y, r.x+r.w, theme.Text, strconv.Itoa(v.fleet.size())+" ")
	x = c.put(x, r.y, r.x+r.w, theme.Need, v.filterText())
	v.keys(c, x+1, r.y, r.x+r.w-2, listHints)
	end := r.x + r.w - 2
	if more := v.listMore(r.h - 3); more != "" {
		end = c.right(r.x+1, r.y+r.h-1, end, theme.Dim, more+" ")
	}
	if said := v.selectedSaying(); said.text != "" {
		c.cut(r.x+2, r.y+r.h-1, end-1, said.role, " "+said.text+" ")
	}
	return rect{r.x + 1, r.y + 1, r.w - 2, r.h - 2}
}

var listHints = []hint{{"w", "hint.order"}, {"t", "hint.by"}, {"/", "hint.filter"}, {"Enter", "hint.open"}}

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
		said.text = v.words.Say("fleet.alert", "host", k.host.Name, "text", said.text)
	}
	return said
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
			lines = append(lines, alertLines(said.role, v.glyphs.Alert, said.text, w)...)
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
