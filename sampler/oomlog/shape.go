package oomlog

import (
	"slices"
	"strings"
	"unicode"

	"nvpeak/sampler/needed"
)

// A log that is full of failures prints the same text again and again with other numbers. Where a pattern matches does
// not depend on which digits stand there, unless the pattern asks for one of them. So texts that differ in digits alone
// have one shape, and what was found in a text is known of all others of its shape.

const (
	maxShapes    = 1024
	longestShape = 4 << 10 // longer texts are seldom printed twice
)

// shapes are those of the texts seen of late. The zero value is ready.
type shapes struct {
	known map[string]*shape // by the text with 0 for every digit
	zeros []byte
}

// shape is what is known of a text, once there are two of its shape.
type shape struct {
	known map[question]int // where in asked
	asked []answered       // in the order in which it was asked of the first text: that of the others, mostly
	short *needed.Squeezed
	hints *wordMask // the words that rows want near a message: none of them has a digit
}

// hintsIn are the hints of a text of the shape.
func (s *shape) hintsIn(text []byte) *wordMask {
	if s.hints == nil {
		hints := compiled().hints().wordsIn(text)
		s.hints = &hints
	}
	return s.hints
}

// answered is a question, and what was found.
type answered struct {
	question
	at [][]int
}

// question is what was looked for, and in which part of the text.
type question struct {
	what     *lazy // of several patterns the first
	asks     asks
	from, to int32
	most     int32 // matches
}

// asks is what is asked of a text.
type asks int32

const (
	mayMatch    asks = iota // whether the words are there that a pattern needs
	doesMatch               // whether it does
	firstPlace              // where the first match is
	places                  // where the matches are
	groupsToo               // and their groups
	anyOfThem               // whether one of several patterns matches
	itsPrefixes             // those that prefixForms know
	stating                 // whether it may say something of the run
	cleanLines              // the lines of what is clean already
)

// whole is a text with its shape.
type whole struct {
	text  string
	known *shapes
	shape *shape // nil: none of its shape was seen before
	next  int    // of what was asked of the shape
	short *needed.Squeezed
}

// whole is a text.
func (s *shapes) whole(text string) *whole {
	if s == nil || len(text) > longestShape {
		return &whole{text: text}
	}
	s.zeros = append(s.zeros[:0], text...)
	for i, c := range s.zeros {
		if isDigit(c) {
			s.zeros[i] = '0'
		}
	}
	one, seen := s.known[string(s.zeros)]
	if !seen {
		if s.known == nil || len(s.known) >= maxShapes {
			s.known = map[string]*shape{}
		}
		s.known[string(s.zeros)] = &shape{}
	} else if one.known == nil {
		one.known = map[question]int{}
	}
	return &whole{text: text, known: s, shape: one}
}

// squeezed is the text for patterns that ask for words in it.
func (w *whole) squeezed() *needed.Squeezed {
	of := &w.short
	if w.shape != nil {
		of = &w.shape.short
	}
	if *of == nil {
		*of = needed.Squeeze(w.text)
	}
	return *of
}

// done says that nobody looks for words in the text any more.
func (w *whole) done() {
	if w.short != nil {
		w.short.Done()
		w.short = nil
	}
}

func (w *whole) all() part { return part{w.text, w, 0} }

// part is a part of a text.
type part struct {
	text string
	of   *whole
	from int
}

// cut is a part of a part.
func (p part) cut(from, to int) part { return part{p.text[from:to], p.of, p.from + from} }

// trimmed is the part without blanks at its ends.
func (p part) trimmed() part {
	from := len(p.text) - len(strings.TrimLeftFunc(p.text, unicode.IsSpace))
	return p.cut(from, from+len(strings.TrimSpace(p.text)))
}

// ask finds something, or looks up what was found in another text of the same shape. It must not depend on digits.
func (p part) ask(q question, find func() [][]int) [][]int {
	s := p.of.shape
	if s == nil {
		return find()
	}
	q.from, q.to = int32(p.from), int32(p.from+len(p.text))
	i := p.of.next
	if i >= len(s.asked) || s.asked[i].question != q {
		known := false
		if i, known = s.known[q]; !known {
			at := find() // may ask, too
			i = len(s.asked)
			s.known[q], s.asked = i, append(s.asked, answered{q, at})
		}
	}
	p.of.next = i + 1
	return s.asked[i].at
}

// askOf asks for a pattern; one that is not blind to digits looks at each text, if its words can be there.
func (l *lazy) askOf(p part, q question, find func() [][]int) [][]int {
	if !l.mayIn(p) {
		return nil // and it need not be compiled
	}
	if q.what = l; l.blind() {
		return p.ask(q, find)
	}
	return find()
}

// mayIn says whether the words are there that a pattern needs, in the part of a text or around it.
func (l *lazy) mayIn(p part) bool {
	return p.ask(question{what: l, asks: mayMatch}, func() [][]int { return answer(l.may(p.of.squeezed())) }) != nil
}

// answer is yes or no as what was found.
func answer(yes bool) [][]int {
	if yes {
		return [][]int{}
	}
	return nil
}

// allIn are the first matches in a part of a text, with their groups where these are asked for.
func (l *lazy) allIn(p part, most int, groups bool) [][]int {
	q := question{asks: places, most: int32(most)}
	if groups {
		q.asks = groupsToo
	}
	return l.askOf(p, q, func() [][]int { return l.locateAll(p.text, most, groups) })
}

// beginsIn is where the first match in a part of a text begins and ends; -1 for none.
func (l *lazy) beginsIn(p part) (begin, end int) {
	at := l.askOf(p, question{asks: firstPlace}, func() [][]int {
		begin, end := l.placeIn(p.text, p.of.squeezed())
		if begin < 0 {
			return nil
		}
		return [][]int{{begin, end}}
	})
	if at == nil {
		return -1, -1
	}
	return at[0][0], at[0][1]
}

// findIn is the first match in a part of a text with its groups.
func (l *lazy) findIn(p part) []string {
	at := l.allIn(p, 1, true)
	if at == nil {
		return nil
	}
	return groups(p.text, at[0])
}

// in says whether the pattern matches a part of a text.
func (l *lazy) in(p part) bool {
	return l.askOf(p, question{asks: doesMatch}, func() [][]int { return answer(l.MatchString(p.text)) }) != nil
}

// in says whether one of the patterns matches a part of a text.
func (g *gated) in(p part) bool {
	if !g.blind() {
		return g.match(p.text)
	}
	return p.ask(question{what: g.ways[0], asks: anyOfThem}, func() [][]int { return answer(g.match(p.text)) }) != nil
}

// blindToDigits says that a pattern takes every digit for any other.
func (m *matcher) blindToDigits() bool {
	for i := range m.code {
		if c := &m.code[i]; c.kind == stepRune {
			digits := m.sets[c.set].bytes['0'>>6] >> ('0' & 63) & (1<<10 - 1)
			if digits != 0 && digits != 1<<10-1 {
				return false
			}
		}
	}
	return true
}

func allBlind(ways []*lazy) bool {
	return !slices.ContainsFunc(ways, func(l *lazy) bool { return !l.blind() })
}
