package oomlog

import "bytes"

const maxLine = 1 << 20 // longer lines are cut into pieces

// manyEmpty are more empty lines than any message spans or context keeps: further ones are only counted.
const manyEmpty = 4096

// splitter cuts a text that arrives in pieces into lines. \n and \r end one.
type splitter struct {
	partial []byte // a line whose end has not come
	number  int    // of the current line, from 1
	empty   int    // lines in a row before it that hold nothing
	// take gets each line. overwritten: it ended in \r, so on a terminal the next one replaces it.
	take func(raw []byte, number int, overwritten bool)
}

func (s *splitter) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i != 0 || len(s.partial) > 0 {
			s.empty = 0
		} else if s.empty++; s.empty > manyEmpty {
			s.number++
			b = b[1:]
			continue
		}
		if i < 0 {
			s.partial = append(s.partial, b...)
			b = nil
		} else if len(s.partial) == 0 {
			s.physical(b[:i], true)
			b = b[i+1:]
			continue
		} else {
			s.partial = append(s.partial, b[:i]...)
			b = b[i+1:]
		}
		for len(s.partial) > maxLine {
			s.physical(s.partial[:maxLine], false)
			s.partial = append(s.partial[:0], s.partial[maxLine:]...)
		}
		if i >= 0 {
			s.physical(s.partial, true)
			s.partial = s.partial[:0]
		}
	}
}

// flush takes a line without an end for a line.
func (s *splitter) flush() {
	if len(s.partial) > 0 {
		s.take(s.partial, s.number, false)
		s.partial = s.partial[:0]
	}
}

// physical takes what stands between two \n and splits it at the \r of progress bars.
func (s *splitter) physical(b []byte, ended bool) {
	for len(b) > maxLine {
		s.physical(b[:maxLine], false)
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
			s.take(b[:i], s.number, true)
		}
		b, bars = b[i+1:], true
	}
	if len(b) > 0 || !bars {
		s.take(b, s.number, false)
	}
	if ended {
		s.number++
	}
}

// keepBytes of one line are kept: its end, where progress bars and messages are.
const keepBytes = 2048
