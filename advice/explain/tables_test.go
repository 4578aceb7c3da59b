package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
)

// Every rule, kind and fix has its sentences and a source.
func TestTablesHaveSentences(t *testing.T) {
	words := lang.English()
	for _, row := range slices.Concat(fixRows, fixesLast) {
		for _, what := range []string{"title", "why", "cost"} {
			if id := "fix." + row.id + "." + what; !words.Has(id) {
				t.Errorf("no text %s", id)
			}
		}
		if !strings.HasPrefix(row.source, "https://") || row.do == nil {
			t.Errorf("%s lacks a source or something to do", row.id)
		}
	}
	for _, rule := range causeRows {
		if !words.Has("cause."+rule.cause) || !strings.HasPrefix(rule.reason, "https://") {
			t.Errorf("rule %s for %s lacks words or a source", rule.id, rule.cause)
		}
	}
	for _, row := range kindRows {
		if row.cause != "" && row.class != classHost && !words.Has("why."+row.kind) && row.kind != "mmap_enomem" {
			t.Errorf("no text why.%s", row.kind)
		}
	}
}
