package ui

import (
	"fmt"

	"nvpeak/theme"
)

// helpLines explain the keys, the signs and the theme.
func helpLines(keys []binding, g *theme.Glyphs, t *theme.Theme) []textLine {
	var lines []textLine
	for _, b := range keys {
		if b.help != "" {
			lines = append(lines, textLine{{theme.Accent, fmt.Sprintf("%-9s", b.show)}, {theme.Text, b.help}})
		}
	}
	sign := func(role theme.Role, r rune, text string) {
		lines = append(lines, textLine{{role, fmt.Sprintf("%-9c", r)}, {theme.Text, text}})
	}
	lines = append(lines, textLine{})
	sign(theme.Ok, g.Bar[len(g.Bar)-1], "used by processes; yellow from 80 %, orange from 90, red from 95")
	sign(theme.Unknown, g.BarUnknown, "other: used, but by no process the driver names (unattributed)")
	sign(theme.Reserved, g.BarReserve, "driver: reserved by driver and firmware")
	sign(theme.Peak, g.Peak, "sampled peak since the start: a floor of the true peak")
	sign(theme.Need, g.Need, "where the next allocation (the need) would reach")
	return append(lines, textLine{},
		textLine{{theme.Dim, "Memory is read every 20 ms, the rest each second. What a program frees and"}},
		textLine{{theme.Dim, "its allocator keeps stays used here: the driver does not see inside."}},
		textLine{{theme.Dim, "theme: " + t.Name + ", " + t.Title}})
}
