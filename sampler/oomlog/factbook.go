package oomlog

import (
	"maps"

	"nvpeak/sampler"
)

// factBook keeps lines that say something of the run: the first ones and the last ones.
type factBook struct {
	first []rawLine
	last  []rawLine
	next  int
	known *sampler.LogContext // what they say; nil when lines came since
}

const factLines = 96

func (f *factBook) add(raw []byte, number int) {
	f.known = nil
	if len(raw) > keepBytes {
		raw = raw[:keepBytes]
	}
	if len(f.first) < factLines {
		f.first = append(f.first, rawLine{text: append([]byte(nil), raw...), number: number})
		return
	}
	if len(f.last) < factLines {
		f.last = append(f.last, rawLine{})
	}
	f.last[f.next].set(raw, number, false)
	f.next = (f.next + 1) % factLines
}

func (f *factBook) lines() []*rawLine {
	var out []*rawLine
	for i := range f.first {
		out = append(out, &f.first[i])
	}
	for i := range f.last {
		out = append(out, &f.last[(f.next+i)%len(f.last)])
	}
	return out
}

// gather reads the lines of the book, once per change, and returns a copy of what they say.
func (f *factBook) gather() sampler.LogContext {
	if f.known == nil {
		f.known = &sampler.LogContext{Environment: map[string]string{}}
		for _, r := range f.lines() {
			for _, l := range r.clean() {
				readFacts(f.known, l.text)
			}
		}
	}
	c := *f.known
	c.Environment = maps.Clone(f.known.Environment)
	return c
}
