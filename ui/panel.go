package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"nvpeak/theme"
)

// piece is text in one role.
type piece struct {
	role theme.Role
	text string
}

// textLine is one line of a panel, in pieces.
type textLine []piece

// lastFirst is the first line shown at the end of a text of n lines in h rows.
func lastFirst(n, h int) int { return max(0, n-max(h, 1)) }

// textLines draws lines from number first on, or the last that fill r; the last says when
// there are more.
func (v *view) textLines(c *canvas, r rect, lines []textLine, first int) {
	first = max(0, min(first, lastFirst(len(lines), r.h)))
	for i := range min(r.h, len(lines)-first) {
		x := r.x
		for _, p := range lines[first+i] {
			x = c.cut(x, r.y+i, r.x+r.w, p.role, p.text)
		}
	}
	if left := len(lines) - first - r.h; left > 0 && r.h > 0 {
		c.right(r.x, r.y+r.h-1, r.x+r.w, theme.Dim, fmt.Sprintf(" %c ", v.glyphs.More)+v.words.Say("screen.more", "count", left))
	}
}

// centered is a panel in the middle of a screen of w columns and h rows.
func centered(w, h, panelW, panelH int) rect {
	panelW, panelH = min(panelW, w), min(panelH, h)
	return rect{(w - panelW) / 2, (h - panelH) / 2, panelW, panelH}
}

// inside is the room in a panel; a small one has no frame.
func inside(r rect) rect {
	if r.w < 8 || r.h < 4 {
		return r
	}
	return rect{r.x + 2, r.y + 1, r.w - 4, r.h - 2}
}

// box draws a framed panel over the screen and returns the room inside.
func (v *view) box(c *canvas, r rect, title string) rect {
	c.clear(r)
	in := inside(r)
	if in == r {
		return r
	}
	v.frame(c, r, theme.Faint)
	x := c.put(r.x+2, r.y, r.x+r.w-1, theme.Accent, " "+title+" ")
	if x+width(v.words.Say("proc.back"))+2 < r.x+r.w-2 {
		v.back(c, x, r.y, r.x+r.w-2)
	}
	return in
}

// back writes into the border of what covers the screen how to leave it.
func (v *view) back(c *canvas, x, y, end int) {
	text := " " + v.words.Say("proc.back") + " "
	from := c.right(x, y, end, theme.Dim, text)
	escape, _ := keyOf("Esc")
	v.spot(rect{from, y, width(text), 1}, func(m *Model) tea.Cmd { return m.key(escape) })
}

// frame draws the border of a panel: like a bar never in reverse video, which would make it one.
func (v *view) frame(c *canvas, r rect, role theme.Role) {
	g, bottom, right := v.glyphs, r.y+r.h-1, r.x+r.w-1
	for _, y := range []int{r.y, bottom} {
		c.fill(r.x, y, r.x+r.w, role, g.Line)
	}
	for y := r.y + 1; y < bottom; y++ {
		c.set(r.x, y, g.Side, role)
		c.set(right, y, g.Side, role)
		c.bar(r.x, y, r.x+1)
		c.bar(right, y, right+1)
	}
	c.set(r.x, r.y, g.Corners[0], role)
	c.set(right, r.y, g.Corners[1], role)
	c.set(r.x, bottom, g.Corners[2], role)
	c.set(right, bottom, g.Corners[3], role)
	c.bar(r.x, r.y, r.x+r.w)
	c.bar(r.x, bottom, r.x+r.w)
}

// keys writes keys and what they do into a border, so that they end before a column.
func (v *view) keys(c *canvas, x, y, end int, list []hint) {
	for i := len(list) - 1; i >= 0; i-- {
		word := v.words.Say(list[i].word)
		from := end - width(list[i].key) - width(word) - 3
		if from < x {
			return
		}
		at := c.put(from, y, end, theme.Accent, " "+list[i].key+" ")
		c.put(at, y, end, theme.Dim, word+" ")
		v.button(from+1, y, list[i])
		v.told = append(v.told, list[i])
		end = from
	}
}
