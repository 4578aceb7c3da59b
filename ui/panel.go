package ui

import (
	"fmt"

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
			x = c.put(x, r.y+i, r.x+r.w, p.role, p.text)
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
	const tl, tr, bl, br, side = '╭', '╮', '╰', '╯', '│'
	right, bottom := r.x+r.w-1, r.y+r.h-1
	for x := r.x; x <= right; x++ {
		c.set(x, r.y, v.glyphs.Line, theme.Faint)
		c.set(x, bottom, v.glyphs.Line, theme.Faint)
	}
	for y := r.y; y <= bottom; y++ {
		c.set(r.x, y, side, theme.Faint)
		c.set(right, y, side, theme.Faint)
	}
	c.set(r.x, r.y, tl, theme.Faint)
	c.set(right, r.y, tr, theme.Faint)
	c.set(r.x, bottom, bl, theme.Faint)
	c.set(right, bottom, br, theme.Faint)
	c.put(r.x+2, r.y, right, theme.Accent, " "+title+" ")
	return in
}
