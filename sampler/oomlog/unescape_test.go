package oomlog

import (
	"strings"
	"testing"
)

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
