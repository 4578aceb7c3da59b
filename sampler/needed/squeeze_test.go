package needed

import (
	"strings"
	"testing"
)

// A squeezed text has no letter in upper case and no white space, and the two letters beyond ASCII that patterns take
// for one of its letters.
func TestSqueeze(t *testing.T) {
	for text, want := range map[string]string{
		"ABC xyz @[`{":              "abcxyz@[`{",
		"AZ az 09":                  "azaz00",
		" a\t\n\v\f\r b ":           "a\vb",
		"Ma\u017f\u212a":            "mask",
		"\u0160\u2128":              "\u0160\u2128",
		strings.Repeat("Zeros ", 9): strings.Repeat("zeros", 9),
	} {
		s := Squeeze(text)
		if string(s.text) != want {
			t.Errorf("%q: %q, want %q", text, s.text, want)
		}
		s.Done()
	}
}

// A word that stands in a text is always found; one that does not is, in a text that is long enough to be looked at.
func TestWordsOfSqueezed(t *testing.T) {
	long := Squeeze(strings.Repeat("step 12 of 90, loss 0.5; ", 40) + "CUDA out of Memory")
	short := Squeeze("CUDA out of Memory")
	for text, want := range map[string]bool{"cudaoutofmemory": true, "memory": true, "cud": true, "y": true, "loss0.0;": true, "outofmemories": false, "nccl": false, "memoryx": false, "q": false} {
		w := newWord(text)
		if got := long.has(&w); got != want {
			t.Errorf("%q is in the long text: %v", text, got)
		}
		if in := strings.Contains("cudaoutofmemory", text); in && !short.has(&w) {
			t.Errorf("%q is not in the short text", text)
		}
	}
}
