package tape

import (
	"bytes"
	"testing"
)

// BenchmarkRead reads five minutes of eight GPUs: most of its lines are ticks.
func BenchmarkRead(b *testing.B) {
	var tape bytes.Buffer
	w := NewWriter(&tape, Options{})
	tr := newTrace(8, 1)
	for range 300 {
		if _, err := tr.second(w); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(tape.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader("tape", bytes.NewReader(tape.Bytes()), int64(tape.Len()))
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for range r.Snapshots() {
			n++
		}
		if n != 300 {
			b.Fatalf("%d snapshots", n)
		}
	}
}
