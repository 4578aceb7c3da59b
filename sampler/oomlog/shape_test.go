package oomlog

import (
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
)

// What a pattern finds in a text that differs from earlier ones in digits alone is what it finds in it without them.
func TestShapesFindTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	lines := []string{
		"CUDA error 2: out of memory, exit code 137, Killed: 9, EL0004: signal 9", "exited on signal 9 (Killed)",
		"RuntimeError: CUDA runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58",
		"spconv: cuda failed with error 2", "[rank3]: I tensorflow 2.15: Cuda failure 2 'out of memory'",
	}
	for _, name := range texts(t) {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if r.IntN(12) == 0 && len(line) < 600 && strings.ContainsAny(line, "0123456789") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	var known shapes
	patterns, blind := everyPattern(), 0
	for _, l := range patterns {
		if l.blind() {
			blind++
		}
	}
	if blind == 0 || blind == len(patterns) {
		t.Fatalf("%d of %d patterns are blind to digits", blind, len(patterns))
	}
	for _, line := range lines {
		for range 4 { // two make the shape known, and what is found in the third is known of the fourth
			text := known.whole(line)
			from := r.IntN(len(line)/8 + 1)
			for range 8 {
				l := patterns[r.IntN(len(patterns))]
				p := text.all().cut(from, len(line))
				if got, want := l.allIn(p, 4, true), l.locateAll(p.text, 4, true); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Fatalf("%s in %q: %v, not %v", l.source, p.text, got, want)
				}
				if got, want := l.in(p), l.MatchString(p.text); got != want {
					t.Fatalf("%s in %q: %v", l.source, p.text, got)
				}
			}
			line = otherDigits(r, line)
		}
	}
}

// The hints in a text are those in all of its shape.
func TestHintsHaveNoDigits(t *testing.T) {
	for w := range compiled().hints().set.index {
		if strings.ContainsAny(w, "0123456789") {
			t.Errorf("%q: a shape does not tell whether it is there", w)
		}
	}
}

func otherDigits(r *rand.Rand, text string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return '0' + rune(r.IntN(10))
		}
		return c
	}, text)
}
