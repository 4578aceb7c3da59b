package oomlog

import (
	"strings"
	"testing"
)

// Empty lines are only counted where there are many of them, and what follows is found at its line.
func TestManyEmptyLines(t *testing.T) {
	const lines = 1_000_000
	text := strings.Repeat("\n", lines) + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.\n"
	events, err := Scan(strings.NewReader(text))
	if err != nil || len(events) != 1 || events[0].Line != lines+1 {
		t.Fatalf("%+v, %v", events, err)
	}
	taken := 0
	s := splitter{number: 1, take: func([]byte, int, bool) { taken++ }}
	s.write([]byte(text))
	if taken > 2*manyEmpty {
		t.Errorf("%d of %d empty lines are looked at", taken, lines)
	}
}
