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
	fresh int                 // lines that came since they were read
	known *sampler.LogContext // what those that were read say; nil when that is to be put together anew
}

// factLine is a line that is read when a failure asks for it, and only once.
type factLine struct {
	rawLine
	kept *rawLine // the same line in the ring, as long as it is there
	read bool
	says []statement
}

const factLines = 96

func (f *factBook) add(raw []byte, kept *rawLine) {
	number := kept.number
	f.fresh++
	raw = raw[:min(len(raw), keepBytes)]
	if len(f.first) < factLines {
		f.first = append(f.first, factLine{kept: kept, rawLine: rawLine{text: append([]byte(nil), raw...), number: number, added: kept.added}})
		return
	}
	if len(f.last) < factLines {
		f.last = append(f.last, factLine{})
	}
	l := &f.last[f.next]
	if len(l.says) > 0 {
		f.known = nil
	}
	l.set(raw, number, false)
	l.kept, l.added, l.read, l.says = kept, kept.added, false, nil
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

// newest is the line before which so many came later.
func (f *factBook) newest(later int) *factLine {
	if n := len(f.last); later < n {
		return &f.last[(f.next-1-later+n)%n]
	}
	return &f.first[len(f.first)-1-(later-len(f.last))]
}

// statements are what a line says.
func (l *factLine) statements(known *shapes) []statement {
	if !l.read {
		l.read = true
		line := &l.rawLine
		if l.kept.added == l.added && len(l.kept.text) < keepBytes {
			line = l.kept
		}
		for _, one := range line.clean(known) {
			l.says = append(l.says, findFacts(one.part)...)
		}
		l.kept = nil
	}
	return l.says
}

// all is what the lines of the book say together. It does not change any more.
func (f *factBook) all(known *shapes) *sampler.LogContext {
	for i := range min(f.fresh, len(f.first)+len(f.last)) {
		if len(f.newest(i).statements(known)) > 0 {
			f.known = nil
		}
	}
	f.fresh = 0
	if f.known == nil {
		f.known = &sampler.LogContext{Environment: map[string]string{}}
		f.each(func(l *factLine) {
			for _, one := range l.says {
				one.set(f.known, one.value, one.groups)
			}
		})
	}
	return f.known
}

// copied is a context of one's own.
func copied(known *sampler.LogContext) sampler.LogContext {
	c := *known
	c.Environment = maps.Clone(known.Environment)
	return c
}
