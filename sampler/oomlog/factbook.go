package oomlog

import (
	"maps"

	"nvpeak/sampler"
)

// factBook keeps lines that say something of the run: the first ones and the last ones.
type factBook struct {
	first []factLine
	last  []factLine
	next  int
	known *sampler.LogContext // what they say; nil when lines came since
}

// factLine is a line that is read when a failure asks for it, and only once.
type factLine struct {
	rawLine
	read bool
	says []statement
}

const factLines = 96

func (f *factBook) add(raw []byte, number int) {
	f.known = nil
	if len(raw) > keepBytes {
		raw = raw[:keepBytes]
	}
	if len(f.first) < factLines {
		f.first = append(f.first, factLine{rawLine: rawLine{text: append([]byte(nil), raw...), number: number}})
		return
	}
	if len(f.last) < factLines {
		f.last = append(f.last, factLine{})
	}
	l := &f.last[f.next]
	l.set(raw, number, false)
	l.read, l.says = false, nil
	f.next = (f.next + 1) % factLines
}

// each visits the lines in their order.
func (f *factBook) each(visit func(l *factLine)) {
	for i := range f.first {
		visit(&f.first[i])
	}
	for i := range f.last {
		visit(&f.last[(f.next+i)%len(f.last)])
	}
}

// statements are what a line says.
func (l *factLine) statements() []statement {
	if !l.read {
		l.read = true
		for _, one := range l.clean() {
			l.says = append(l.says, findFacts(one.text)...)
		}
	}
	return l.says
}

// gather puts together what the lines of the book say, once per change, and returns a copy.
func (f *factBook) gather() sampler.LogContext {
	if f.known == nil {
		f.known = &sampler.LogContext{Environment: map[string]string{}}
		f.each(func(l *factLine) {
			for _, one := range l.statements() {
				one.set(f.known, one.value, one.groups)
			}
		})
	}
	c := *f.known
	c.Environment = nil
	if len(f.known.Environment) > 0 {
		c.Environment = maps.Clone(f.known.Environment)
	}
	return c
}
