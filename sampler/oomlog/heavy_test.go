package oomlog

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkFailures is a log that consists of failures only: the slow path at its worst.
func BenchmarkFailures(b *testing.B) {
	var log bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&log, "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    loss.backward()\nRuntimeError: CUDA out of memory. Tried to allocate %d.00 MiB (GPU 0; 7.79 GiB total capacity; 6.00 GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)\nout of memory, skipping batch %d\n", i, i)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if events, err := Scan(bytes.NewReader(log.Bytes())); err != nil || len(events) < 190 {
			b.Fatal(err, len(events))
		}
	}
}
