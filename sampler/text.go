package sampler

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds a name or command line that came from outside.
const maxText = 4096

// Clean makes a text from outside harmless: it may hold escape sequences, newlines,
// invalid UTF-8, invisible or text-reversing characters. What cannot be shown becomes
// '?' (white space a blank), and the text is cut at 4096 bytes. Clean texts come back
// unchanged and without an allocation.
func Clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if harmless(r, n) != r {
			return clean(s, i)
		}
		i += n
	}
	return s
}

// clean is Clean of a text whose first i bytes are clean.
func clean(s string, i int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(harmless(r, n))
		i += n
	}
	return b.String()
}

// harmless is what stands for a rune that took n bytes.
func harmless(r rune, n int) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case r == utf8.RuneError && n <= 1,
		unseen(r), !unicode.IsPrint(r), unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return '?'
	}
	return r
}

// unseen says of a character that Unicode counts among the letters or symbols whether nothing is shown for it: fillers of
// Hangul, the blank of Braille, and the blank head of a note.
func unseen(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0, 0x1d159:
		return true
	}
	return false
}

// clipLength is how much of a foreign text stands in a sentence, in characters.
const clipLength = 40

// Clip is a foreign text that may stand in a sentence: harmless and short.
func Clip(s string) string { return ClipAt(s, clipLength) }

// ClipAt is a foreign text that may stand in a sentence where there is room for that many characters. One that is cut says so.
func ClipAt(s string, most int) string {
	s = Clean(s)
	n, end := 0, 0
	for i := range s {
		if n == most-1 {
			end = i
		}
		if n == most {
			return s[:end] + "…"
		}
		n++
	}
	return s
}
