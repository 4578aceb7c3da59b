package oomlog

import (
	"regexp"
	"sync"
)

// lazy is a regular expression that is compiled when it is first used: there are hundreds, a program
// that reads no log needs none, and one that does needs few. Safe for several goroutines.
type lazy struct {
	source string
	get    func() *regexp.Regexp
}

func pattern(source string) *lazy {
	return &lazy{source, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
}

func (l *lazy) MatchString(s string) bool              { return l.get().MatchString(s) }
func (l *lazy) FindString(s string) string             { return l.get().FindString(s) }
func (l *lazy) FindStringIndex(s string) []int         { return l.get().FindStringIndex(s) }
func (l *lazy) FindStringSubmatch(s string) []string   { return l.get().FindStringSubmatch(s) }
func (l *lazy) FindStringSubmatchIndex(s string) []int { return l.get().FindStringSubmatchIndex(s) }
func (l *lazy) ReplaceAllString(s, by string) string   { return l.get().ReplaceAllString(s, by) }
func (l *lazy) FindAllStringIndex(s string, n int) [][]int {
	return l.get().FindAllStringIndex(s, n)
}
func (l *lazy) FindAllStringSubmatch(s string, n int) [][]string {
	return l.get().FindAllStringSubmatch(s, n)
}
func (l *lazy) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return l.get().FindAllStringSubmatchIndex(s, n)
}
