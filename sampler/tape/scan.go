package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// scanner walks over the JSON of one line without building anything. It is lenient about
// what does not matter and sets bad for what is no JSON; after that it stands still.
type scanner struct {
	b    []byte
	i    int
	bad  bool
	memo *memo
	meter
}

var errLine = errors.New("not a JSON object")

func (s *scanner) fail() { s.bad, s.i = true, len(s.b) }

// peek returns the next byte that is no white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// open consumes the bracket c.
func (s *scanner) open(c byte) bool {
	if s.peek() != c {
		s.fail()
		return false
	}
	s.i++
	return true
}

// key returns the next key of an object that was opened; false at its end.
func (s *scanner) key(first bool) ([]byte, bool) {
	if !s.more(first, '}') {
		return nil, false
	}
	return s.keyHere()
}

// has consumes a text if it stands here.
func (s *scanner) has(text string) bool {
	if s.peek(); len(s.b)-s.i < len(text) || string(s.b[s.i:s.i+len(text)]) != text {
		return false
	}
	s.i += len(text)
	return true
}

// keyHere is the key that begins here.
func (s *scanner) keyHere() ([]byte, bool) {
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	k := s.text()
	if s.peek() != ':' {
		s.fail()
		return nil, false
	}
	s.i++
	return k, !s.bad
}

// more says whether an array or object that was opened has another element.
func (s *scanner) more(first bool, end byte) bool {
	c := s.peek()
	if c == end {
		s.i++
		return false
	}
	if first {
		return c != 0 || s.failed()
	}
	if c != ',' {
		return s.failed()
	}
	s.i++
	return true
}

func (s *scanner) failed() bool {
	s.fail()
	return false
}

// text returns the string that begins here, unquoted. It is valid as long as the line.
func (s *scanner) text() []byte {
	start := s.i + 1
	end := bytes.IndexByte(s.b[min(start, len(s.b)):], '"')
	if end < 0 {
		s.fail()
		return nil
	}
	raw := s.b[start : start+end]
	if bytes.IndexByte(raw, '\\') < 0 {
		s.i = start + end + 1
		return raw
	}
	s.skipText()
	var t string
	if s.bad || json.Unmarshal(s.b[start-1:s.i], &t) != nil {
		s.fail()
		return nil
	}
	return []byte(t)
}

func (s *scanner) skipText() {
	for i := s.i + 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.i = i + 1
			return
		}
	}
	s.fail()
}

// skip returns the value that begins here, whatever it is, as it is written.
func (s *scanner) skip() []byte {
	s.peek()
	start := s.i
	for depth := 0; !s.bad; {
		switch c := s.peek(); {
		case c == 0:
			s.fail()
		case c == '"':
			s.skipText()
		case c == '{' || c == '[':
			depth++
			s.i++
		case c == '}' || c == ']':
			depth--
			s.i++
		case (c == ',' || c == ':') && depth > 0:
			s.i++
		default:
			s.word()
		}
		if depth <= 0 {
			break
		}
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// word consumes a number, true, false or null.
func (s *scanner) word() []byte {
	start := s.i
	for s.i < len(s.b) {
		c := s.b[s.i]
		if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != 'E' {
			break
		}
		s.i++
	}
	w := s.b[start:s.i]
	if len(w) == 0 || w[0] >= 'a' && !isWord(w) {
		s.fail()
		return nil
	}
	if w[0] < 'a' && !isNumber(w) {
		s.fail()
		return nil
	}
	return w
}

func isWord(w []byte) bool {
	return string(w) == "null" || string(w) == "true" || string(w) == "false"
}

func isNumber(w []byte) bool {
	for _, c := range w {
		if c >= 'a' && c != 'e' {
			return false
		}
	}
	return w[0] == '-' || w[0] >= '0' && w[0] <= '9'
}

// value is one scalar: a string, a number or a word. Objects and arrays have kind '{' and '['.
type value struct {
	kind byte   // '"', '0', 't', 'f', 'n' (null), '{', '['
	b    []byte // unquoted
	memo *memo
}

func (s *scanner) value() value {
	switch c := s.peek(); c {
	case '"':
		return value{'"', s.clip(s.text()), s.memo}
	case '{', '[':
		return value{c, s.skip(), nil}
	default:
		w := s.word()
		if s.bad {
			return value{'n', nil, nil}
		}
		if w[0] >= 'a' {
			return value{w[0], w, nil}
		}
		return value{'0', w, nil}
	}
}

// end says whether nothing but white space is left and all was well.
func (s *scanner) end() bool { return s.peek() == 0 && s.i >= len(s.b) && !s.bad }

// uint is the value as a whole number, also one written as 5.0, 5e6 or in quotes.
func (v value) uint() (uint64, bool) {
	if v.kind != '0' && v.kind != '"' {
		return 0, false
	}
	if n, point, ok := v.decimal(); ok && point == 0 {
		return n, true
	}
	if n, err := strconv.ParseUint(string(v.b), 10, 64); err == nil {
		return n, true
	}
	f, ok := v.float()
	return uint64(f), ok && f >= 0 && f < 1<<63
}

// float is the value as a finite number.
func (v value) float() (float64, bool) {
	if v.kind != '0' && v.kind != '"' {
		return 0, false
	}
	b := v.b
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	// Both are exact, so the quotient is rounded once, as it must be.
	if n, point, ok := (value{'0', b, nil}).decimal(); ok && n < 1<<53 {
		f := float64(n) / tens[point]
		if len(b) < len(v.b) {
			f = -f
		}
		return f, true
	}
	f, err := strconv.ParseFloat(string(v.b), 64)
	return f, err == nil && f-f == 0
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// decimal reads the usual forms without going through a string: up to 18 digits, with up
// to 9 of them behind a point, or followed by e and one digit.
func (v value) decimal() (n uint64, point int, ok bool) {
	if len(v.b) > 18 {
		return 0, 0, false
	}
	seen := -1
	for i, c := range v.b {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + uint64(c-'0')
		case c == '.' && seen < 0:
			seen = i
		case c == 'e' && seen < 0 && i > 0 && i == len(v.b)-2 && i < 10 && v.b[i+1] >= '0' && v.b[i+1] <= '9':
			return n * uint64(tens[v.b[i+1]-'0']), 0, true
		default:
			return 0, 0, false
		}
	}
	if seen >= 0 {
		point = len(v.b) - 1 - seen
	}
	return n, point, point < len(tens) && seen != len(v.b)-1
}
