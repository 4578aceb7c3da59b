package ui

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"

	"nvpeak/theme"
	"nvpeak/ui/plain"
)

// canvas is a screen of cells that panes draw on. What does not fit is clipped, so a line
// always has exactly the width and no pane can disturb another, whatever it shows.
type canvas struct {
	w, h  int
	cells []cell
	ascii bool // draw nothing else
}

// cell is one column. A wide rune is followed by a cell with rune 0.
type cell struct {
	r rune
	look
}

// look is what a cell looks like, whatever the theme.
type look struct {
	role  theme.Role
	back  theme.Back
	drawn bool  // part of a bar: in reverse video a full one looks empty
	shade uint8 // of a plot: how high it stands, in percent, where the theme has a color for each
}

// rect is a part of the canvas.
type rect struct{ x, y, w, h int }

func newCanvas(w, h int) *canvas {
	c, _ := canvases.Get().(*canvas)
	if c == nil || len(c.cells) != w*h {
		c = &canvas{cells: make([]cell, w*h)}
	}
	c.w, c.h, c.ascii = w, h, false
	for i := range c.cells {
		c.cells[i] = blank
	}
	return c
}

// canvases are those that the screen has shown and nobody will see again: a frame takes as
// much memory as all else in a second.
var canvases sync.Pool

var blank = cell{r: ' '}

// put writes text from (x, y) on, at most to column end (exclusive), and returns the
// column after it. Text may come from outside: every rune is passed through harmless.
func (c *canvas) put(x, y, end int, role theme.Role, text string) int {
	from, to := len(text)-len(strings.TrimLeft(text, " ")), len(strings.TrimRight(text, " "))
	for i, r := range text {
		role := pick(i < from || i >= to, theme.Text, role) // around a text nothing is underlined or reversed
		r, w := harmless(r)
		if x+w > min(end, c.w) {
			break
		}
		c.set(x, y, r, role)
		if w == 2 {
			c.set(x+1, y, 0, role)
		}
		x += w
	}
	return x
}

// cut is put of text that says by an ellipsis where it ends too soon.
func (c *canvas) cut(x, y, end int, role theme.Role, text string) int {
	room := min(end, c.w) - x
	if fits(text, room) {
		return c.put(x, y, end, role, text)
	}
	if room < 1 {
		return x
	}
	x = c.put(x, y, x+room-1, role, text)
	c.set(x, y, '…', role)
	return x + 1
}

// fits says whether text takes at most so many columns. It reads no further.
func fits(text string, columns int) bool {
	for _, r := range text {
		_, w := harmless(r)
		if columns -= w; columns < 0 {
			return false
		}
	}
	return true
}

// set draws one rune of one column, or 0 as the second half of a wide one.
func (c *canvas) set(x, y int, r rune, role theme.Role) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	if c.ascii && r > '~' {
		r = asciiFor(r)
	}
	row := c.cells[y*c.w : (y+1)*c.w]
	if r == 0 && (c.ascii || x == 0) {
		r = ' ' // the first half has become '?', or is outside
	}
	if row[x].r == 0 && r != 0 && x > 0 { // one half of a wide rune goes, so the other must
		row[x-1].r = ' '
	}
	if x+1 < c.w && row[x+1].r == 0 {
		row[x+1].r = ' '
	}
	row[x].r, row[x].role, row[x].drawn, row[x].shade = r, role, false, 0
}

// asciiFor stands in for a character; for one that nothing stands for '?'.
func asciiFor(r rune) rune {
	if r = plain.ASCIIRune(r); r > '~' {
		return '?'
	}
	return r
}

// join puts dots to those of a cell, in its look.
func (c *canvas) join(x, y int, dots rune) {
	if x >= 0 && y >= 0 && x < c.w && y < c.h {
		c.cells[y*c.w+x].r |= dots
	}
}

func (c *canvas) at(x, y int) (rune, theme.Role) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return ' ', theme.Text
	}
	cell := c.cells[y*c.w+x]
	return cell.r, cell.role
}

// fill draws a row of one rune.
func (c *canvas) fill(x, y, end int, role theme.Role, r rune) {
	for ; x < end; x++ {
		c.set(x, y, r, role)
	}
}

// ground gives a stretch of a row a background.
func (c *canvas) ground(x, y, end int, back theme.Back) {
	for x = max(x, 0); x < min(end, c.w) && y >= 0 && y < c.h; x++ {
		c.cells[y*c.w+x].back = back
	}
}

