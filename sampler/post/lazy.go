package post

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"

	"nvpeak/sampler/needed"
)

// lazy is a pattern that is compiled when it is first asked: most programs that know this package read no post. It is asked of the
// whole text for each failure in it, so it keeps the last answers. Safe for several goroutines.
type lazy struct {
	source   string
	once     sync.Once
	re       *regexp.Regexp
	split    sync.Once
	parts    []*part
	matched  latest[bool]
	found    latest[[][]string]
	first    latest[[]string]
	replaced latest[string]
}

// longText is more than a sentence has: what is asked of one is asked of many others before it comes again.
const longText = 256

// latest is an answer to the text it was asked of last.
type latest[T any] struct{ last atomic.Pointer[answer[T]] }

type answer[T any] struct {
	text, by string
	n        int
	value    T
}

// of is the answer for a text, with what else it depends on.
func (k *latest[T]) of(text, by string, n int, ask func() T) T {
	if len(text) < longText {
		return ask()
	}
	if a := k.last.Load(); a != nil && a.n == n && a.by == by && a.text == text {
		return a.value
	}
	a := &answer[T]{text, by, n, ask()}
	k.last.Store(a)
	return a.value
}

func lazily(source string) *lazy { return &lazy{source: source} }

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.source) })
	return l.re
}

// part is an alternative of a pattern: most lack the words that they need in each text, and are never compiled.
type part struct {
	source string
	needs  needed.Words // none: any text may match
	once   sync.Once
	re     *regexp.Regexp
}

func (p *part) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.source) })
	return p.re
}

// alternatives of the pattern. One alone is matched several times as fast as all of them.
func (l *lazy) alternatives() []*part {
	l.split.Do(func() {
		for _, source := range needed.Split(l.source) {
			p := &part{source: source}
			if tree, err := syntax.Parse(source, syntax.Perl); err == nil { // else compiling it tells
				p.needs = needed.WordsOf(needed.Of(tree, false))
			}
			l.parts = append(l.parts, p)
		}
	})
	return l.parts
}

// squeezed keeps the text that was asked about last: each pattern is asked about it.
var squeezed latest[*needed.Squeezed]

// may says whether an alternative can match a text, as far as the words in it tell, and is as wanted.
func (l *lazy) may(s string, wanted func(*part) bool) bool {
	text := squeezed.of(s, "", 0, func() *needed.Squeezed { return needed.Squeeze(s) })
	return slices.ContainsFunc(l.alternatives(), func(p *part) bool { return (p.needs == nil || text.May(p.needs)) && wanted(p) })
}

// ask asks the pattern about a text that it can match.
func ask[T any](l *lazy, s string, answer func(*regexp.Regexp) T) (none T) {
	if !l.may(s, func(*part) bool { return true }) {
		return none
	}
	return answer(l.compiled())
}

func (l *lazy) MatchString(s string) bool {
	return l.matched.of(s, "", 0, func() bool {
		return l.may(s, func(p *part) bool { return p.compiled().MatchString(s) })
	})
}

func (l *lazy) FindString(s string) string {
	return ask(l, s, func(re *regexp.Regexp) string { return re.FindString(s) })
}

func (l *lazy) FindStringIndex(s string) []int {
	return ask(l, s, func(re *regexp.Regexp) []int { return re.FindStringIndex(s) })
}

// FindStringSubmatch is what package regexp finds; nobody changes it.
func (l *lazy) FindStringSubmatch(s string) []string {
	return l.first.of(s, "", 0, func() []string {
		return ask(l, s, func(re *regexp.Regexp) []string { return re.FindStringSubmatch(s) })
	})
}

// FindAllStringSubmatch is what package regexp finds; nobody changes it.
func (l *lazy) FindAllStringSubmatch(s string, n int) [][]string {
	return l.found.of(s, "", n, func() [][]string {
		return ask(l, s, func(re *regexp.Regexp) [][]string { return re.FindAllStringSubmatch(s, n) })
	})
}

func (l *lazy) ReplaceAllString(s, by string) string {
	return l.replaced.of(s, by, 0, func() string { return l.compiled().ReplaceAllString(s, by) })
}
