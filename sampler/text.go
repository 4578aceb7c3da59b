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
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return clean(s)
		}
	}
	return s
}

func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			r = '?'
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case !unicode.IsPrint(r), unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			r = '?'
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}
