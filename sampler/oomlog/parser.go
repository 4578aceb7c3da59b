package oomlog

import (
	"nvpeak/sampler"
)

const (
	pieceBytes = 16 << 10
	aheadLines = 4 // lines looked at after one that may begin a wrapped message
)

// parser finds failures in a text that arrives piece by piece. Its memory is bounded. Make one with
// newParser; it is for one goroutine.
type parser struct {
	lines   splitter
	left    int // lines still to be looked at closely
	past    past
	streams streams
	held    holder
	counts  []count
	example example
	shapes  shapes
	scratch []byte
	out     []*found
}

func newParser() *parser {
	p := &parser{streams: streams{byKey: map[string]*stream{}}}
	p.lines, p.past.known = splitter{number: 1, take: p.line}, &p.shapes
	return p
}

// write takes any piece of the text.
func (p *parser) write(b []byte) { p.lines.write(b) }

// events returns what has become complete since the last call: an event waits a while, because later
// lines may belong to it, repeat it or show a recovery.
func (p *parser) events() (events []sampler.OOMEvent) {
	for _, e := range p.ready() {
		e.settle()
		events = append(events, e.OOMEvent)
	}
	return events
}

// ready is what events returns, before anybody has asked for the contexts.
func (p *parser) ready() []*found {
	out := p.out
	p.out = nil
	return out
}

// flush ends the text, or a pause in it: a half line counts as a line, and every waiting event is
// complete. More may be written after it.
func (p *parser) flush() []sampler.OOMEvent {
	p.finish()
	return p.events()
}

func (p *parser) finish() {
	p.lines.flush()
	for _, s := range p.streams.order {
		p.close(s)
	}
	p.left = 0
	p.past.complete(p.held.events)
	p.out = p.held.release(p.out, -1)
}

// waiting says whether something found so far waits for further lines.
func (p *parser) waiting() bool { return len(p.held.events) > 0 || p.streams.open() }

// line takes one line of the text.
func (p *parser) line(raw []byte, number int, overwritten bool) {
	t := compiled()
	var found wordMask
	plain := stripEscapes(raw, &p.scratch)
	hit := t.words.scan(plain, &found)
	kept := p.past.ring.add(raw, number, overwritten)
	kept.asked = !found.meets(&t.programs) && len(plain) == len(raw) // there is no program in it
	if hit {
		p.past.keep(raw, plain, kept, &found)
		if found.meets(&t.events) || found.meets(&t.recoveries) {
			if p.left == 0 {
				p.recall()
			}
			p.left = max(p.left, aheadLines)
		}
	}
	if p.left > 0 {
		p.left--
		p.lookAt(raw, kept, &found)
	}
	p.out = p.held.release(p.out, number)
}

// lookAt takes the clean lines in a raw one, whose words were found. A kept line is cleaned once for all who ask for it.
func (p *parser) lookAt(raw []byte, kept *rawLine, found *wordMask) {
	if len(raw) <= keepBytes {
		for i := range kept.clean(&p.shapes) {
			if one := &kept.lines[i]; one.text == string(raw) {
				p.look(one, *found)
			} else {
				p.look(one, wordsIn(one.text))
			}
		}
		return
	}
	for _, text := range clean(interesting(raw)) {
		one := keptLine{line: toLine((&whole{text: text}).all(), kept.number)}
		p.look(&one, wordsIn(one.text))
		one.forget()
	}
}

// recall makes the line before this one known to its stream, for a message that begins at its end.
func (p *parser) recall() {
	last := p.past.ring.tail(2)
	if len(last) < 2 {
		return
	}
	for _, l := range last[0].clean(&p.shapes) {
		if st := p.stream(l.line); st.open == nil {
			st.prev, st.found = l.line, wordsIn(l.text)
		}
	}
}

// interesting cuts a very long line down to the pieces with words in them and the one after each,
// so that cleaning stays cheap.
func interesting(raw []byte) []byte {
	if len(raw) <= 2*pieceBytes {
		return raw
	}
	var out []byte
	wanted := false
	for len(raw) > 0 && len(out) < 8*pieceBytes {
		piece := raw[:min(pieceBytes, len(raw))]
		raw = raw[len(piece):]
		var found wordMask
		hit := compiled().words.scan(piece, &found)
		if hit || wanted {
			out = append(out, piece...)
		}
		wanted = hit
	}
	return out
}

// stream is the stream of a line. One that has to make room ends its message.
func (p *parser) stream(l line) *stream {
	st, evicted := p.streams.of(l)
	if evicted != nil {
		p.close(evicted)
	}
	return st
}

// look takes one clean line near a word of the tables, and the words in it.
func (p *parser) look(kept *keptLine, found wordMask) {
	l := kept.line
	st, m := p.wrapped(l, &found)
	if m == nil {
		st = p.stream(l)
		m = st.start(l, &found, &p.shapes)
	}
	p.streams.last = st
	st.used = l.number
	if m != nil {
		p.close(st)
		text, fenced := p.past.introduction(m.first.number)
		m.intro, m.fenced = p.shapes.whole(text).all(), fenced
		m.quoted, m.boxed = p.past.marked(m.first.number)
		if m.quoted || m.leads() || m.names() {
			m.left = max(m.left, meaningLines)
		}
		st.open = m
		p.left = max(p.left, m.left+1)
	} else if st.open != nil {
		st.open.add(l.text)
		if st.open.left <= 0 {
			p.close(st)
		}
	}
	p.countOn(st, l)
	if compiled().recovers(l.part, &found) {
		p.recover(st, l.number)
	}
	st.prev, st.found = l, found
}

// wrapped finds a message across the break before a line without a key, whose begin has one.
func (p *parser) wrapped(l line, found *wordMask) (*stream, *message) {
	last := p.streams.last
	if last == nil || last.key == "" || l.origin.key != "" || l.logged || last.open != nil || last.prev.number+1 != l.number {
		return nil, nil
	}
	return last, last.across(l, found, &p.shapes)
}

// recover marks the failure that a recovery belongs to.
func (p *parser) recover(st *stream, number int) {
	if st.open != nil {
		st.open.recovered = true
	} else if h := p.held.latest(st.key, number-recoverWithin); h != nil {
		h.Recovered = true
	}
}

// close ends the open message of a stream and makes the event.
func (p *parser) close(st *stream) {
	m := st.open
	if m == nil {
		return
	}
	st.open = nil
	var around *surroundings
	text := m.text(&p.shapes)
	defer text.of.done()
	for _, c := range m.candidates {
		if c.row.looksAround() && around == nil {
			around = p.past.around(nearLines + len(m.lines))
		}
		if c.row.near != nil && !around.has(c.row.near) {
			continue
		}
		f, ok := build(m, c, text, around)
		if !ok {
			continue
		}
		if !f.Rank.Known() {
			f.Rank = p.past.rankOfTraceback(m)
		}
		if p.past.isExample(m, f) || p.example.before(m, &p.past) {
			p.example = example{m.first.number + c.row.lines}
			return
		}
		if h := p.held.add(f, m, st.key); h != nil {
			h.moment = p.past.moment(m, f.Kind, st.key)
		}
		p.waitForCount(m, st.key)
		return
	}
}
