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
	hints            *wordMask  // the words in it that rows want near a message; nil: nobody has asked
	whole            *whole     // the text, once it is cleaned
	weighed, heading bool       // whether it is a heading that explains errors is known, and is so
}

// words are those that rows want near a message.
func (l *rawLine) words() *wordMask {
	switch {
	case l.hints != nil:
	case l.whole != nil && l.whole.shape != nil:
		l.hints = l.whole.shape.hintsIn(l.text)
	default:
		hints := compiled().hints().wordsIn(l.text)
		l.hints = &hints
	}
	return l.hints
}

// keptLine is a clean line and, once somebody has asked for them, the notes of it.
type keptLine struct {
	line
	notes *notes
}

func (l *keptLine) read() *notes {
	if l.notes == nil {
		n := notesOf(l.part)
		l.notes = &n
	}
	return l.notes
}

// forget gives back what was made of the line.
func (l *keptLine) forget() { l.part.of.done() }

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
		l.whole = known.whole(string(l.text))
		for _, p := range known.clean(l.whole) {
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
	l.asked, l.from, l.hints, l.whole, l.weighed = false, "", nil, nil, false
}

// forget gives back what was made of the line to look for words.
func (l *rawLine) forget() {
	for i := range l.lines {
		l.lines[i].forget()
	}
}
