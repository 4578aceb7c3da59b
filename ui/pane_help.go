package ui

import (
	"slices"

	"nvpeak/advice/lang"
	"nvpeak/theme"
)

// Sizes of the help: the room of a key, and that of a key with its sentence.
const (
	helpWidth    = 84 // of the panel at most
	helpKeyWidth = 8
	helpColumn   = 38
)

// helpLines explain the keys, in two columns where there is room, and the signs.
func helpLines(keys []binding, g *theme.Glyphs, words lang.Catalog, w int) []textLine {
	var list []textLine
	for _, b := range keys {
		if b.help != "" {
			list = append(list, textLine{{theme.Accent, fixed(b.show, helpKeyWidth)}, {theme.Text, words.Say(b.help)}})
		}
	}
	lines := list
	if w >= 2*helpColumn {
		half := (len(list) + 1) / 2
		lines = slices.Clone(list[:half])
		for i, right := range list[half:] {
			left := lines[i]
			lines[i] = textLine{left[0], {theme.Text, fixed(left[1].text, helpColumn-helpKeyWidth-1) + " "}, right[0], right[1]}
		}
	}
	sign := func(role theme.Role, signs, id string, values ...any) {
		lines = append(lines, textLine{{role, fixed(signs, helpKeyWidth)}, {theme.Text, words.Say(id, values...)}})
	}
	lines = append(lines, textLine{})
	sign(theme.Ok, string(g.Bar[len(g.Bar)-1]), "help.used", "yellow", gpuLevels[0], "orange", gpuLevels[1], "red", gpuLevels[2])
	sign(theme.Unknown, string(g.BarUnknown), "help.other")
	sign(theme.Reserved, string(g.BarReserve), "help.driver")
	sign(theme.Peak, string(g.Peak), "help.peak")
	sign(theme.Need, string([]rune{g.Need, ' ', g.NeedOver}), "help.need")
	if g != &theme.ASCII {
		sign(theme.Area3, "⣿ ⢕", "help.plot")
	}
	for _, id := range []string{"help.requests", "help.reading"} {
		for _, l := range wrap(words.Say(id), w) {
			lines = append(lines, textLine{{theme.Dim, l}})
		}
	}
	return lines
}
