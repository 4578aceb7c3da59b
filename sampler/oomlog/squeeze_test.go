package oomlog

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
		s := squeeze(text)
		if string(s.text) != want {
			t.Errorf("%q: %q, want %q", text, s.text, want)
		}
		s.done()
	}
}

// A word that stands in a text is always found; one that does not is, in a text that is long enough to be looked at.
func TestWordsOfSqueezed(t *testing.T) {
	long := squeeze(strings.Repeat("step 12 of 90, loss 0.5; ", 40) + "CUDA out of Memory")
	short := squeeze("CUDA out of Memory")
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

// Line ends that were written as escapes are line ends, however often they were escaped; up to three times a log is
// put into JSON within JSON.
func TestUnescapeLevels(t *testing.T) {
	for backslashes := 1; backslashes <= 4; backslashes++ {
		if got := unescape("a" + strings.Repeat(`\`, backslashes) + "nb"); len(got) != 2 || got[0] != "a" || got[1] != "b" {
			t.Errorf("%d backslashes: %q", backslashes, got)
		}
	}
}

// Every word is found in a line, in lower case and in upper.
func TestWordsInAnyCase(t *testing.T) {
	set := newWordSet([]string{"oom", "killed process", "size", "azimuth", "zz", "oom-kill", "error:"})
	for word, id := range set.index {
		for _, text := range []string{word, strings.ToUpper(word), "x" + word + "x", strings.ToUpper(word[:1]) + word[1:]} {
			var found, want wordMask
			want.set(id)
			if !set.scan([]byte(text), &found) || !found.meets(&want) {
				t.Errorf("%q is not found in %q", word, text)
			}
		}
	}
	var found wordMask
	if set.scanString("nothing o om si ze", &found) || found != (wordMask{}) {
		t.Errorf("%v is found in nothing", found)
	}
}
