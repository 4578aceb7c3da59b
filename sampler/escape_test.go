package sampler

import (
	"encoding/json"
	"testing"
	"unicode"
)

// What is escaped is what it was when it is read again, and nothing else is touched.
func TestEscapeJSON(t *testing.T) {
	const plain = `{"name":"Zoë 日本 \u001b \" 😀"}`
	if got := string(EscapeJSON([]byte(plain))); got != plain {
		t.Errorf("%s became %s", plain, got)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		b, err := json.Marshal("a" + string(r) + "b")
		if err != nil {
			t.Fatal(err)
		}
		b = EscapeJSON(b)
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != "a"+string(r)+"b" {
			t.Fatalf("%U: %s, %v", r, b, err)
		}
		for _, c := range string(b) {
			if c == 0x7f || unicode.Is(unicode.Cc, c) || unicode.Is(unicode.Bidi_Control, c) {
				t.Errorf("%U stands in %q", r, b)
			}
		}
	}
}
