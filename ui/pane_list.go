package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler/fleet"
	"nvpeak/theme"
)

// listColumn is a column of the list of machines, of users or of jobs.
type listColumn struct {
	title string
	w     int
	right bool
	text  func(row int) piece
	draw  func(c *canvas, r rect, row int) // instead of it
}

// listColumns are those that the list has on w columns. A machine's last one is what there is to say of it.
func (v *view) listColumns(w int) []listColumn {
	if v.fleet.by != ungrouped {
		return v.groupColumns(w)
	}
	return v.machineColumns(w)
}

// fleetList draws a line for each machine, user or job, below their titles where there is room for them.
func (v *view) fleetList(c *canvas, r rect, titled, boxed bool) {
	columns, keys := v.listColumns(r.w), v.fleet.keys()
	line := func(y int, cell func(listColumn, rect)) {
		x := r.x + 2
		for _, l := range columns {
			cell(l, rect{x, y, max(0, min(l.w, r.x+r.w-x)), 1})
			x += l.w + 1
		}
	}
	put := func(l listColumn, at rect, p piece) {
		if l.right {
			c.right(at.x, at.y, at.x+at.w, p.role, p.text)
		} else {
			c.cut(at.x, at.y, at.x+at.w, p.role, p.text)
		}
	}
	if titled {
		line(r.y, func(l listColumn, at rect) { put(l, at, piece{theme.Dim, l.title}) })
		if more := v.listMore(r.h - 1); !boxed && more != "" {
			c.right(r.x, r.y, r.x+r.w-1, theme.Dim, more)
		}
		r.y, r.h = r.y+1, r.h-1
	}
	first := v.firstOf(r.h)
	for i := range min(r.h, len(keys)-first) {
		row, y := first+i, r.y+i
		v.spot(rect{r.x, y, r.w, 1}, clickMachine(row, keys[row]))
		if v.fleet.by == ungrouped {
			if said := v.fleet.rows[row].row.saying(v); said.role != theme.Dim {
				c.set(r.x+1, y, v.glyphs.Alert, said.role)
			}
		}
		line(y, func(l listColumn, at rect) {
			if l.draw != nil {
				l.draw(c, at, row)
			} else {
				put(l, at, l.text(row))
			}
		})
		if row == v.fleet.cursor && !v.fleet.listed {
			c.ground(r.x, y, r.x+r.w, theme.Selected)
			c.set(r.x, y, v.glyphs.Cursor, theme.Accent)
		}
	}
	if len(keys) == 0 {
		c.put(r.x+2, r.y, r.x+r.w, theme.Dim, v.words.Say(pick(v.fleet.by == ungrouped, "fleet.no_match", "screen.no_processes")))
	}
}

// listMore says how many rows are below those that are shown; empty: none.
func (v *view) listMore(rows int) string {
	all := v.fleet.size()
	hidden := all - v.firstOf(rows) - rows
	if hidden <= 0 {
		return ""
	}
	return " " + v.words.Say("screen.more", "count", hidden) + fmt.Sprintf(" %c", v.glyphs.Down)
}

// firstOf is the first row of the list of which so many are shown, so that the cursor is among them.
func (v *view) firstOf(rows int) int {
	return max(0, min(v.fleet.cursor-rows+1, v.fleet.size()-rows))
}

// sentenceLeast is the least room in which a sentence says something; with less than sentenceWhole for that of each machine, that of the
// selected one has a line of its own.
const (
	sentenceLeast = 16
	sentenceWhole = 60
)

// sayingApart says whether it has: a box has it in its border.
func (v *view) sayingApart(w, h int) bool {
	if boxed(w, h) || v.fleet.by != ungrouped {
		return false
	}
	columns := v.machineColumns(w)
	last := columns[len(columns)-1]
	return last.title != v.words.Say("fleethead.alert") || last.w < sentenceWhole
}

