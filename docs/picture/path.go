package main

import (
	"strconv"
	"strings"
)

// shift writes an SVG path of absolute M, H, V and Q commands moved by (dx, dy).
func shift(b *strings.Builder, path string, dx, dy float64) {
	for path != "" {
		command := path[0]
		rest := path[1:]
		end := strings.IndexAny(rest, "MHVQ")
		if end < 0 {
			end = len(rest)
		}
		b.WriteByte(command)
		for i, field := range strings.Fields(rest[:end]) {
			v, _ := strconv.ParseFloat(field, 64)
			if command == 'V' || command != 'H' && i%2 == 1 {
				v += dy
			} else {
				v += dx
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		path = rest[end:]
	}
}
