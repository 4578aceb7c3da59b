package main

import (
	"fmt"
	"strings"
)

// braille is the empty one of the 256 Braille characters, which have a bit for each dot.
const braille = '\u2800'

// dots are the bits of the two dots in each of the four rows of a Braille character.
var dots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// writeDots draws Braille characters: in most fonts their dots are too small for an area.
// Dots beside each other are one dashed line, whose dashes begin anew with each line.
func writeDots(b *strings.Builder, run []cell, x, y int, fore string) {
	var d strings.Builder
	for row, bits := range dots {
		lit := func(i int) bool { return i < 2*len(run) && run[i/2].char&bits[i%2] != 0 }
		for from := 0; from < 2*len(run); from++ {
			end := from
			for lit(end) {
				end++
			}
			if end > from {
				fmt.Fprintf(&d, "M%d %gh%d", x+from*cellW/2, float64(y+row*cellH/4)+1.5, (end-from)*cellW/2)
			}
			from = end
		}
	}
	fmt.Fprintf(b, `<path stroke="%s" stroke-width="3" stroke-dasharray="3 1" d="%s"/>`+"\n", fore, d.String())
}