// machineColumns are those of the machines: their GPUs get two fifths of what names and the least free memory leave, the sentences the
// rest.
func (v *view) machineColumns(w int) (list []listColumn) {
	name, gpus := 4, 1
	for _, k := range v.fleet.rows {
		name = max(name, width(k.host.Name))
		if k.row.v != nil {
			gpus = max(gpus, len(k.row.v.snap.GPUs))
		}
	}
	name = min(name, max(w/4, 10), 24)
	list = append(list, listColumn{title: v.words.Say("fleethead.host"), w: name, text: func(row int) piece {
		r := &v.fleet.rows[row].row
		role := r.saying(v).role
		return piece{pick(role == theme.Dim, theme.Text, role), r.host.Name}
	}})
	left := w - 2 - name - 1
	add := func(id string, w, keep int, right bool, text func(*machineRow) piece) {
		if left-w-1 < keep {
			return
		}
		left -= w + 1
		list = append(list, listColumn{title: v.words.Say(id), w: w, right: right, text: func(row int) piece {
			r := &v.fleet.rows[row].row
			if r.v == nil {
				return piece{}
			}
			p := text(r)
			return piece{pick(r.old(), theme.Dim, p.role), p.text}
		}})
	}
	free, freeText := "fleethead.free", func(r *machineRow) piece { return piece{r.freeRole(theme.Text), r.freeText()} }
	if v.fleet.ranked == roomFirst {
		free, freeText = "fleethead.most", func(r *machineRow) piece { return piece{theme.Strong, r.most.Short()} }
	}
	add(free, pick(w < slitWidth, 6, 8), 6, true, freeText)
	if v.need > 0 {
		add("fleethead.fits", 5, 8, true, func(r *machineRow) piece { return piece{pick(r.fits > 0, theme.Need, theme.Dim), r.fitText()} })
	}
	add("fleethead.peak", 6, 10, false, func(r *machineRow) piece { return piece{r.freeRole(theme.Peak), r.peakText(v.glyphs.Peak)} })
	if last := &list[len(list)-1]; last.title == v.words.Say("fleethead.peak") {
		last.title = string(v.glyphs.Peak) + last.title
	}
	cell := max(1, min((left*2/5)/gpus, 8))
	switch {
	case cell < markCell:
		cell = 1
	case cell < barCell:
		cell = markCell
	}
	strip := listColumn{title: v.words.Say("fleethead.gpus"), w: max(1, min(gpus*cell, left-1))}
	strip.draw = func(c *canvas, at rect, row int) {
		if r := &v.fleet.rows[row].row; r.v != nil {
			v.strip(c, at, r, cell)
			if r.old() {
				c.recolor(at, theme.Dim)
			}
		}
	}
	list, left = slices.Insert(list, 1, strip), left-strip.w-1
	add("fleethead.busy", 4, 24, true, func(r *machineRow) piece { return piece{theme.Util, percentOr(r.busy)} })
	add("fleethead.memory", 10, 60, true, func(r *machineRow) piece { return piece{theme.Text, usedOf(r.used, r.room)} })
	add("fleethead.users", 14, 60, false, func(r *machineRow) piece { return piece{theme.Dim, strings.Join(r.users, " ")} })
	if left >= sentenceLeast {
		list = append(list, listColumn{title: v.words.Say("fleethead.alert"), w: left, text: func(row int) piece { return v.fleet.rows[row].row.saying(v) }})
	}
	return list
}

// freeRole is the role of what was free at worst: its level, or another one where that is no danger.
func (r *machineRow) freeRole(calm theme.Role) theme.Role {
	if r.least == nil {
		return calm
	}
	level := r.v.levelOf(r.least, r.least.Memory.Total.Or(0).Less(r.free))
	return pick(level == theme.Ok, calm, level)
}

func (r *machineRow) freeText() string {
	if r.least == nil {
		return ""
	}
	return r.free.Short()
}

// peakText is the peak of the GPU that had least free.
func (r *machineRow) peakText(sign rune) string {
	if r.least == nil || r.least.Memory.Peak == nil {
		return ""
	}
	return string(sign) + gib(r.least.Memory.Peak.Bytes)
}

// fitText is on how many of its GPUs the need fits: "3/8"; "-/8" where that is not known.
func (r *machineRow) fitText() string {
	if r.host.State != fleet.OK {
		return fmt.Sprintf("-/%d", r.of)
	}
	return fmt.Sprintf("%d/%d", r.fits, r.of)
}

// shareLeast is the width from which on users and jobs have their part of the fleet's memory as a bar.
const shareLeast = 90

// groupColumns are those of users or jobs.
func (v *view) groupColumns(w int) (list []listColumn) {
	users := v.fleet.by == byUser
	left := w - 2
	add := func(id string, w int, right bool, role theme.Role, text func(*group) string) {
		if left >= w {
			list = append(list, listColumn{title: v.words.Say(id), w: w, right: right, text: func(row int) piece { return piece{role, text(v.fleet.groups[row])} }})
			left -= w + 1
		}
	}
	add(pick(users, "fleethead.user", "fleethead.job"), max(8, min(w/3, pick(users, 16, 72))), false, theme.Strong, func(g *group) string { return g.name })
	add("fleethead.memory", 10, true, theme.Text, func(g *group) string { return g.holds.String() })
	if total := v.fleet.total.capacity; w >= shareLeast && total > 0 {
		add("tablehead.share", 16, false, theme.Ok, nil)
		list[len(list)-1].draw = func(c *canvas, at rect, row int) {
			c.fill(at.x, at.y, at.x+at.w, theme.Faint, v.glyphs.BarEmpty)
			v.fillBar(c, at.x, at.y, at.w, percent(v.fleet.groups[row].holds, total)/100*float64(at.w), theme.Ok, v.glyphs.Thin)
		}
	}
	add("fleethead.gpus", 5, true, theme.Text, func(g *group) string { return strconv.Itoa(len(g.gpus)) })
	add("fleethead.hosts", 5, true, theme.Text, func(g *group) string { return strconv.Itoa(len(g.hosts())) })
	add("fleethead.procs", 6, true, theme.Dim, func(g *group) string { return strconv.Itoa(len(g.procs)) })
	add("fleethead.where", max(left, 4), false, theme.Dim, func(g *group) string { return strings.Join(g.hosts(), " ") })
	return list
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
		case g.Silent():
			c.fill(x, r.y, x+max(cell-1, 1), theme.Critical, v.glyphs.Alert)
		case !known || !g.Memory.Used.Known():
			c.fill(x, r.y, x+max(cell-1, 1), theme.Unknown, v.glyphs.BarUnknown)
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
