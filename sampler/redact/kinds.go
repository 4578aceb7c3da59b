package redact

import "strings"

// kinds of bytes.
func digit(c byte) bool { return '0' <= c && c <= '9' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func alnum(c byte) bool { return digit(c) || lower(c) || upper(c) }
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func quote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// only says whether all of a text is of one kind.
func only(s string, kind func(byte) bool) bool {
	for i := range len(s) {
		if !kind(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

// some says whether any of a text is of a kind.
func some(s string, kind func(byte) bool) bool {
	for i := range len(s) {
		if kind(s[i]) {
			return true
		}
	}
	return false
}

// set is a set of words, written with blanks between.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func nameByte(c byte) bool { return alnum(c) || c == '_' || c == '-' || c == '.' }

// run is where the bytes of a kind end that begin at i, at most so many.
func run(s string, i, most int, kind func(byte) bool) int {
	j := i
	for j < len(s) && j-i < most && kind(s[j]) {
		j++
	}
	return j
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
