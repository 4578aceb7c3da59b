package oomlog

import "slices"

// Recent and notable lines are kept raw and are only cleaned when a failure asks for them.

const ringLines = 256

type rawLine struct {
	text   []byte
	number int
	added  int        // how many lines the ring had taken before
	open   bool       // ended in \r: the next one overwrites it on a terminal
	parsed bool       // lines is filled
	lines  []keptLine // the clean lines in it, made when first asked for
	asked  bool       // from is known
	from   string     // the server or tool it is from; empty for none
	heard  bool       // hints is known
	hints  wordMask   // the words in it that rows want near a message
}

// words are those that rows want near a message.
func (l *rawLine) words() *wordMask {
	if !l.heard {
		l.heard, l.hints = true, compiled().hints().wordsIn(l.text)
	}
	return &l.hints
}

// keptLine is a clean line and, once somebody has asked for them, the notes of it.
type keptLine struct {
	line
	noted bool
	notes notes
	short *squeezed // the text, once somebody has asked for it
}

func (l *keptLine) read() *notes {
	if !l.noted {
		l.noted, l.notes = true, notesOf(l.text, l.squeezed())
	}
	return &l.notes
}

func (l *keptLine) squeezed() *squeezed {
	if l.short == nil {
		l.short = squeeze(l.text)
	}
	return l.short
}

// forget gives back what was made of the line.
func (l *keptLine) forget() {
	if l.short != nil {
		l.short.done()
		l.short = nil
	}
}

// program is the server or tool that the line names, "" for none.
func (l *rawLine) program() string {
	if !l.asked {
		l.asked, l.from = true, programIn(l.text)
	}
	return l.from
}

// clean returns the clean lines in a raw one.
func (l *rawLine) clean() []keptLine {
	if !l.parsed {
		for _, s := range clean(l.text) {
			l.lines = append(l.lines, keptLine{line: toLine(s, l.number)})
		}
		l.parsed = true
	}
	return l.lines
}

// ring is the last lines of the text.
type ring struct {
	lines [ringLines]*rawLine
	next  int // index of the slot to write
	count int
	view  [ringLines]*rawLine // what tail returns
	added int                 // lines, ever
	lent  int                 // of these, lines that moments may hold: they are not written again
	held  int                 // bytes of lines that left the ring and that moments may hold
}

// add takes a line and returns how it is kept.
func (r *ring) add(raw []byte, number int, open bool) *rawLine {
	if r.count > 0 {
		if slot := (r.next + ringLines - 1) % ringLines; r.lines[slot].open && r.lines[slot].number == number {
			return r.put(slot, raw, number, open)
		}
	}
	l := r.put(r.next, raw, number, open)
	r.next = (r.next + 1) % ringLines
	r.count = min(r.count+1, ringLines)
	return l
}

// put writes a line into a slot, in the place of one that nobody holds.
func (r *ring) put(slot int, raw []byte, number int, open bool) *rawLine {
	l := r.lines[slot]
	if l == nil || l.added < r.lent {
		if l != nil {
			r.held += len(l.text)
			l.forget()
		}
		l = &rawLine{}
		r.lines[slot] = l
	}
	l.set(raw, number, open)
	l.added = r.added
	r.added++
	return l
}

// lend returns the last n lines, oldest first, to be kept as long as one likes.
func (r *ring) lend(n int) []*rawLine {
	r.lent = r.added
	return slices.Clone(r.tail(n))
}

func (l *rawLine) set(raw []byte, number int, open bool) {
	if len(raw) > keepBytes {
		raw = raw[len(raw)-keepBytes:]
	}
	l.text = append(l.text[:0], raw...)
	l.forget()
	l.lines = l.lines[:0]
	l.number, l.open, l.parsed = number, open, false
	l.asked, l.from, l.heard = false, "", false
}

// forget gives back what was made of the line to look for words.
func (l *rawLine) forget() {
	for i := range l.lines {
		l.lines[i].forget()
	}
}

// tail returns the last n lines, oldest first. They are valid until the next add or tail.
func (r *ring) tail(n int) []*rawLine {
	n = min(n, r.count)
	out := r.view[:n]
	for i := range out {
		out[i] = r.lines[(r.next+ringLines-n+i)%ringLines]
	}
	return out
}
