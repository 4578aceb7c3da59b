package fleet

import (
	"bytes"
	"errors"
	"io"
	"strconv"
)

// What Prometheus and its exporters write is read line by line, and only those lines are looked into that nvpeak knows a use for: a page of 1,000 GPUs has
// 8 MB. Nothing of a page is kept but the figures.

// sample is one series with its value. What it holds is valid until the next one.
type sample struct {
	name   []byte
	labels []label
	value  float64
}

type label struct{ name, value []byte }

// label is the value of a label; empty: there is none.
func (s *sample) label(name string) string {
	for i := range s.labels {
		if string(s.labels[i].name) == name {
			return string(s.labels[i].value)
		}
	}
	return ""
}

// Bounds of a page. That of a machine with 64 GPUs and thousands of processes has 4 MB.
const (
	mostPage   = 32 << 20 // bytes, unpacked
	mostLine   = 64 << 10
	mostLabels = 64
)

var (
	errPageLong = errors.New("its answer is larger than 32 MiB")
	errNoPage   = errors.New("its answer is no page of metrics")
	errLineLong = errors.New("a line of its answer is longer than 64 KiB, which no page of metrics needs")
)

// pageReader reads the samples of a page in Prometheus' text format, or OpenMetrics.
type pageReader struct {
	buffer []byte // kept from page to page
	sample
}

// read hands on every sample whose name is wanted. The error is of what is no page, is cut or too long.
func (p *pageReader) read(r io.Reader, wanted func(name []byte) bool, take func(*sample)) error {
	if p.buffer == nil {
		p.buffer = make([]byte, mostLine)
	}
	limited := &io.LimitedReader{R: r, N: mostPage + 1}
	have, lines, samples := 0, 0, 0
	for {
		n, err := limited.Read(p.buffer[have:])
		have += n
		rest := p.buffer[:have]
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			if p.line(rest[:i], wanted, take) {
				samples++
			}
			lines++
			rest = rest[i+1:]
		}
		if lines > 20 && samples == 0 { // HTML, or a text
			return errNoPage
		}
		have = copy(p.buffer, rest)
		switch {
		case limited.N <= 0:
			return errPageLong
		case err == io.EOF:
			if have > 0 && p.line(p.buffer[:have], wanted, take) {
				samples++
			}
			if samples == 0 {
				return errNoPage
			}
			return nil
		case err != nil:
			return err
		case have == len(p.buffer) && samples > 0:
			return errLineLong
		case have == len(p.buffer):
			return errNoPage
		}
	}
}

// line reads one line. It says whether it is one of such a page; comments and blank lines are.
func (p *pageReader) line(b []byte, wanted func([]byte) bool, take func(*sample)) bool {
	b = bytes.TrimRight(b, "\r")
	if len(b) == 0 {
		return false
	}
	if b[0] == '#' {
		return bytes.HasPrefix(b, []byte("# HELP ")) || bytes.HasPrefix(b, []byte("# TYPE ")) || bytes.Equal(b, []byte("# EOF"))
	}
	end := 0
	for end < len(b) && isNameByte(b[end]) {
		end++
	}
	if end == 0 || end == len(b) || b[end] != '{' && b[end] != ' ' && b[end] != '\t' {
		return false
	}
	if !wanted(b[:end]) {
		return true
	}
	p.name = b[:end]
	rest, ok := p.readLabels(b[end:])
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t")
	if i := bytes.IndexAny(rest, " \t"); i >= 0 { // a time, or an exemplar
		rest = rest[:i]
	}
	v, err := strconv.ParseFloat(string(rest), 64)
	if err != nil {
		return false
	}
	if p.value = v; v-v == 0 { // neither NaN nor infinite
		take(&p.sample)
	}
	return true
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':'
}

// readLabels reads {a="b",…}, if there is one, and returns what follows.
func (p *pageReader) readLabels(b []byte) (rest []byte, ok bool) {
	p.labels = p.labels[:0]
	if b[0] != '{' {
		return b, true
	}
	for b = b[1:]; ; {
		for len(b) > 0 && (b[0] == ',' || b[0] == ' ' || b[0] == '\t') {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == '}' {
			return b[1:], true
		}
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 || eq+1 >= len(b) || b[eq+1] != '"' || len(p.labels) == mostLabels {
			return nil, false
		}
		name := bytes.TrimSpace(b[:eq])
		value, after, ok := quoted(b[eq+2:])
		if !ok {
			return nil, false
		}
		p.labels = append(p.labels, label{name, value})
		b = after
	}
}

// quoted reads a text to its closing quote.
func quoted(b []byte) (value, rest []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return b[:i], b[i+1:], true
		case '\\':
			return escaped(b)
		}
	}
	return nil, nil, false
}

// escaped is quoted where there is a backslash.
func escaped(b []byte) (value, rest []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return value, b[i+1:], true
		case c == '\\' && i+1 < len(b):
			if i++; b[i] == 'n' {
				value = append(value, '\n')
			} else {
				value = append(value, b[i])
			}
		default:
			value = append(value, c)
		}
	}
	return nil, nil, false
}
