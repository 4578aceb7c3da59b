package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// What waits and what is kept of the end begin with a whole line, also at their bounds.
func TestSideBounds(t *testing.T) {
	for name, row := range map[string]struct {
		have, more string
		want       string // of 4 bytes at most 8 are kept
	}{
		"little":             {"ab", "cd", "abcd"},
		"up to twice":        {"abcdef", "gh", "abcdefgh"},
		"more than twice":    {"abcdefg", "hi", "fghi"},
		"as much as is kept": {"abc", "defg", "abcdefg"},
		"more than is kept":  {"abc", "defgh", "efgh"},
	} {
		if got := newest([]byte(row.have), []byte(row.more), 4); string(got) != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	for text, want := range map[string]string{"ab\ncd": "cd", "ab\rcd": "cd", "\ncd": "cd", "abcd": "abcd"} {
		if got := fromLine([]byte(text)); string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for size, want := range map[int]int{maxTail: maxTail, maxTail + 10: maxTail - 9} { // lines of ten bytes
		s := NewSide()
		for range size / 10 {
			s.put([]byte("123456789\n"))
		}
		s.put(make([]byte, size%10))
		if tail, printed := s.Tail(); printed != int64(size) || len(tail) > want || len(tail) < want-10 {
			t.Errorf("of %d bytes %d are kept, %d were printed", size, len(tail), printed)
		}
	}
}

// The last line has its end, or not; a line without one is passed on when it is long, or over.
func TestSideEnded(t *testing.T) {
	s := NewSide()
	out := &stream{side: s}
	for _, row := range []struct {
		text  string
		ended bool
		total int
	}{{"", true, 0}, {"a\n", true, 2}, {"b", true, 2}, {"c\nd", true, 5}, {strings.Repeat("x", maxPartial-1), true, 5}, {"x", false, 6 + maxPartial}, {"\n", true, 7 + maxPartial}} {
		io.WriteString(out, row.text) //nolint:errcheck // it has none
		if _, total := s.Tail(); s.Ended() != row.ended || int(total) != row.total {
			t.Errorf("after %.9q: ended %v, %d printed, want %d", row.text, s.Ended(), total, row.total)
		}
	}
}

// A file is read from where the command writes, from its beginning when it was cut, and at most the last MiB at once.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()           //nolint:errcheck // a test
	file.WriteString("before\n") //nolint:errcheck // the test sees it
	side := NewSide()
	f := follow(file, side)
	read := func() int64 {
		before := side.total
		f.read()
		return side.total - before
	}
	if n := read(); n != 0 {
		t.Errorf("%d bytes of before are read", n)
	}
	for _, row := range []struct{ size, want int64 }{{9, 9}, {0, 0}, {100 << 10, 100 << 10}, {maxBehind, maxBehind}, {maxBehind + 99, maxBehind}} {
		file.Write(bytes.Repeat([]byte("\n"), int(row.size))) //nolint:errcheck // the test sees it
		if n := read(); n != row.want {
			t.Errorf("of %d new bytes %d are read, want %d", row.size, n, row.want)
		}
	}
	file.Truncate(0)            //nolint:errcheck // the test sees it
	file.Seek(0, io.SeekStart)  //nolint:errcheck // the test sees it
	file.WriteString("again\n") //nolint:errcheck // the test sees it
	if n := read(); n != 6 {
		t.Errorf("%d bytes of a file that was cut are read, want 6", n)
	}
}

// Whoever reads beside is woken once for many little pieces, a tenth of a second after the first, and at once for much or
// for the end.
func TestSideGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := NewSide(), time.Now()
		type piece struct {
			at time.Duration
			n  int
		}
		var got []piece
		done := make(chan struct{})
		go func() {
			defer close(done)
			buf := make([]byte, 2*worthReading)
			for {
				n, err := s.Read(buf)
				if err != nil {
					return
				}
				got = append(got, piece{time.Since(began), n})
			}
		}()
		for range 60 {
			s.put([]byte("123456789\n"))
			time.Sleep(3 * time.Millisecond)
		}
		time.Sleep(time.Second - 180*time.Millisecond)
		s.put(make([]byte, worthReading))
		synctest.Wait()
		s.put([]byte("end\n"))
		s.Close() //nolint:errcheck // it has none
		<-done
		ms := time.Millisecond
		if want := []piece{{100 * ms, 340}, {202 * ms, 260}, {1000 * ms, worthReading}, {1000 * ms, 4}}; !slices.Equal(got, want) {
			t.Errorf("read %v, want %v", got, want)
		}
	})
}
