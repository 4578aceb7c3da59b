package plain

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler/oomlog"
)

// Every message the parser is tested with must be explained: a cause with evidence, and advice
// unless the program recovered.
func TestExplainCorpus(t *testing.T) {
	files, events := 0, 0
	err := filepath.WalkDir("../../testdata/oom", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txt") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		found, err := oomlog.Scan(f)
		if err != nil {
			return err
		}
		files, events = files+1, events+len(found)
		for _, lang := range lang.Names() {
			e := explain.Explain(explain.Incident{Events: found, Lang: lang})
			if err := Explain(io.Discard, e, Options{Width: 80}); err != nil {
				return err
			}
			for _, event := range e.Events {
				if len(event.Causes) == 0 || len(event.Causes[0].Evidence) == 0 || event.Causes[0].Evidence[0] == "" || event.Detail == "" {
					t.Errorf("%s: no cause: %+v", path, event.Causes)
				}
				if !event.Recovered && len(event.Advice) == 0 {
					t.Errorf("%s: %s: no advice", path, event.Kind)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 || events < 100 {
		t.Errorf("only %d files with %d events", files, events)
	}
}
