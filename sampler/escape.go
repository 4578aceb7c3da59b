package sampler

import (
	"fmt"
	"unicode/utf8"
)

// EscapeJSON writes the characters in the strings of a JSON text that a terminal obeys or that
// turn its direction as \u escapes: DEL, the C1 controls and the marks of bidirectional text.
// encoding/json escapes only those below a blank. Without any the text comes back as it is.
func EscapeJSON(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if commands(r) {
			out = fmt.Appendf(append(out, text[done:i]...), `\u%04x`, r)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// commands says whether a character is an order instead of a sign.
func commands(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x061c || r == 0x200e || r == 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
