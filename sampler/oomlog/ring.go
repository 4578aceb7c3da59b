package oomlog

// Recent and notable lines are kept raw and are only cleaned when a failure asks for them.

const ringLines = 256

type rawLine struct {
	text             []byte
	number           int
	added            int        // how many lines the ring had taken before
	open             bool       // ended in \r: the next one overwrites it on a terminal
	parsed           bool       // lines is filled
	lines            []keptLine // the clean lines in it, made when first asked for
	asked            bool       // from is known
	from             string     // the server or tool it is from; empty for none
	heard            bool       // hints is known
	hints            wordMask   // the words in it that rows want near a message
	weighed, heading bool       // whether it is a heading that explains errors is known, and is so
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
func (l *rawLine) clean(known *shapes) []keptLine {
	if !l.parsed {
		for _, p := range known.clean(l.text) {
			l.lines = append(l.lines, keptLine{line: toLine(p, l.number)})
		}
		l.parsed = true
	}
	return l.lines
}

// ring is the last lines of the text.
type ring struct {
	lines []*rawLine // the newest at the end; moments hold parts of it
	added int        // lines, ever
	lent  int        // of these, lines that moments may hold: they are not written again
	held  int        // bytes of lines that are no longer among the last and that moments may hold
}

// add takes a line and returns how it is kept.
func (r *ring) add(raw []byte, number int, open bool) *rawLine {
	l := r.free(number)
	l.set(raw, number, open)
	l.added = r.added
	r.added++
	return l
}

// free is the place of a new line: that of one that it overwrites, or of one that is no longer among the last,
// where nobody holds it, or else a new one.
func (r *ring) free(number int) *rawLine {
	n := len(r.lines)
	if n > 0 && r.lines[n-1].open && r.lines[n-1].number == number {
		if r.lines[n-1].added < r.lent {
			r.lines = append(make([]*rawLine, 0, cap(r.lines)), r.tail(ringLines)...)
			r.lines[len(r.lines)-1] = &rawLine{}
		}
		return r.lines[len(r.lines)-1]
	}
	var l *rawLine
	if n >= ringLines {
		if old := r.lines[n-ringLines]; old.added >= r.lent {
			l = old
		} else {
			r.held += len(old.text)
			old.forget()
		}
	}
	if l == nil {
		l = &rawLine{}
	}
	if n == cap(r.lines) {
		r.lines = append(make([]*rawLine, 0, 2*ringLines), r.tail(ringLines-1)...)
	}
	r.lines = append(r.lines, l)
	return l
}

// lend returns the last n lines, oldest first, to be kept as long as one likes.
func (r *ring) lend(n int) []*rawLine {
	r.lent = r.added
	return r.tail(n)
}

// tail returns the last n lines, oldest first. They are valid until the next add.
func (r *ring) tail(n int) []*rawLine {
	return r.lines[len(r.lines)-min(n, len(r.lines), ringLines):]
}

func (l *rawLine) set(raw []byte, number int, open bool) {
	l.text = append(l.text[:0], raw[max(0, len(raw)-keepBytes):]...)
	l.forget()
	l.lines = l.lines[:0]
	l.number, l.open, l.parsed = number, open, false
	l.asked, l.from, l.heard, l.weighed = false, "", false, false
}

// forget gives back what was made of the line to look for words.
func (l *rawLine) forget() {
	for i := range l.lines {
		l.lines[i].forget()
	}
}
