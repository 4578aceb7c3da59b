package plain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler/oomlog"
)

// Whatever the failure and the width, the few lines hold what, why and the first thing to do.
func TestBriefFits(t *testing.T) {
	files, err := filepath.Glob("../../testdata/oom/samples/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	commands := 0
	for _, name := range files {
		text, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		events, err := oomlog.Scan(text)
		text.Close() //nolint:errcheck // it was only read
		if err != nil {
			t.Fatal(err)
		}
		for _, language := range []string{"en", "zh"} {
			e := explain.Explain(explain.Incident{Events: events, Lang: language})
			if e.Verdict.Event < 0 {
				continue
			}
			for _, width := range []int{20, 40, 60, 80, 100, 200} {
				var out strings.Builder
				if err := Brief(&out, e, 10, Options{Width: width}); err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
				if len(lines) > 10 || len(lines) < 3 || !strings.HasPrefix(e.Verdict.Headline, strings.TrimRight(lines[0], " …")) {
					t.Errorf("%s, %s, %d columns: %d lines\n%s", name, language, width, len(lines), out.String())
				}
				page := newPage(Options{}, lang.For(e.Lang))
				for _, label := range []string{"label.cause", "label.do"} {
					if !strings.Contains(out.String(), "\n"+page.words.Say(label)) {
						t.Errorf("%s, %s, %d columns: no %s\n%s", name, language, width, label, out.String())
					}
				}
				if strings.Contains(out.String(), "\n         ") {
					commands++
				}
			}
		}
	}
	if commands < 50 {
		t.Errorf("only %d tell what to type", commands)
	}
}
