package oomlog

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// matcher runs a pattern with the results of package regexp, on the short, mostly ASCII texts of logs in
// a tenth of its time: it reads bytes, skips places where no match can begin, and keeps no record of the
// places it has tried. A pattern that tries too much on a text is given to package regexp, which never
// takes longer than linear time.
type matcher struct {
	code     []step
	start    uint32
	numbers  int       // of a match: where it and each of its groups begin and end
	names    []string  // of the groups
	first    ahead     // what a match can begin with
	second   ahead     // what can follow its first character
	begins   [256]bool // first
	only     byte      // the only byte a match can begin with; 0: there are several
	anchored bool      // matches begin at the begin of the text
}

type stepKind uint8

const (
	stepFail  stepKind = iota
	stepRune           // reads one character
	stepAlt            // goes on at out, or else at arg
	stepMark           // notes the place as arg's number of the match
	stepEmpty          // arg's condition holds here
	stepMatch
)

type step struct {
	kind  stepKind
	out   uint32
	arg   uint32
	ascii [2]uint64    // the ASCII characters read
	other *syntax.Inst // says it of others
	wide  bool         // reads some of them
	next  [2]ahead     // of an alternative: what can follow out and arg
}

// ahead is what a way can read next.
type ahead struct {
	bytes [4]uint64
	end   bool // it can match without reading anything
}

func (a *ahead) has(c byte) bool { return a.bytes[c>>6]>>(c&63)&1 != 0 }

func (a *ahead) merge(b ahead) {
	for i := range a.bytes {
		a.bytes[i] |= b.bytes[i]
	}
	a.end = a.end || b.end
}

// only is the only byte that can be read; 0 when there are several.
func (a *ahead) only() (b byte) {
	count := 0
	for c := range 256 {
		if a.has(byte(c)) {
			b = byte(c)
			count++
		}
	}
	if count != 1 || a.end {
		return 0
	}
	return b
}

// allows says whether the way can go on at a place.
func (a *ahead) allows(text string, at int) bool {
	return a.end || at < len(text) && a.has(text[at])
}

// has says whether an ASCII character is read.
func (s *step) has(c byte) bool { return s.ascii[c>>6]>>(c&63)&1 != 0 }

func newMatcher(tree *syntax.Regexp) *matcher {
	m := &matcher{numbers: 2 * (tree.MaxCap() + 1), names: tree.CapNames()}
	prog, _ := syntax.Compile(tree.Simplify()) // whatever is parsed can be compiled
	m.start = uint32(prog.Start)
	m.code = make([]step, len(prog.Inst))
	for i := range prog.Inst {
		m.code[i] = newStep(&prog.Inst[i])
	}
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	l := &lookout{code: m.code, seen: make([]uint32, len(m.code))}
	for i := range m.code {
		if c := &m.code[i]; c.kind == stepAlt {
			c.next = [2]ahead{l.after(c.out), l.after(c.arg)}
		}
	}
	m.first = l.after(m.start)
	m.only = m.first.only()
	for _, pc := range slices.Clone(l.reads) {
		m.second.merge(l.after(m.code[pc].out))
	}
	for c := range m.begins {
		m.begins[c] = m.first.has(byte(c))
	}
	return m
}

func newStep(in *syntax.Inst) step {
	s := step{out: in.Out, arg: in.Arg}
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		s.kind = stepAlt
	case syntax.InstCapture:
		s.kind = stepMark
	case syntax.InstNop:
		s.kind, s.arg = stepEmpty, 0
	case syntax.InstEmptyWidth:
		s.kind = stepEmpty
	case syntax.InstMatch:
		s.kind = stepMatch
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		s.kind, s.other = stepRune, in
		s.wide = in.Op != syntax.InstRune1 && in.Op != syntax.InstRune || slices.Max(in.Rune) >= utf8.RuneSelf || syntax.Flags(in.Arg)&syntax.FoldCase != 0
		for c := range byte(utf8.RuneSelf) {
			if in.MatchRune(rune(c)) {
				s.ascii[c>>6] |= 1 << (c & 63)
			}
		}
	}
	return s
}

// lookout finds what can be read from a step on.
type lookout struct {
	code  []step
	seen  []uint32 // round in which a step was visited
	round uint32
	reads []uint32 // steps that read, of the last round
}

func (l *lookout) after(pc uint32) (a ahead) {
	l.round++
	l.reads = l.reads[:0]
	l.visit(pc, &a)
	return a
}

func (l *lookout) visit(pc uint32, a *ahead) {
	if l.seen[pc] == l.round {
		return
	}
	l.seen[pc] = l.round
	s := &l.code[pc]
	switch s.kind {
	case stepAlt:
		l.visit(s.out, a)
		l.visit(s.arg, a)
	case stepMark, stepEmpty:
		l.visit(s.out, a)
	case stepMatch:
		a.end = true
	case stepRune:
		l.reads = append(l.reads, pc)
		a.bytes[0] |= s.ascii[0]
		a.bytes[1] |= s.ascii[1]
		if s.wide {
			a.bytes[2], a.bytes[3] = ^uint64(0), ^uint64(0)
		}
	}
}

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
		if at < len(text) && text[at] >= utf8.RuneSelf {
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n - 1
		}
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
	for i := range s.match {
		s.match[i] = -1
	}
	text, ways, left := s.text, s.ways[:0], s.left
	pc := s.start
	for left >= 0 {
		left--
		c := &s.code[pc]
		ok := false
		switch c.kind {
		case stepAlt:
			ok = c.next[0].allows(text, at)
			switch other := c.next[1].allows(text, at); {
			case ok && other:
				ways = append(ways, choice{int32(c.arg), int32(at)})
			case other:
				pc = c.arg
				continue
			}
		case stepRune:
			if at < len(text) {
				if b := text[at]; b < utf8.RuneSelf {
					if ok = c.has(b); ok {
						at++
					}
				} else if r, n := utf8.DecodeRuneInString(text[at:]); c.other.MatchRune(r) {
					ok, at = true, at+n
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

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