// bar says that a stretch of a row is a bar, until something else is drawn there.
func (c *canvas) bar(x, y, end int) {
	for x = max(x, 0); x < min(end, c.w) && y >= 0 && y < c.h; x++ {
		c.cells[y*c.w+x].drawn = true
	}
}

// right writes text so that it ends before column end, not left of x.
func (c *canvas) right(x, y, end int, role theme.Role, text string) int {
	from := max(x, end-width(text))
	c.put(from, y, end, role, text)
	return from
}

// shade says how high in its plot a cell stands, until something else is drawn there.
func (c *canvas) shade(x, y int, percent uint8) {
	if x >= 0 && y >= 0 && x < c.w && y < c.h {
		c.cells[y*c.w+x].shade = percent
	}
}

// recolor gives all that is drawn in a part of the canvas one role.
func (c *canvas) recolor(r rect, role theme.Role) {
	for y := max(r.y, 0); y < min(r.y+r.h, c.h); y++ {
		for x := max(r.x, 0); x < min(r.x+r.w, c.w); x++ {
			c.cells[y*c.w+x].role, c.cells[y*c.w+x].shade = role, 0
		}
	}
}

// clear makes a part of the canvas blank.
func (c *canvas) clear(r rect) {
	for y := r.y; y < r.y+r.h; y++ {
		c.fill(r.x, y, r.x+r.w, theme.Text, ' ')
		c.ground(r.x, y, r.x+r.w, theme.Plain)
	}
}

// harmless is the rune as it may reach the terminal, and its columns: printable runes of
// one column, and the wide ones of East Asian scripts; all else is '?'. Emoji are left
// out: terminals disagree about their width.
func harmless(r rune) (rune, int) {
	switch {
	case r >= ' ' && r < 0x7f:
		return r, 1
	case r < 0xa0 || r == utf8.RuneError || r > 0x2ffff:
		return '?', 1
	case r >= 0x1f000 && r < 0x20000, r >= 0x2600 && r < 0x27c0, r >= 0xd800 && r < 0xf900, !unicode.IsPrint(r):
		return '?', 1
	}
	switch w := runeWidth(r); w {
	case 1, 2:
		return r, w
	}
	return '?', 1
}

// runeWidth spares go-runewidth the runes that screens consist of: at the first other one it
// builds a table of 2 MiB.
func runeWidth(r rune) int {
	switch {
	case r >= 0xa1 && r < 0x300 && r != 0xad, // Latin
		r >= 0x2010 && r < 0x2028, r >= 0x2190 && r < 0x21ff, // dashes, dots, arrows
		r >= 0x2500 && r < 0x25fd, r >= 0x2800 && r < 0x2900: // boxes, blocks, shapes, Braille
		return 1
	case r >= 0x3001 && r < 0x302a, r >= 0x4e00 && r < 0xa000, r >= 0xff01 && r < 0xff61: // Chinese
		return 2
	}
	return columnWidth.RuneWidth(r)
}

// columnWidth does not ask the locale: in an East Asian one, go-runewidth calls frames
// and bars two columns wide, which the terminals in use there do not.
var columnWidth = &runewidth.Condition{StrictEmojiNeutral: true}

// width is how many columns put takes for the text.
func width(text string) (w int) {
	for _, r := range text {
		_, n := harmless(r)
		w += n
	}
	return w
}

// lines is the canvas as text without colors, for tests and --size.
func (c *canvas) lines() []string {
	out := make([]string, c.h)
	var b strings.Builder
	for y := range out {
		b.Reset()
		for _, cell := range c.cells[y*c.w : (y+1)*c.w] {
			if cell.r != 0 {
				b.WriteRune(cell.r)
			}
		}
		out[y] = b.String()
	}
	return out
}

// String is the canvas with colors. Blanks at the end of a line are kept: the screen
// decides what to send.
func (c *canvas) render(p *paint) string {
	var b strings.Builder
	b.Grow(len(c.cells) * 2)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		row := c.cells[y*c.w : (y+1)*c.w]
		for i := 0; i < len(row); {
			j := i
			for j < len(row) && row[j].look == row[i].look {
				j++
			}
			s := p.style(row[i].look)
			if s.params != "" {
				b.WriteString(csi + s.params + "m")
			}
			for _, cell := range row[i:j] {
				if cell.r != 0 {
					b.WriteRune(cell.r)
				}
			}
			if s.params != "" {
				b.WriteString(ansi.ResetStyle)
			}
			i = j
		}
	}
	return b.String()
}
