package oomlog

import "bytes"

// Recent and notable lines are kept raw and are only cleaned when a failure asks for them.

const (
	ringLines = 256
	keepBytes = 2048 // of one line in the ring; the end is kept, where progress bars and messages are
)

type rawLine struct {
	text   []byte
	number int
	open   bool   // ended in \r: the next one overwrites it on a terminal
	parsed bool   // lines is filled
	lines  []line // the clean lines in it, made when first asked for
	asked  bool   // from is known
	from   string // the inference server it is from; empty for none
}

// server is the inference server that the line names, "" for none.
func (l *rawLine) server() string {
	if !l.asked {
		l.asked, l.from = true, ""
		for _, s := range serverNames {
			if bytes.Contains(l.text, []byte(s.part)) {
				l.from = s.name
				break
			}
		}
	}
	return l.from
}

// clean returns the clean lines in a raw one.
func (l *rawLine) clean() []line {
	if !l.parsed {
		l.lines = l.lines[:0]
		for _, s := range clean(l.text) {
			one := toLine(s, l.number)
			one.notes = notesOf(one.text)
			l.lines = append(l.lines, one)
		}
		l.parsed = true
	}
	return l.lines
}

// ring is the last lines of the text.
type ring struct {
	lines [ringLines]rawLine
	next  int // index of the slot to write
	count int
}

func (r *ring) add(raw []byte, number int, open bool) {
	if r.count > 0 {
		if last := &r.lines[(r.next+ringLines-1)%ringLines]; last.open && last.number == number {
			last.set(raw, number, open)
			return
		}
	}
	r.lines[r.next].set(raw, number, open)
	r.next = (r.next + 1) % ringLines
	r.count = min(r.count+1, ringLines)
}

func (l *rawLine) set(raw []byte, number int, open bool) {
	if len(raw) > keepBytes {
		raw = raw[len(raw)-keepBytes:]
	}
	l.text = append(l.text[:0], raw...)
	l.number, l.open, l.parsed, l.asked = number, open, false, false
}

// tail returns the last n lines, oldest first. They are valid until the next add.
func (r *ring) tail(n int) []*rawLine {
	n = min(n, r.count)
	out := make([]*rawLine, n)
	for i := range out {
		out[i] = &r.lines[(r.next+ringLines-n+i)%ringLines]
	}
	return out
}
