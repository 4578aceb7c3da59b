package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

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
