package ui

import (
	"fmt"

	"nvpeak/advice/lang"
	"nvpeak/theme"
	"nvpeak/ui/player"
)

// helpLines explain the keys, the signs and the theme.
func helpLines(keys []binding, g *theme.Glyphs, t *theme.Theme, words lang.Catalog) []textLine {
	var lines []textLine
	for _, b := range keys {
		if b.help != "" {
			lines = append(lines, textLine{{theme.Accent, fixed(b.show, 9)}, {theme.Text, words.Say(b.help, "forms", player.TimeForms)}})
		}
	}
	sign := func(role theme.Role, r rune, id string) {
		lines = append(lines, textLine{{role, fmt.Sprintf("%-9c", r)}, {theme.Text, words.Say(id)}})
	}
	lines = append(lines, textLine{})
	sign(theme.Ok, g.Bar[len(g.Bar)-1], "help.used")
	sign(theme.Unknown, g.BarUnknown, "help.other")
	sign(theme.Reserved, g.BarReserve, "help.driver")
	sign(theme.Peak, g.Peak, "help.peak")
	sign(theme.Need, g.Need, "help.need")
	return append(lines, textLine{},
		textLine{{theme.Dim, words.Say("help.reading")}},
		textLine{{theme.Dim, words.Say("help.inside")}},
		textLine{{theme.Dim, words.Say("help.theme", "name", t.Name, "title", words.Say("theme."+t.Name))}})
}
