package sampler

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"", ""},
		{"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"},
		{"\x1b]0;owned\x07", "?]0;owned?"},
		{"\x1b[31mred", "?[31mred"},
		{"a\u009b31mb", "a?31mb"}, // the one-byte CSI
		{"two\nlines\r\n\tand a tab", "two lines   and a tab"},
		{"\xff\xfeA", "??A"},
		{"日本語 ё é", "日本語 ё é"},
		{"e\u0301", "e?"},           // combining
		{"abc\u202etxt", "abc?txt"}, // right to left override
		{"zero\u200bwidth\ufeff", "zero?width?"},
		{"del\x7f", "del?"},
		{"a\u115f\u1160b\u3164\uffa0c\u2800\U0001d159", "a??b??c??"}, // printable, but nothing is shown
		{"\u2028", "?"},
		{"\U000e0001", "?"},
		{strings.Repeat("x", 5000), strings.Repeat("x", 4096)},
		{strings.Repeat("日", 1366), strings.Repeat("日", 1365) + "?"}, // cut inside a rune
	} {
		if got := Clean(row.in); got != row.want {
			t.Errorf("Clean(%.40q) = %.60q, want %.60q", row.in, got, row.want)
		}
	}
}

// checkClean is what every screen relies on.
func checkClean(t *testing.T, s string) {
	t.Helper()
	got := Clean(s)
	if !utf8.ValidString(got) || len(got) > 4096 {
		t.Fatalf("Clean(%.60q) is no valid text of at most 4096 bytes: %.60q", s, got)
	}
	for _, r := range got {
		if !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc, unicode.Cs, unicode.Co) {
			t.Fatalf("Clean(%.60q) keeps %U", s, r)
		}
	}
	if again := Clean(got); again != got {
		t.Fatalf("Clean is not idempotent: %.60q, then %.60q", got, again)
	}
}

// TestCleanEveryRune puts each rune there is between two letters.
func TestCleanEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		checkClean(t, "a"+string(r)+"b")
	}
}

func TestCleanAllocatesNothing(t *testing.T) {
	for _, s := range []string{"python train.py --batch-size 64", "обучение 日本"} {
		if n := testing.AllocsPerRun(100, func() { Clean(s) }); n != 0 {
			t.Errorf("Clean of the clean text %q allocates %v times", s, n)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "\x1b]0;x\x07", "\xff", "e\u0301", strings.Repeat("日", 2000), "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(checkClean)
}
