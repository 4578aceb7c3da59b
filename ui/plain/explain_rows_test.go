package plain

import (
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
)

// On a terminal the verdict stays in sight: what is longer than the screen loses its details, and says so.
func TestExplainFitsTheTerminal(t *testing.T) {
	for _, dir := range explainDirs(t) {
		in := readIncident(t, dir)
		for _, lang := range lang.Names() {
			in.Lang = lang
			e := explain.Explain(in)
			text := func(rows int) string {
				var b strings.Builder
				if err := Explain(&b, e, Options{Width: 80, Rows: rows}); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}
			full := text(0)
			lines := strings.Count(full, "\n")
			if got := text(lines + 1); got != full {
				t.Errorf("%s: cut although it fits", filepath.Base(dir))
			}
			short := text(10)
			if lines < 10 {
				if short != full {
					t.Errorf("%s: %d lines are cut to 10", filepath.Base(dir), lines)
				}
				continue
			}
			if n := strings.Count(short, "\n"); n > 24 || !strings.Contains(short, "--details") || strings.Contains(short, "https://") {
				t.Errorf("%s: %d lines on a small terminal:\n%s", filepath.Base(dir), n, short)
			}
			if head, _, _ := strings.Cut(short, "\n"); !strings.HasPrefix(full, head) {
				t.Errorf("%s: another verdict", filepath.Base(dir))
			}
		}
	}
}
