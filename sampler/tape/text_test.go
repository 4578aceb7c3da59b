package tape

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
)

// A log reads the same however it is packed, and one that is cut ends there.
func TestText(t *testing.T) {
	want := strings.Repeat("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB, 日本 🙂\n", 5000)
	packed := map[string][]byte{"plain": []byte(want), "gzip": gzipped(t, want), "zstd": zstded(t, want)}
	for name, order := range map[string][2]int{"UTF-16LE": {0, 1}, "UTF-16BE": {1, 0}} {
		var b []byte
		for _, c := range utf16.Encode([]rune("\ufeff" + want)) {
			pair := [2]byte{byte(c), byte(c >> 8)}
			b = append(b, pair[order[0]], pair[order[1]])
		}
		packed[name] = b
	}
	for name, b := range packed {
		got, err := io.ReadAll(Text(bytes.NewReader(b)))
		if err != nil || strings.TrimPrefix(string(got), "\ufeff") != want {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
		for _, n := range []int{0, 1, 3, 10, len(b) / 2, len(b) - 1} {
			got, err := io.ReadAll(Text(bytes.NewReader(b[:n])))
			if err != nil || len(got) > len(want)+3 {
				t.Errorf("%s cut at %d: %d bytes, %v", name, n, len(got), err)
			}
		}
	}
}

// A small file that unpacks without end is read up to what one of its size may hold.
func TestTextUnpacksTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks some hundred MiB")
	}
	line := []byte(strings.Repeat("a", 1<<16-1) + "\n")
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		var b bytes.Buffer
		w := pack(&b)
		for range 400 << 20 / len(line) {
			w.Write(line)
		}
		w.Close()
		n, err := io.Copy(io.Discard, Text(io.MultiReader(&b))) // its size is not known before
		if !errors.Is(err, ErrMuch) || n < plainSpare || n > plainSpare+plainRatio<<20+1<<20 {
			t.Errorf("%s: %d bytes and %v", name, n, err)
		}
	}
}

func gzipped(t *testing.T, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, s string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(s), nil)
}
