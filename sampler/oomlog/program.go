package oomlog

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// matcher runs a pattern with the results of package regexp, on the short, mostly ASCII texts of logs in
// a tenth of its time: it reads bytes, skips places where no match can begin, and keeps no record of the
// places it has tried. A pattern that tries too much on a text is given to package regexp, which never
// takes longer than linear time.
type matcher struct {
	code     []step
	sets     []ahead       // what steps read, and what can follow them
	insts    []syntax.Inst // say it of characters beyond ASCII
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

// step is small, because a line is tried with the steps of many patterns.
type step struct {
	kind  stepKind
	set   uint16 // of what is read; of an alternative: of what can follow out
	other uint16 // of an alternative: of what can follow arg
	out   uint32
	arg   uint32
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

func newMatcher(tree *syntax.Regexp) *matcher {
	m := &matcher{numbers: 2 * (tree.MaxCap() + 1), names: tree.CapNames()}
	prog, _ := syntax.Compile(tree.Simplify()) // whatever is parsed can be compiled
	m.start = uint32(prog.Start)
	m.insts = prog.Inst
	m.code = make([]step, len(prog.Inst))
	for i := range prog.Inst {
		m.code[i] = m.step(&prog.Inst[i])
	}
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	l := &lookout{matcher: m, seen: make([]uint32, len(m.code))}
	for i := range m.code {
		if c := &m.code[i]; c.kind == stepAlt {
			c.set, c.other = m.index(l.after(c.out)), m.index(l.after(c.arg))
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

// index is where a set stands.
func (m *matcher) index(a ahead) uint16 {
	i := slices.Index(m.sets, a)
	if i < 0 {
		i = len(m.sets)
		m.sets = append(m.sets, a)
	}
	return uint16(i)
}

func (m *matcher) step(in *syntax.Inst) step {
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
		s.kind = stepRune
		var a ahead
		wide := in.Op != syntax.InstRune1 && in.Op != syntax.InstRune || slices.Max(in.Rune) >= utf8.RuneSelf || syntax.Flags(in.Arg)&syntax.FoldCase != 0
		for c := range byte(utf8.RuneSelf) {
			if in.MatchRune(rune(c)) {
				a.bytes[c>>6] |= 1 << (c & 63)
			}
		}
		if wide {
			a.bytes[2], a.bytes[3] = ^uint64(0), ^uint64(0)
		}
		s.set = m.index(a)
	}
	return s
}

// lookout finds what can be read from a step on.
type lookout struct {
	*matcher
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
		a.merge(l.sets[s.set])
	}
}
