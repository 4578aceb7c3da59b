package oomlog

import (
	"strings"
)

const (
	maxStreams  = 64
	maxBody     = 16 << 10 // bytes of one message
	nearLines   = 40       // lines around a message that "near" conditions see
	joinedHead  = 400      // bytes of a line that may be the end of the line before it
	shortestCut = 20       // a shorter line was not wrapped
)

// stream is what one rank, process or service prints.
type stream struct {
	key  string
	prev line
	open *message
	used int // line number of the last line, for eviction
}

// streams are the open streams; order is by first appearance, so that results do not depend on maps.
type streams struct {
	byKey map[string]*stream
	order []*stream
	last  *stream // of the line before
}

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
}

// candidate is a row whose start matched.
type candidate struct {
	row *compiledRow
	at  int // where in the first line
}

func (s *streams) open() bool {
	for _, st := range s.order {
		if st.open != nil {
			return true
		}
	}
	return false
}

// stream returns the stream of a line. A line without a key right after a line of a stream with an open
// message continues that message: only first lines of a message may carry the prefix.
func (p *Parser) stream(l line) *stream {
	s := &p.streams
	key := l.origin.key
	if key == "" && s.last != nil && s.last.key != "" && s.last.open != nil && !l.logged {
		return s.last
	}
	st := s.byKey[key]
	if st == nil {
		if len(s.order) >= maxStreams {
			p.evict()
		}
		st = &stream{key: key}
		s.byKey[key] = st
		s.order = append(s.order, st)
	}
	return st
}

// evict closes and forgets the stream that has been silent longest.
func (p *Parser) evict() {
	s := &p.streams
	oldest := 0
	for i, st := range s.order {
		if st.used < s.order[oldest].used {
			oldest = i
		}
	}
	st := s.order[oldest]
	p.close(st)
	delete(s.byKey, st.key)
	s.order = append(s.order[:oldest], s.order[oldest+1:]...)
	if s.last == st {
		s.last = nil
	}
}

// look takes one clean line near a word of the tables.
func (p *Parser) look(l line) {
	st := p.stream(l)
	p.streams.last = st
	st.used = l.number
	var found wordMask
	compiled().words.scan([]byte(l.text), &found)
	if m := p.start(st, l, &found); m != nil {
		p.close(st)
		st.open = m
		p.left = max(p.left, m.left+1)
	} else if st.open != nil {
		st.open.add(l.text)
		if st.open.left <= 0 {
			p.close(st)
		}
	}
	if found.meets(&compiled().recoveries) {
		p.recover(st, l, &found)
	}
	st.prev = l
}

// start finds the rows that begin a message in the line, or across the break before it.
func (p *Parser) start(st *stream, l line, found *wordMask) *message {
	if c := starts(l.text, found, 0); c != nil {
		return newMessage(c, l, l.text)
	}
	prev := st.prev
	if prev.text == "" || l.number > prev.number+2 || len(prev.text) < shortestCut || st.open != nil {
		return nil
	}
	var both wordMask
	tail := l.text[:min(len(l.text), joinedHead)]
	for _, glue := range []string{" ", ""} {
		joined := prev.text + glue + tail
		compiled().words.scan([]byte(joined), &both)
		if c := starts(joined, &both, len(prev.text)); c != nil {
			return newMessage(c, prev, prev.text+glue+l.text)
		}
	}
	return nil
}

// starts returns the rows whose start matches text; where it is cut (cut > 0), only matches across the cut.
func starts(text string, found *wordMask, cut int) []candidate {
	if !found.meets(&compiled().events) {
		return nil
	}
	var out []candidate
	for _, r := range compiled().rows {
		if !found.meets(&r.mask) {
			continue
		}
		at := r.start.re.FindStringIndex(text)
		if at == nil || (cut > 0 && (at[0] >= cut || at[1] <= cut)) {
			continue
		}
		out = append(out, candidate{r, at[0]})
	}
	return out
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

// looksAround says whether the row wants the lines around the message.
func (r *compiledRow) looksAround() bool {
	return r.near != nil || r.hostNear != nil || r.gpuNear != nil
}

func (m *message) add(text string) {
	m.left--
	if m.bytes > maxBody {
		return
	}
	m.bytes += len(text)
	m.lines = append(m.lines, text)
}

// body is the text of the message as a row sees it, from where its start matched, its lines joined by glue.
func (m *message) body(c candidate, glue string) string {
	n := min(len(m.lines), 1+c.row.lines)
	text := m.lines[0][c.at:]
	if n == 1 {
		return text
	}
	return text + glue + strings.Join(m.lines[1:n], glue)
}

// close ends the open message of a stream and makes the event.
func (p *Parser) close(st *stream) {
	m := st.open
	if m == nil {
		return
	}
	st.open = nil
	around := ""
	for _, c := range m.candidates {
		if c.row.looksAround() && around == "" {
			around = p.around(m)
		}
		if c.row.near != nil && !c.row.near.MatchString(around) {
			continue
		}
		e, ok := p.build(m, c, around)
		if !ok {
			continue
		}
		p.hold(e, m, c.row, st)
		return
	}
}

// around is the text of the lines around a message, clean.
func (p *Parser) around(m *message) string {
	var b strings.Builder
	for _, r := range p.ring.tail(nearLines + len(m.lines)) {
		b.Write(r.text) // raw: the words looked for here are not broken by colours
		b.WriteByte('\n')
	}
	return b.String()
}
