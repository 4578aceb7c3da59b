package post

import (
	"regexp"
	"regexp/syntax"
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
	read     sync.Once
	words    needed.Words
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

// needs are the words without which it does not match: most patterns lack them in each text, and are never compiled.
func (l *lazy) needs() needed.Words {
	l.read.Do(func() {
		if tree, err := syntax.Parse(l.source, syntax.Perl); err == nil { // else compiling it tells
			l.words = needed.WordsOf(needed.Of(tree, false))
		}
	})
	return l.words
}

// squeezed keeps the text that was asked about last: each pattern is asked about it.
var squeezed latest[*needed.Squeezed]

// ask asks the pattern about a text that it can match, as far as the words in it tell.
func ask[T any](l *lazy, s string, answer func(*regexp.Regexp) T) (none T) {
	if words := l.needs(); words != nil && !squeezed.of(s, "", 0, func() *needed.Squeezed { return needed.Squeeze(s) }).May(words) {
		return none
	}
	return answer(l.compiled())
}

func (l *lazy) MatchString(s string) bool {
	return l.matched.of(s, "", 0, func() bool {
		return ask(l, s, func(re *regexp.Regexp) bool { return re.MatchString(s) })
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
