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
	words    needed.Words // without which it does not match
	ways     []way
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
	l.once.Do(func() {
		l.re = regexp.MustCompile(l.source)
		if tree, err := syntax.Parse(l.source, syntax.Perl); err == nil {
			l.words = needed.WordsOf(needed.Of(tree, false))
			for _, one := range needed.Alternatives(tree) {
				l.ways = append(l.ways, way{needed.WordsOf(needed.Of(one, false)), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(one.String()) })})
			}
		}
	})
	return l.re
}

// way is one of the alternatives of a pattern.
type way struct {
	words needed.Words
	re    func() *regexp.Regexp // most are never needed
}

// squeezed keeps the text that was asked about last: each pattern is asked about it.
var squeezed latest[*needed.Squeezed]

func squeeze(s string) *needed.Squeezed {
	return squeezed.of(s, "", 0, func() *needed.Squeezed { return needed.Squeeze(s) })
}

// ask asks the pattern about a text that it can match, as far as the words in it tell.
func ask[T any](l *lazy, s string, answer func(*regexp.Regexp) T) (none T) {
	re := l.compiled()
	if l.words != nil && !squeeze(s).May(l.words) {
		return none
	}
	return answer(re)
}

func (l *lazy) MatchString(s string) bool {
	return l.matched.of(s, "", 0, func() bool {
		return ask(l, s, func(*regexp.Regexp) bool {
			short := squeeze(s)
			return slices.ContainsFunc(l.ways, func(w way) bool { return short.May(w.words) && w.re().MatchString(s) })
		})
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
