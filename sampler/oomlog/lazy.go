package oomlog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// lazy is a pattern that is compiled when it is first used: there are hundreds, a program that reads no
// log needs none, and one that does needs few. It gives what package regexp gives, sooner (see matcher.go).
// Safe for several goroutines.
type lazy struct {
	source string
	fast   func() *matcher
	get    func() *regexp.Regexp // for texts that are too much for the matcher
}

func pattern(source string) *lazy {
	l := &lazy{source: source, get: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
	l.fast = sync.OnceValue(func() *matcher { return newMatcher(source) })
	return l
}

// may says whether a text can match at all, as far as the words in it tell; squeezed is the text, or one
// that it is a part of, as squeeze makes it.
func (l *lazy) may(squeezed string) bool {
	for _, o := range l.fast().needs {
		if !o.in(squeezed) {
			return false
		}
	}
	return true
}

// matchIn and findIn spare the pattern texts that cannot match.
func (l *lazy) matchIn(s, squeezed string) bool { return l.may(squeezed) && l.MatchString(s) }

func (l *lazy) findIn(s, squeezed string) []string {
	if !l.may(squeezed) {
		return nil
	}
	return l.FindStringSubmatch(s)
}

func (l *lazy) MatchString(s string) bool {
	if l.fast().hopeless(s) {
		return false
	}
	search := l.fast().search(s, 0)
	defer search.done()
	found, gaveUp := search.next(0)
	if gaveUp {
		return l.get().MatchString(s)
	}
	return found
}

// locate is the first match: where it begins and ends, and where its groups do if all is set. nil: none.
func (l *lazy) locate(s string, all bool) []int {
	if at := l.locateAll(s, 1, all); at != nil {
		return at[0]
	}
	return nil
}

// locateAll is at most n matches, one behind the other.
func (l *lazy) locateAll(s string, n int, all bool) (out [][]int) {
	m := l.fast()
	numbers := 2
	if all {
		numbers = m.numbers
	}
	if m.hopeless(s) {
		return nil
	}
	search := m.search(s, numbers)
	defer search.done()
	for from := 0; len(out) < n; from = search.match[1] {
		found, gaveUp := search.next(from)
		if gaveUp || found && search.match[1] == from && n > 1 { // matches of nothing have rules of their own
			if all {
				return l.get().FindAllStringSubmatchIndex(s, n)
			}
			return l.get().FindAllStringIndex(s, n)
		}
		if !found {
			break
		}
		out = append(out, slices.Clone(search.match))
	}
	return out
}

func (l *lazy) FindStringIndex(s string) []int         { return l.locate(s, false) }
func (l *lazy) FindStringSubmatchIndex(s string) []int { return l.locate(s, true) }

func (l *lazy) FindString(s string) string {
	if at := l.locate(s, false); at != nil {
		return s[at[0]:at[1]]
	}
	return ""
}

func (l *lazy) FindStringSubmatch(s string) []string { return groups(s, l.locate(s, true)) }

// groups are the texts of a match, empty for a group that is not part of it.
func groups(s string, at []int) []string {
	if at == nil {
		return nil
	}
	out := make([]string, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return out
}

func (l *lazy) FindAllStringIndex(s string, n int) [][]int         { return l.locateAll(s, n, false) }
func (l *lazy) FindAllStringSubmatchIndex(s string, n int) [][]int { return l.locateAll(s, n, true) }

func (l *lazy) FindAllStringSubmatch(s string, n int) (out [][]string) {
	for _, at := range l.FindAllStringSubmatchIndex(s, n) {
		out = append(out, groups(s, at))
	}
	return out
}

// ReplaceAllString puts by in the place of every match.
func (l *lazy) ReplaceAllString(s, by string) string {
	at := l.FindAllStringIndex(s, len(s)+1)
	if at == nil {
		return s
	}
	var b strings.Builder
	from := 0
	for _, one := range at {
		b.WriteString(s[from:one[0]])
		b.WriteString(by)
		from = one[1]
	}
	b.WriteString(s[from:])
	return b.String()
}
