package needed

import (
	"bytes"
	"strings"
	"sync"
)

// Squeezed is a text in lower case, without white space and with 0 for every digit, as the words that patterns need are
// looked for in it: the tables let any white space stand, or be missing, between two words.
type Squeezed struct {
	text  []byte
	grams [gramBits / 64]uint64 // which three letters stand together in it, hashed
}

var squeezes = sync.Pool{New: func() any { return &Squeezed{} }}

const gramBits = 4096

// Squeeze reads a text. Who is done with it should say so.
func Squeeze(text string) *Squeezed {
	s := squeezes.Get().(*Squeezed)
	clear(s.grams[:])
	out := s.text[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case isDigit(c):
			c = '0'
		case isSpace(c):
			continue
		case c == 0xc5 && strings.HasPrefix(text[i:], "\u017f"): // the two letters beyond ASCII that
			c, i = 's', i+1 // patterns take for one of its letters
		case c == 0xe2 && strings.HasPrefix(text[i:], "\u212a"):
			c, i = 'k', i+2
		}
		out = append(out, c)
	}
	s.text = out
	s.note(out)
	return s
}

// Done gives a text back; nobody looks at it any more.
func (s *Squeezed) Done() { squeezes.Put(s) }

// note notes which letters stand together in a text.
func (s *Squeezed) note(text []byte) {
	for i := 2; i < len(text); i++ {
		g := gram(text[i-2], text[i-1], text[i])
		s.grams[g>>6] |= 1 << (g & 63)
	}
}

func gram(a, b, c byte) uint16 {
	return uint16((uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9e3779b1 >> 20)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// word is a word to look for.
type word struct {
	text  []byte
	grams [4]uint16 // some of its own
	count int       // of them
}

func newWord(text string) word {
	w := word{text: []byte(text)}
	places := len(text) - 2
	w.count = min(max(places, 0), len(w.grams))
	for i := range w.count {
		at := i * (places - 1) / max(w.count-1, 1) // from the first to the last
		w.grams[i] = gram(text[at], text[at+1], text[at+2])
	}
	return w
}

// has says whether a word is in the text.
func (s *Squeezed) has(w *word) bool {
	for _, g := range w.grams[:w.count] {
		if s.grams[g>>6]>>(g&63)&1 == 0 {
			return false
		}
	}
	return bytes.Contains(s.text, w.text)
}

// May says whether a text has what a pattern needs: one word of each demand of one of the lists.
func (s *Squeezed) May(lists Words) bool {
	for _, list := range lists {
		if s.hasAll(list) {
			return true
		}
	}
	return lists == nil
}

func (s *Squeezed) hasAll(list [][]word) bool {
	for _, words := range list {
		found := false
		for i := 0; i < len(words) && !found; i++ {
			found = s.has(&words[i])
		}
		if !found {
			return false
		}
	}
	return true
}
