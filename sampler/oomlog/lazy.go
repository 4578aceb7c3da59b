package oomlog

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"nvpeak/sampler/needed"
)

// lazy is a pattern that is compiled when it is first used: there are hundreds, a program that reads no
// log needs none, and one that does needs few. It gives what package regexp gives, sooner (see program.go).
// Safe for several goroutines.
type lazy struct {
	source string
	once   sync.Once
	made   forms
}

// forms are what a pattern is compiled to, each when it is first used.
type forms struct {
	needs func() needed.Words // what texts have that match, squeezed
	fast  func() *matcher
	blind func() bool           // it takes every digit for any other
	ways  func() []way          // that it has to match, in their order
	get   func() *regexp.Regexp // for texts that are too much for the matcher
}

func pattern(source string) *lazy { return &lazy{source: source} }

func (l *lazy) forms() *forms {
	l.once.Do(func() {
		l.made = forms{
			needs: sync.OnceValue(func() needed.Words { return needed.WordsOf(needed.Of(parse(l.source), false)) }),
			fast:  sync.OnceValue(func() *matcher { return newMatcher(parse(l.source)) }),
			blind: sync.OnceValue(func() bool { return l.fast().blindToDigits() }),
			ways:  sync.OnceValue(func() []way { return waysOf(parse(l.source)) }),
			get:   sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(l.source) }),
		}
	})
	return &l.made
}

func (l *lazy) needs() needed.Words { return l.forms().needs() }
func (l *lazy) fast() *matcher      { return l.forms().fast() }
func (l *lazy) blind() bool         { return l.forms().blind() }
func (l *lazy) ways() []way         { return l.forms().ways() }
func (l *lazy) get() *regexp.Regexp { return l.forms().get() }

// way is one of the alternatives of a pattern.
type way struct {
	needs needed.Words
	fast  *matcher
}

func waysOf(tree *syntax.Regexp) (all []way) {
	for _, one := range needed.Alternatives(tree) {
		all = append(all, way{needed.WordsOf(needed.Of(one, false)), newMatcher(one)})
	}
	return all
}

func parse(source string) *syntax.Regexp {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		regexp.MustCompile(source) // a mistake of the tables, which every test would have found
	}
	return tree
}

// may says whether a text can match at all, as far as the words in it tell; short is the text, or one that it
// is a part of.
func (l *lazy) may(short *needed.Squeezed) bool { return short.May(l.needs()) }

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

// each visits at most n matches, one behind the other, as long as more are wanted: where it begins and ends, and
// where its groups do if all is set. at is valid until the visit ends.
func (l *lazy) each(s string, n int, all bool, visit func(at []int) (more bool)) {
	m := l.fast()
	if m.hopeless(s) {
		return
	}
	numbers := 2
	if all {
		numbers = m.numbers
	}
	search := m.search(s, numbers)
	defer search.done()
	for i, from := 0, 0; i < n; i, from = i+1, search.match[1] {
		found, gaveUp := search.next(from)
		if gaveUp || found && search.match[1] == from && n > 1 { // matches of nothing have rules of their own
			for _, at := range l.get().FindAllStringSubmatchIndex(s, n)[i:] {
				if !visit(at[:numbers]) {
					return
				}
			}
			return
		}
		if !found || !visit(search.match) {
			return
		}
	}
}

// locateAll is what each visits.
func (l *lazy) locateAll(s string, n int, all bool) (out [][]int) {
	l.each(s, n, all, func(at []int) bool {
		out = append(out, slices.Clone(at))
		return true
	})
	return out
}

// place is where the first match begins and ends; -1 for none.
func (l *lazy) place(s string) (begin, end int) {
	begin, end = -1, -1
	l.each(s, 1, false, func(at []int) bool {
		begin, end = at[0], at[1]
		return false
	})
	return begin, end
}

// placeIn is place, trying only the alternatives whose words are in the text.
func (l *lazy) placeIn(s string, short *needed.Squeezed) (begin, end int) {
	begin, end = -1, -1
	if !l.may(short) {
		return begin, end
	}
	for _, w := range l.ways() {
		if !short.May(w.needs) || w.fast.hopeless(s) {
			continue
		}
		search := w.fast.search(s, 2)
		found, gaveUp := search.next(0)
		if found && (begin < 0 || search.match[0] < begin) {
			begin, end = search.match[0], search.match[1]
		}
		search.done()
		if gaveUp {
			return l.place(s)
		}
	}
	return begin, end
}

// FindStringSubmatchIndex is the first match with its groups; nil for none.
func (l *lazy) FindStringSubmatchIndex(s string) (out []int) {
	l.each(s, 1, true, func(at []int) bool {
		out = slices.Clone(at)
		return false
	})
	return out
}

func (l *lazy) FindString(s string) string {
	if begin, end := l.place(s); begin >= 0 {
		return s[begin:end]
	}
	return ""
}

func (l *lazy) FindStringSubmatch(s string) []string { return groups(s, l.FindStringSubmatchIndex(s)) }

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

// anyOf are patterns of which one must match; each stands on its own.
func anyOf(flags string, patterns ...string) ways {
	var all ways
	for _, p := range patterns {
		all = append(all, pattern(flags+p))
	}
	return all
}

type ways []*lazy

// in says whether one of the patterns matches a part of a text.
func (w ways) in(p part) bool {
	return slices.ContainsFunc(w, func(l *lazy) bool { return l.in(p) })
}
