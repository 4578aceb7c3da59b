package plain

import "strings"

// ASCIIRune stands in for a character that is drawn, in the same column; one that it knows nothing for stays as it is: a letter
// of a name or of a language says more than a mark in its place.
func ASCIIRune(r rune) rune {
	switch {
	case r <= '~':
		return r
	case r >= '─' && r <= '╋':
		return boxes(r)
	case r >= '╭' && r <= '╰':
		return '+'
	}
	if ascii, ok := looksLike[r]; ok {
		return ascii
	}
	return r
}

// boxes are lines and where they meet.
func boxes(r rune) rune {
	switch r {
	case '─', '━', '┄', '┅', '┈', '┉':
		return '-'
	case '│', '┃', '┆', '┇', '┊', '┋':
		return '|'
	}
	return '+'
}

var looksLike = map[rune]rune{
	'╌': '-', '╴': '-', '╶': '-', '╸': '-', '–': '-', '—': '-', '−': '-', '‑': '-', '…': '~', '·': '.', '•': '*', '°': ' ', '×': 'x', '±': '~', '≈': '~',
	'≤': '<', '≥': '>', '‹': '<', '›': '>', '«': '<', '»': '>', '◂': '<', '▸': '>', '←': '<', '→': '>', '↑': '^', '↓': 'v', '▲': '^',
	'‘': '\'', '’': '\'', '“': '"', '”': '"', 'µ': 'u', 'μ': 'u', '²': '2', '³': '3', '\u00a0': ' ', '\u202f': ' ', '█': '#', '▒': ':', '░': '.', '▓': '%',
}

// ASCII is a text with stand-ins, some of which take more room.
func ASCII(text string) string {
	return strings.Map(ASCIIRune, wider.Replace(text))
}

var wider = strings.NewReplacer("…", "...", "→", "->", "≤", "<=", "≥", ">=", "±", "+-")
