package main

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Size of a cell and margin, in pixels.
const (
	cellW, cellH = 8, 16
	baseline     = 12
	margin       = 10
)

// lines are the box-drawing characters, drawn as paths so that they join whatever font
// the reader has: from side to side of a cell 8 wide and 16 high.
var lines = map[rune]string{
	'─': "M0 8H8", '━': "M0 8H8", '│': "M4 0V16", '╶': "M4 8H8", '╴': "M0 8H4", '╸': "M0 8H4",
	'╭': "M8 8Q4 8 4 16", '╮': "M0 8Q4 8 4 16", '╰': "M4 0Q4 8 8 8", '╯': "M4 0Q4 8 0 8",
	'┤': "M4 0V16M0 8H4", '├': "M4 0V16M4 8H8", '┼': "M4 0V16M0 8H8", '╌': "M.5 8H3.5M4.5 8H7.5",
	'┊': "M4 1V4M4 7V10M4 13V16",
	'┌': "M8 8H4V16", '┐': "M0 8H4V16", '└': "M4 0V8H8", '┘': "M4 0V8H0",
}

// heavy are the lines drawn thick.
const heavy = "━╸"

// blocks are the parts of a bar: how much of the cell, from the left.
var blocks = map[rune]float64{'▏': 1, '▎': 2, '▍': 3, '▌': 4, '▋': 5, '▊': 6, '▉': 7, '█': 8}

// shades are patterns in a bar: how opaque.
var shades = map[rune]float64{'░': 0.25, '▒': 0.45, '▓': 0.7}

// rising are the columns of a sparkline: how much of the height in eighths.
var rising = map[rune]float64{'▁': 1, '▂': 2, '▃': 3, '▄': 4, '▅': 5, '▆': 6, '▇': 7}

// writeSVG draws the screen.
func writeSVG(w io.Writer, grid [][]cell, title string) error {
	var b strings.Builder
	width, height := size(grid)
	writeHead(&b, width, height, title)
	for y, row := range grid {
		writeRow(&b, row, margin, margin+y*cellH)
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// size is that of the picture of a screen.
func size(grid [][]cell) (width, height int) {
	cols := 0
	for _, row := range grid {
		cols = max(cols, len(row))
	}
	return cols*cellW + 2*margin, len(grid)*cellH + 2*margin
}

// writeHead begins a picture, and the group that what is on the screen belongs to.
func writeHead(b *strings.Builder, width, height int, title string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`+"\n",
		width, height, html.EscapeString(title))
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(b, `<g font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="13" xml:space="preserve" fill="none">`+"\n")
}

// writeRow draws one row of the screen from pixel (x, y) on.
func writeRow(b *strings.Builder, row []cell, x, y int) {
	for from := 0; from < len(row); {
		end := from + 1
		for end < len(row) && row[end].look == row[from].look && kind(row[end].char) == kind(row[from].char) {
			end++
		}
		writeRun(b, row[from:end], x+from*cellW, y)
		from = end
	}
}

// kind says how a character is drawn; neighbours of one kind and look are one element.
func kind(char rune) string {
	switch {
	case char == ' ':
		return "blank"
	case strings.ContainsRune(heavy, char):
		return "heavy"
	case lines[char] != "":
		return "line"
	case blocks[char] != 0:
		return "block"
	case rising[char] != 0:
		return "spark"
	case shades[char] != 0:
		return "shade"
	case char > braille && char < braille+256:
		return "dots"
	}
	return "text"
}

// writeRun draws characters of one kind and look from pixel (x, y) on.
func writeRun(b *strings.Builder, run []cell, x, y int) {
	fore, back := run[0].look.paint()
	if back != paper {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, len(run)*cellW, cellH, back)
	}
	switch kind(run[0].char) {
	case "blank":
	case "line", "heavy":
		stroke := 1.2
		if kind(run[0].char) == "heavy" {
			stroke = 2.4
		}
		fmt.Fprintf(b, `<path stroke="%s" stroke-width="%g" d="%s"/>`+"\n", fore, stroke, paths(run, x, y))
	case "block":
		writeBar(b, run, x, y, fore)
	case "spark":
		for i, c := range run {
			h := rising[c.char] * cellH / 8
			fmt.Fprintf(b, `<rect x="%d" y="%g" width="%d" height="%g" fill="%s"/>`+"\n", x+i*cellW, float64(y+cellH)-h, cellW, h, fore)
		}
	case "shade":
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" opacity="%g"/>`+"\n", x, y+1, len(run)*cellW, cellH-2, fore, shades[run[0].char])
	case "dots":
		writeDots(b, run, x, y, fore)
	default:
		writeText(b, run, x, y, fore)
	}
}

// writeBar draws full cells and the part of one after them as one rectangle: beside each
// other they would show a seam.
func writeBar(b *strings.Builder, run []cell, x, y int, fore string) {
	width := 0.0
	for i, c := range run {
		width += blocks[c.char] * cellW / 8
		if c.char == '█' && i+1 < len(run) {
			continue
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%g" height="%d" fill="%s"/>`+"\n", x, y+1, width, cellH-2, fore)
		x, width = x+int(width+cellW-1)/cellW*cellW, 0
	}
}

// paths moves the path of every character to its place. Paths begin with M and have
// absolute coordinates, so each is shifted number by number.
func paths(run []cell, x, y int) string {
	var b strings.Builder
	for i, c := range run {
		shift(&b, lines[c.char], float64(x+i*cellW), float64(y))
	}
	return b.String()
}

// writeText draws text stretched to its columns, so that it stays in place in any font.
func writeText(b *strings.Builder, run []cell, x, y int, fore string) {
	var text strings.Builder
	for _, c := range run {
		if c.char != 0 {
			text.WriteRune(c.char)
		}
	}
	weight := ""
	if run[0].look.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		x, y+baseline, len(run)*cellW, fore, weight, html.EscapeString(text.String()))
}
