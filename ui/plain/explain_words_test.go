package plain

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// blemish is what a sentence whose parts were left empty looks like.
var blemish = regexp.MustCompile(`\(\s*\)|（\s*）|\S  +\S|\.;|;\.|%!|,,|，，|。。|[^.]\.\.([^.]|$)| [,;.] |\{[a-z_]+\}|^\s|\s$|<nil>|NaN|\bnull\b`)

// withRecording is what a recording may add to a text that knows neither epoch nor step.
func withRecording() *explain.History {
	gib := func(f float64) sampler.Bytes { return sampler.Bytes(f * float64(sampler.GiB)) }
	return &explain.History{Total: sampler.Some(gib(24)), Free: sampler.Some(gib(0.4)), Process: sampler.Some(gib(21)),
		Unattributed: sampler.Some(gib(1.2)), Others: []explain.Neighbour{{PID: 77, Bytes: gib(2), Arrived: true}},
		Peaks: []sampler.Bytes{gib(17), gib(17.1), gib(17), gib(17.2)}}
}

// No explanation of any text shows where its words had nothing to say.
func TestExplainHasNoEmptyWords(t *testing.T) {
	err := filepath.WalkDir("../../testdata/oom", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txt") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := oomlog.Scan(bytes.NewReader(text))
		if err != nil {
			return err
		}
		bare := bareContexts(found)
		for _, lang := range lang.Names() {
			for name, in := range map[string]explain.Incident{
				"alone": {Events: found}, "recorded": {Events: found, History: withRecording()},
				"commanded": {Events: found, Command: "python train.py --batch-size 8 --num_workers 4", GPUName: "NVIDIA A100-SXM4-40GB"},
				"no place":  {Events: bare, History: withRecording()},
			} {
				in.Lang = lang
				for _, s := range sentences(explain.Explain(in)) {
					if at := blemish.FindString(s); at != "" {
						t.Errorf("%s, %s, %s: %q in %q", path, name, lang, at, s)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bareContexts are the events without their place in the run, in training.
func bareContexts(events []sampler.OOMEvent) []sampler.OOMEvent {
	var out []sampler.OOMEvent
	for _, e := range events {
		e.Context = &sampler.LogContext{Phase: "training"}
		out = append(out, e)
	}
	return out
}

// sentences are all texts of an explanation but commands and the log's own words.
func sentences(e explain.Explanation) []string {
	var out []string
	add := func(list ...string) {
		for _, s := range list {
			if s != "" {
				out = append(out, s)
			}
		}
	}
	add(e.Verdict.Headline, e.Verdict.Detail, e.Verdict.Run)
	for _, event := range e.Events {
		add(event.Headline, event.Detail)
		add(event.Notes...)
		for _, c := range event.Causes {
			add(c.Evidence...)
		}
		for _, a := range event.Advice {
			add(a.Title, a.Why, a.Cost)
		}
		for _, p := range event.Plans {
			add(p.Title, p.Arithmetic)
		}
	}
	return out
}
