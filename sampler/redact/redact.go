// Package redact takes secrets out of what leaves the machine or is written to a file:
// command lines, texts of logs, values of variables. A secret is known by the name of its
// option, variable or key, by the program that takes it, by its place in a header or a URL,
// or by its own shape. It is a leaf: every room may import it.
//
//	names     --hf-token X, DB_PASSWORD=X, "apiKey": "X", Cookie: X      names.go, classes.go, values.go
//	programs  wandb login X, curl -u ann:X, mysql -pX                    programs.go
//	URLs      postgres://ann:X@db, hooks of chat services                urls.go
//	shapes    hf_…, sk-…, JSON Web Tokens, PEM                           shapes.go
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// maxRounds bounds how often a text is gone through anew: what stands next to a mark may
// read differently than what stood next to the secret.
const maxRounds = 8

// Text is the text without its secrets. What is not secret stays as it is, and a text that
// went through once does not change again.
func Text(s string) string {
	for range maxRounds {
		f := finder{s: s}
		f.names()
		f.programs()
		f.urls()
		f.shapes()
		next := f.cut()
		if next == s {
			break
		}
		s = next
	}
	return s
}

// span is a part of a text, [from, to).
type span struct{ from, to int }

// finder collects the secrets of one text.
type finder struct {
	s     string
	found []span
	asked bool // whether it
	logs  bool // tells of logging in
}

func (f *finder) add(from, to int) {
	if from < to {
		f.found = append(f.found, span{from, to})
	}
}

// cut puts a mark in the place of everything found. What is marked already stays.
func (f *finder) cut() string {
	if len(f.found) == 0 {
		return f.s
	}
	slices.SortFunc(f.found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	done := 0
	for i := 0; i < len(f.found); {
		at := f.found[i]
		for i++; i < len(f.found) && f.found[i].from < at.to; i++ {
			at.to = max(at.to, f.found[i].to)
		}
		if marked(f.s, at) {
			continue
		}
		b.WriteString(f.s[done:at.from])
		b.WriteString(Mark)
		done = at.to
	}
	b.WriteString(f.s[done:])
	return b.String()
}

// marked says whether a span is a mark, or lies in one.
func marked(s string, at span) bool {
	low := max(0, at.from-len(Mark))
	high := min(len(s), at.to+len(Mark))
	for i := low; i < high; {
		n := strings.Index(s[i:high], Mark)
		if n < 0 {
			return false
		}
		if i+n <= at.from && at.to <= i+n+len(Mark) {
			return true
		}
		i += n + 1
	}
	return false
}

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
