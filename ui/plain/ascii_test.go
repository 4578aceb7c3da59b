package plain

import (
	"os"
	"regexp"
	"testing"
)

// Everything that is said in English has stand-ins in ASCII.
func TestEnglishIsASCII(t *testing.T) {
	source, err := os.ReadFile("../../advice/lang/en.go")
	if err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile(`[^\x00-\x7e]`).FindString(ASCII(string(source))); bad != "" {
		t.Errorf("nothing stands for %q", bad)
	}
}

// A stand-in for what is drawn takes the same room, and letters of names and languages stay.
func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"GPUs 0–3 …": "GPUs 0-3 ...", "a → b": "a -> b", "▲47.0 · 3× 61°": "^47.0 . 3x 61 ", "╭─┬╮│┊━": "+-++||-", "José 显存": "José 显存",
	} {
		if got := ASCII(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := string([]rune{ASCIIRune('…'), ASCIIRune('–'), ASCIIRune('é'), ASCIIRune('a')}); got != "~-éa" {
		t.Errorf("%q", got)
	}
}
