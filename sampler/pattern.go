package sampler

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: a monitor that reads no log, recording or
// snapshot needs none of theirs. Safe for several goroutines.
type Pattern struct {
	Source string

	once sync.Once
	re   *regexp.Regexp
}

// Get is the compiled pattern. A mistake in its source panics.
func (p *Pattern) Get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.Source) })
	return p.re
}
