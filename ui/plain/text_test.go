package plain

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"显存不足，请减小", 10, []string{"显存不足，", "请减小"}},
		{"", 10, []string{""}},
		{"abcd ef", 4, []string{"abcd", "ef"}},
		{"abc  def", 8, []string{"abc  def"}}, // blanks between stay
		{"见 torch.cuda.OutOfMemoryError", 8, []string{"见", "torch.cu", "da.OutOf", "MemoryEr", "ror"}},
		{"holds 700.0 MiB of it", 12, []string{"holds", "700.0 MiB of", "it"}}, // a number stays with its unit
		{"free (1.5 GiB), then", 10, []string{"free", "(1.5 GiB),", "then"}},
		{"pid 1000 W", 8, []string{"pid", "1000 W"}},
		{"日本語", 1, []string{"日", "本", "語"}}, // wider than the room
	}
	for _, test := range tests {
		if got := Wrap(test.in, test.width, columns); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%q at %d: %q, want %q", test.in, test.width, got, test.want)
		}
	}
}
