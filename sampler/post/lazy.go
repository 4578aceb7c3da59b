package post

import (
	"regexp"
	"sync"
)

// lazy is a pattern that is compiled when it is first asked: most programs that know this package read no post.
type lazy struct {
	source string
	once   sync.Once
	re     *regexp.Regexp
}

func lazily(source string) *lazy { return &lazy{source: source} }

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.source) })
	return l.re
}

func (l *lazy) MatchString(s string) bool            { return l.compiled().MatchString(s) }
func (l *lazy) FindString(s string) string           { return l.compiled().FindString(s) }
func (l *lazy) FindStringIndex(s string) []int       { return l.compiled().FindStringIndex(s) }
func (l *lazy) FindStringSubmatch(s string) []string { return l.compiled().FindStringSubmatch(s) }
func (l *lazy) FindAllStringSubmatch(s string, n int) [][]string {
	return l.compiled().FindAllStringSubmatch(s, n)
}
func (l *lazy) ReplaceAllString(s, by string) string { return l.compiled().ReplaceAllString(s, by) }
