package child

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Lines of two outputs do not mix, and what has no end comes with it.
func TestSideKeepsLines(t *testing.T) {
	s := NewSide()
	out, errs := &stream{side: s}, &stream{side: s}
	io.WriteString(out, "one\ntw")   //nolint:errcheck // it has none
	io.WriteString(errs, "ERR\n")    //nolint:errcheck // it has none
	io.WriteString(out, "o\rthree")  //nolint:errcheck // it has none
	io.WriteString(errs, "last one") //nolint:errcheck // it has none
	out.end()
	errs.end()
	s.Close() //nolint:errcheck // it has none
	text, err := io.ReadAll(s)
	if want := "one\nERR\ntwo\rthreelast one"; err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

// However much is printed while nobody reads, memory is bounded and the newest lines are there, each whole.
func TestSideIsBounded(t *testing.T) {
	s := NewSide()
	out := &stream{side: s}
	const lines = 300000
	for i := range lines {
		fmt.Fprintf(out, "line %d\n", i)
	}
	if n := len(s.waiting); n > 2*maxWaiting || cap(s.tail) > 4*maxTail || cap(s.waiting) > 4*maxWaiting {
		t.Errorf("%d bytes wait, room for %d and %d", n, cap(s.waiting), cap(s.tail))
	}
	s.Close() //nolint:errcheck // it has none
	text, _ := io.ReadAll(s)
	tail, printed := s.Tail()
	for name, b := range map[string][]byte{"read": text, "tail": tail} {
		if !bytes.HasPrefix(b, []byte("line ")) || !bytes.HasSuffix(b, fmt.Appendf(nil, "line %d\n", lines-1)) || len(b) < maxTail/2 {
			t.Errorf("%s: %d bytes, %.40q … %q", name, len(b), b, b[max(0, len(b)-20):])
		}
	}
	if len(text) > maxWaiting || len(tail) > maxTail || printed < 3<<20 {
		t.Errorf("%d read, tail %d, printed %d", len(text), len(tail), printed)
	}
}

func TestSideWithoutLines(t *testing.T) {
	s := NewSide()
	out := &stream{side: s}
	for range 100 {
		io.WriteString(out, strings.Repeat("x", 100<<10)) //nolint:errcheck // it has none
	}
	if tail, _ := s.Tail(); len(out.partial) > maxPartial || len(tail) > maxTail {
		t.Errorf("%d and %d bytes are kept", len(out.partial), len(tail))
	}
}
