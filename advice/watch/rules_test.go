package watch

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var updateRules = flag.Bool("update-rules", false, "write testdata/advice/*/want.txt anew; read the difference afterwards")

// TestRuleCases plays the recordings of testdata/advice: in every fires*.jsonl the rule
// the directory is named after raises an alert, in every quiet*.jsonl none does, and
// want.txt says in words what is raised. A rule without both fails.
func TestRuleCases(t *testing.T) {
	root := filepath.Join("..", "..", "testdata", "advice")
	dirs := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		dirs[e.Name()] = true
	}
	for _, rule := range rules {
		if !dirs[rule.Code] {
			t.Errorf("%s: no directory", rule.Code)
			continue
		}
		delete(dirs, rule.Code)
		t.Run(rule.Code, func(t *testing.T) { checkRule(t, filepath.Join(root, rule.Code), rule.Code) })
	}
	for name := range dirs {
		t.Errorf("%s: no such rule", name)
	}
}

// caseOptions are what a rule needs besides a recording.
var caseOptions = map[string]Options{
	sampler.AlertLevel: {Levels: Levels{GPU: [3]float64{80, 90, 95}, Host: [3]float64{70, 80, 90}}},
}

func checkRule(t *testing.T, dir, code string) {
	var got strings.Builder
	for _, kind := range []string{"fires", "quiet"} {
		files, err := filepath.Glob(filepath.Join(dir, kind+"*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s*.jsonl", kind)
		}
		for _, file := range files {
			past := playWith(t, file, caseOptions[code], func(*Watch) {}).Past()
			fired := false
			for _, a := range past {
				fired = fired || a.Kind == code
			}
			if fired != (kind == "fires") {
				t.Errorf("%s: fired is %v", filepath.Base(file), fired)
			}
			writeAlerts(&got, filepath.Base(file), past)
		}
	}
	want := filepath.Join(dir, "want.txt")
	if *updateRules {
		if err := os.WriteFile(want, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != got.String() {
		t.Errorf("differs from want.txt, which -update-rules writes anew:\n%s", got.String())
	}
}

func writeAlerts(w *strings.Builder, name string, past []sampler.Alert) {
	fmt.Fprintln(w, name)
	if len(past) == 0 {
		fmt.Fprintln(w, "  nothing")
	}
	for _, a := range past {
		end := "open"
		if e, ok := a.End.Value(); ok {
			end = fmt.Sprintf("to %.0f s", e)
		}
		fmt.Fprintf(w, "  %.0f s %s, %s %s: %s\n", a.T, end, a.Level, a.Kind, a.Text)
		if a.Kind != "oom" { // its evidence is that of explain, which has tests of its own
			for _, e := range a.Evidence {
				fmt.Fprintf(w, "    - %s\n", e)
			}
		}
		for _, ad := range a.Advice {
			fmt.Fprintf(w, "    %d %s\n", ad.Rank, ad.ID)
		}
	}
}

// line is a line of a case: a snapshot, an event of the log, or a need that is typed.
type line struct {
	Type string                     `json:"type"`
	Time time.Time                  `json:"time"`
	OOM  *sampler.OOMEvent          `json:"oom"`
	Need sampler.Opt[sampler.Bytes] `json:"need_bytes"`
}

// playLines plays a recording; look is called after each line.
func playLines(t *testing.T, file string, look func(*Watch)) *Watch {
	t.Helper()
	return playWith(t, file, Options{}, look)
}

func playWith(t *testing.T, file string, o Options, look func(*Watch)) *Watch {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := New(o)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch l.Type {
		case "snapshot":
			var s sampler.Snapshot
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			w.Add(s)
		case "event":
			if l.OOM != nil {
				w.Event(*l.OOM, l.Time)
			}
		case "need":
			w.SetNeed(l.Need)
		}
		look(w)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w
}

// The table of docs/alerts.md has every rule and no other.
func TestDocsNameRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "alerts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var named, codes []string
	for _, row := range strings.Split(table, "\n") {
		for _, code := range strings.Split(strings.Split(row, "|")[1], ",") {
			named = append(named, strings.Trim(code, " `"))
		}
	}
	for _, r := range rules {
		codes = append(codes, r.Code)
	}
	slices.Sort(named)
	slices.Sort(codes)
	if !slices.Equal(named, codes) {
		t.Errorf("the table has %v, the rules are %v", named, codes)
	}
}

// What explain reads out of alerts are alerts that exist.
func TestCausesNameRules(t *testing.T) {
	for _, kind := range explain.AlertKinds() {
		if !slices.ContainsFunc(rules, func(r *Rule) bool { return r.Code == kind }) {
			t.Errorf("%s is no rule", kind)
		}
	}
}

// A failure that is predicted is of a kind that explain knows: fixes are picked by it.
func TestHypotheticalKind(t *testing.T) {
	if kind := (hypothetical{causes: certain(explain.CauseTooBig)}).event().Kind; !slices.Contains(sampler.ErrorKinds[:], kind) {
		t.Errorf("%q is no kind of failure", kind)
	}
}
