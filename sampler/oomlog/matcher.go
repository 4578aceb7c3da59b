package oomlog

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// choice is where to go on when a way fails: a step and a place, or a number of the match to put back.
type choice struct {
	step, at int32 // step < 0: number ^step of the match was at
}

// search is one search in a text.
type search struct {
	*matcher
	text  string
	match []int // the leftmost match: its begin and end, and those of its groups
	ways  []choice
	left  int // steps until package regexp takes over
}

var searches = sync.Pool{New: func() any { return &search{match: make([]int, 32), ways: make([]choice, 0, 64)} }}

// effort is how many steps per byte a search may take, and as many bytes more.
const effort = 64

// search begins a search for the first numbers of matches.
func (m *matcher) search(text string, numbers int) *search {
	s := searches.Get().(*search)
	s.matcher, s.text, s.left = m, text, effort*(len(text)+effort)
	s.match = slices.Grow(s.match[:0], numbers)[:numbers]
	return s
}

// hopeless says that a pattern of beginnings does not begin like this.
func (m *matcher) hopeless(text string) bool { return m.anchored && !m.first.allows(text, 0) }

// done ends a search. What it found is no longer valid.
func (s *search) done() {
	s.matcher, s.text = nil, ""
	searches.Put(s)
}

// next looks for the leftmost match that begins at a place or later. gaveUp: it took too many steps.
func (s *search) next(from int) (found, gaveUp bool) {
	text := s.text
	if s.anchored && from > 0 {
		return false, false
	}
	for at := from; at <= len(text); at++ {
		if !s.anchored {
			at = s.skip(at)
		}
		if s.mayBegin(at) {
			for i := range s.match {
				s.match[i] = -1
			}
			end := s.run(at)
			if s.left < 0 {
				return false, true
			}
			if end >= 0 {
				if len(s.match) > 1 {
					s.match[0], s.match[1] = at, end
				}
				return true, false
			}
		}
		if s.anchored {
			break
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += max(0, n-1)
	}
	return false, false
}

// skip is the next place at which a match may begin, or the end.
func (s *search) skip(at int) int {
	text := s.text
	switch {
	case s.first.end:
	case s.only != 0:
		if n := strings.IndexByte(text[at:], s.only); n >= 0 {
			return at + n
		}
		return len(text)
	default:
		for at < len(text) && !s.begins[text[at]] {
			at++
		}
	}
	return at
}

// mayBegin looks at the first two bytes of a match.
func (s *search) mayBegin(at int) bool {
	if s.first.end {
		return true
	}
	return at < len(s.text) && s.first.has(s.text[at]) && (s.text[at] >= utf8.RuneSelf || s.second.allows(s.text, at+1))
}

// run tries to match at a place and returns where the match ends, -1 for none.
func (s *search) run(at int) int {
	text, ways, left := s.text, s.ways[:0], s.left
	pc := s.start
	for left >= 0 {
		left--
		c := &s.code[pc]
		ok := false
		switch c.kind {
		case stepAlt:
			if ok = s.sets[c.set].allows(text, at); s.sets[c.other].allows(text, at) {
				if !ok {
					pc = c.arg
					continue
				}
				ways = append(ways, choice{int32(c.arg), int32(at)})
			}
		case stepRune:
			if at < len(text) {
				switch b := text[at]; {
				case !s.sets[c.set].has(b):
				case b < utf8.RuneSelf:
					ok, at = true, at+1
				default:
					if r, n := utf8.DecodeRuneInString(text[at:]); s.insts[pc].MatchRune(r) {
						ok, at = true, at+n
					}
				}
			}
		case stepMark:
			if ok = true; int(c.arg) < len(s.match) {
				ways = append(ways, choice{^int32(c.arg), int32(s.match[c.arg])})
				s.match[c.arg] = at
			}
		case stepEmpty:
			ok = holds(syntax.EmptyOp(c.arg), text, at)
		case stepMatch:
			s.left, s.ways = left, ways
			return at
		}
		if ok {
			pc = c.out
			continue
		}
		for {
			if len(ways) == 0 {
				s.left, s.ways = left, ways
				return -1
			}
			w := ways[len(ways)-1]
			ways = ways[:len(ways)-1]
			if w.step >= 0 {
				pc, at = uint32(w.step), int(w.at)
				break
			}
			s.match[^w.step] = int(w.at)
		}
	}
	s.left = left
	return -1
}

// holds says whether all of a condition's places are here: ends of the text or of lines, borders of words.
func holds(need syntax.EmptyOp, text string, at int) bool {
	var is syntax.EmptyOp
	if at == 0 {
		is |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	} else if text[at-1] == '\n' {
		is |= syntax.EmptyBeginLine
	}
	if at == len(text) {
		is |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if text[at] == '\n' {
		is |= syntax.EmptyEndLine
	}
	if (at > 0 && inWord(text[at-1])) != (at < len(text) && inWord(text[at])) {
		is |= syntax.EmptyWordBoundary
	} else {
		is |= syntax.EmptyNoWordBoundary
	}
	return need&^is == 0
}

// blanks are what \s matches.
const blanks = " \t\n\f\r"

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
