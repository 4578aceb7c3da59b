package post

import (
	"regexp"
	"sync"
	"sync/atomic"
)

// lazy is a pattern that is compiled when it is first asked: most programs that know this package read no post. It is asked of the
// whole text for each failure in it, so it keeps the last answers. Safe for several goroutines.
type lazy struct {
	source   string
	once     sync.Once
	re       *regexp.Regexp
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

func (l *lazy) MatchString(s string) bool {
	return l.matched.of(s, "", 0, func() bool { return l.compiled().MatchString(s) })
}

func (l *lazy) FindString(s string) string     { return l.compiled().FindString(s) }
func (l *lazy) FindStringIndex(s string) []int { return l.compiled().FindStringIndex(s) }

// FindStringSubmatch is what package regexp finds; nobody changes it.
func (l *lazy) FindStringSubmatch(s string) []string {
	return l.first.of(s, "", 0, func() []string { return l.compiled().FindStringSubmatch(s) })
}

// FindAllStringSubmatch is what package regexp finds; nobody changes it.
func (l *lazy) FindAllStringSubmatch(s string, n int) [][]string {
	return l.found.of(s, "", n, func() [][]string { return l.compiled().FindAllStringSubmatch(s, n) })
}

func (l *lazy) ReplaceAllString(s, by string) string {
	return l.replaced.of(s, by, 0, func() string { return l.compiled().ReplaceAllString(s, by) })
}
