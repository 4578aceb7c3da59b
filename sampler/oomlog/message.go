package oomlog

import (
	"math/bits"
	"strings"
)

const (
	maxBody   = 16 << 10 // bytes of one message
	nearLines = 40       // lines around a message that "near" conditions see
)

// message is a failure being read.
type message struct {
	candidates []candidate
	origin     origin
	first      line
	head       string // what stands before the message on its first line
	lines      []string
	bytes      int
	left       int // further lines that may belong to it
	recovered  bool
	intro      part // the last line with text before it
	fenced     bool // a fence of code stands between the two
	quoted     bool // the line is marked as quoted, or as code within a text
	boxed      bool // the line is a row of a table
}

// candidate is a row whose start matched.
type candidate struct {
	row *compiledRow
	at  int // where in the first line
}

// starts returns the rows whose start matches text; where it is cut (cut > 0), only matches across the cut.
func starts(text part, found *wordMask, cut int) []candidate {
	var out []candidate
	t := compiled()
	for i, some := range t.rowsWith(found) {
		for ; some != 0; some &= some - 1 {
			r := t.rows[i<<6+bits.TrailingZeros64(some)]
			begin, end := r.start.re.beginsIn(text)
			if begin < 0 || (cut > 0 && (begin >= cut || end <= cut)) {
				continue
			}
			if cut == 0 {
				begin = r.printedAfterSource(text, begin)
			}
			out = append(out, candidate{r, begin})
		}
	}
	return out
}

// raises is the line of source that raises an error with a text of its own.
var raises = pattern(`(?-i:\braise\s+(?:[A-Za-z_]\w*\.)*[A-Z]\w*\(\s*[frb]?["'])`)

// printedAfterSource is where a message begins that stands at a place: that of the printed error, where a traceback was pasted into
// one line, as titles have it, and the source that raises it comes first.
func (r *compiledRow) printedAfterSource(text part, begin int) int {
	if !raises.in(text.cut(0, begin)) {
		return begin
	}
	for from := begin + 1; from < len(text.text); {
		next, _ := r.start.re.beginsIn(text.cut(from, len(text.text)))
		if next < 0 {
			break
		}
		if printedAfter.in(text.cut(0, from+next)) {
			return from + next
		}
		from += next + 1
	}
	return begin
}

func newMessage(c []candidate, first line, text string) *message {
	m := &message{candidates: c, origin: first.origin, first: first, head: text, lines: []string{text}, bytes: len(text)}
	for _, one := range c {
		m.left = max(m.left, one.row.lines)
		if one.row.looksAround() {
			m.left = max(m.left, 6)
		}
	}
	return m
}

func (m *message) add(text string) {
	m.left--
	if m.bytes > maxBody {
		return
	}
	if strings.HasPrefix(m.lines[0], "#") {
		text = strings.TrimLeft(text, "# ") // an error kept as a comment goes on in comments
	}
	m.bytes += len(text)
	// An editor or a multiplexer marks where it wrapped a line.
	m.lines[len(m.lines)-1] = strings.TrimSuffix(m.lines[len(m.lines)-1], `\`)
	m.lines = append(m.lines, text)
}

// text is all of the message.
func (m *message) text(known *shapes) part {
	if len(m.lines) == 1 && m.head == m.first.text {
		return m.first.part
	}
	return known.whole(strings.Join(m.lines, " ")).all()
}

// body is the text of the message as a row sees it, from where its start matched; all are its lines, joined by glue.
func (m *message) body(c candidate, all part, glue string) part {
	end := -len(glue)
	for _, l := range m.lines[:min(len(m.lines), 1+c.row.lines)] {
		end += len(glue) + len(l)
	}
	return all.cut(c.at, end)
}
