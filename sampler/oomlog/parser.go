package oomlog

import (
	"bytes"
	"errors"
	"io"

	"nvpeak/sampler"
)

const (
	maxLine    = 1 << 20 // longer lines are cut into pieces
	pieceBytes = 16 << 10
	aheadLines = 4 // lines looked at after one that may begin a wrapped message
)

// Parser finds failures in a text that arrives piece by piece. Its memory is bounded. The zero value is
// not usable; call NewParser. A Parser is for one goroutine.
type Parser struct {
	partial []byte // a line whose end has not come
	number  int    // of the current line, from 1
	left    int    // lines still to be looked at closely
	ring    ring
	facts   factBook
	memory  memoryBook
	streams streams
	held    holder
	scratch []byte
	out     []sampler.OOMEvent
}

// NewParser returns a Parser at the beginning of a text.
func NewParser() *Parser {
	p := &Parser{number: 1}
	p.streams.byKey = map[string]*stream{}
	return p
}

// Feed takes one line, with or without its line end, and returns the events that became complete: an
// event waits a while, because later lines may belong to it, repeat it or show a recovery.
func (p *Parser) Feed(text string) []sampler.OOMEvent {
	p.write([]byte(text))
	if len(text) == 0 || text[len(text)-1] != '\n' {
		p.write([]byte{'\n'})
	}
	return p.take()
}

// Write takes any piece of the text. It never fails; complete events are returned by the next Feed,
// Flush or Events.
func (p *Parser) Write(b []byte) (int, error) {
	p.write(b)
	return len(b), nil
}

// Events returns the events that have become complete since the last call.
func (p *Parser) Events() []sampler.OOMEvent { return p.take() }

// Flush ends the text, or a pause in it: a half line counts as a line, and every waiting event is
// complete. The Parser may be fed further.
func (p *Parser) Flush() []sampler.OOMEvent {
	if len(p.partial) > 0 {
		p.endLine(p.partial, '\n')
		p.partial = p.partial[:0]
	}
	for _, s := range p.streams.order {
		p.close(s)
	}
	p.left = 0
	p.out = append(p.out, p.held.release(-1)...)
	return p.take()
}

// Waiting says whether something found so far waits for further lines.
func (p *Parser) Waiting() bool { return len(p.held.events) > 0 || p.streams.open() }

func (p *Parser) take() []sampler.OOMEvent {
	out := p.out
	p.out = nil
	return out
}

func (p *Parser) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.partial = append(p.partial, b...)
			b = nil
		} else if len(p.partial) == 0 {
			p.physical(b[:i], true)
			b = b[i+1:]
			continue
		} else {
			p.partial = append(p.partial, b[:i]...)
			b = b[i+1:]
		}
		for len(p.partial) > maxLine {
			p.physical(p.partial[:maxLine], false)
			p.partial = append(p.partial[:0], p.partial[maxLine:]...)
		}
		if i >= 0 {
			p.physical(p.partial, true)
			p.partial = p.partial[:0]
		}
	}
}

// physical takes what stands between two \n and parts it at the \r of progress bars.
func (p *Parser) physical(b []byte, ended bool) {
	for len(b) > maxLine {
		p.physical(b[:maxLine], false)
		b = b[maxLine:]
	}
	b = bytes.TrimSuffix(b, []byte{'\r'})
	bars := false
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			break
		}
		if i > 0 {
			p.endLine(b[:i], '\r')
		}
		b, bars = b[i+1:], true
	}
	if len(b) > 0 || !bars {
		p.endLine(b, '\n')
	}
	if ended {
		p.number++
	}
}

// endLine takes one line. end is what ended it.
func (p *Parser) endLine(raw []byte, end byte) {
	t := compiled()
	var found wordMask
	plain := p.uncolour(raw)
	hit := t.words.scan(plain, &found)
	p.ring.add(raw, p.number, end == '\r')
	if !hit && p.left == 0 {
		p.release()
		return
	}
	if hit && found.meets(&t.memory) {
		p.memory.add(plain)
	}
	if hit && found.meets(&t.facts) {
		p.facts.add(raw, p.number)
	}
	if found.meets(&t.events) || found.meets(&t.recoveries) {
		if p.left == 0 {
			p.recall()
		}
		p.left = max(p.left, aheadLines)
	} else if p.left == 0 {
		p.release()
		return
	}
	p.left--
	for _, text := range clean(interesting(raw)) {
		p.look(toLine(text, p.number))
	}
	p.release()
}

// recall makes the line before this one known to its stream, for a message that begins at its end.
func (p *Parser) recall() {
	last := p.ring.tail(2)
	if len(last) < 2 || last[0].number+2 < p.number {
		return
	}
	for _, l := range last[0].clean() {
		if st := p.stream(l); st.open == nil {
			st.prev = l
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

// uncolour drops escape sequences so that words are found across them.
func (p *Parser) uncolour(raw []byte) []byte {
	i := bytes.IndexByte(raw, 0x1b)
	if i < 0 {
		return raw
	}
	out := p.scratch[:0]
	for i >= 0 {
		out = append(out, raw[:i]...)
		raw = raw[i+1:]
		if len(raw) > 0 && raw[0] == '[' {
			j := 1
			for j < len(raw) && (raw[j] < '@' || raw[j] > '~') {
				j++
			}
			raw = raw[min(j+1, len(raw)):]
		}
		i = bytes.IndexByte(raw, 0x1b)
	}
	p.scratch = append(out, raw...)
	return p.scratch
}

func (p *Parser) release() {
	if len(p.held.events) > 0 {
		p.out = append(p.out, p.held.release(p.number)...)
	}
}

// Scan reads a whole text and returns its failures in the order in which they begin, each once.
// An error is one of r; the events found until then are returned with it.
func Scan(r io.Reader) ([]sampler.OOMEvent, error) {
	p := NewParser()
	var all repeats
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		p.write(buf[:n])
		all.add(p.take())
		if err != nil {
			all.add(p.Flush())
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all.events, err
		}
	}
}
