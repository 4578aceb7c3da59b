package watch

import (
	"path/filepath"
	"strings"
	"testing"
)

// An alert of a death names the log that explains it, or says how to get one.
func TestDeathsNameTheLog(t *testing.T) {
	for _, row := range []struct{ file, log, want string }{
		{"fires_ended.jsonl", "", "rerun with 2>&1 | tee train.log, then nvpeak explain train.log"},
		{"fires_ended.jsonl", "runs/a.log", "nvpeak explain runs/a.log says why"},
		{"fires_ended.jsonl", "my run's.log", `nvpeak explain 'my run'\''s.log' says why`},
		{"fires_counted.jsonl", "", "rerun with 2>&1 | tee train.log"},
		{"fires_counted.jsonl", "a.log", "nvpeak explain a.log says why"},
		{"fires.jsonl", "a.log", "nvpeak explain a.log tells all of it"},
		{"fires.jsonl", "", "nvpeak explain tells all of it"},
	} {
		w := playWith(t, filepath.Join("..", "..", "testdata", "advice", "oom", row.file), Options{Log: row.log}, func(*Watch) {})
		past := w.Past()
		if len(past) != 1 || !strings.Contains(strings.Join(past[0].Evidence, "; "), row.want) {
			t.Errorf("%s, log %q: %+v, want %q", row.file, row.log, past, row.want)
		}
	}
}
