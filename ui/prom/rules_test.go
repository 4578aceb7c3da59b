package prom

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// told are kinds of alerts that a rule tells by another metric.
var told = map[string]string{"gpu_lost": "NvpeakGPULost"}

// selector is what an expression wants of nvpeak_alert.
type selector struct {
	rule        string
	kind, level func(string) bool
	kinds       string
}

// matcher is that of a label in a selector.
func matcher(t *testing.T, inside, label string) (func(string) bool, string) {
	t.Helper()
	m := regexp.MustCompile(`(?:^|[ ,])` + label + `(=~|!~|!=|=)"([^"]*)"`).FindStringSubmatch(inside)
	if m == nil {
		return func(string) bool { return true }, ""
	}
	of := regexp.QuoteMeta(m[2])
	if strings.Contains(m[1], "~") {
		of = m[2]
	}
	whole := regexp.MustCompile(`^(?:` + of + `)$`)
	if strings.HasPrefix(m[1], "!") {
		return func(s string) bool { return !whole.MatchString(s) }, ""
	}
	return whole.MatchString, m[2]
}

// alertRules are the selectors of the alerting rules, and the names of all of them.
func alertRules(t *testing.T) (list []selector, names map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "prometheus", "rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Groups) == 0 {
		t.Fatal(err)
	}
	names = map[string]bool{}
	for _, r := range file.Groups[0].Rules {
		names[r.Alert] = true
		for _, m := range regexp.MustCompile(`nvpeak_alert\{([^}]*)\}`).FindAllStringSubmatch(r.Expr, -1) {
			s := selector{rule: r.Alert}
			s.kind, s.kinds = matcher(t, m[1], "kind")
			s.level, _ = matcher(t, m[1], "level")
			list = append(list, s)
		}
	}
	return list, names
}

// highest is the highest level of each kind of alert, from the code.
func highest(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "sampler", "kinds.go"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`\t(Alert[A-Z]\w*)\s+= "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		values[m[1]] = m[2]
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "advice", "watch", "rule_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`Code:\s+sampler\.(\w+),\s+Level:\s+sampler\.Level(\w+),`).FindAllStringSubmatch(string(text), -1) {
			levels[values[m[1]]] = strings.ToLower(m[2])
		}
	}
	if len(values) < 13 || len(levels) != len(values) {
		t.Fatalf("%d kinds, levels of %v", len(values), levels)
	}
	return levels
}

// No kind of alert is critical without a rule that tells, and no rule waits for what is never there.
func TestRulesTellWhatIsCritical(t *testing.T) {
	rules, names := alertRules(t)
	levels := highest(t)
	levels["one_that_is_new"] = "critical"
	for kind, level := range levels {
		tells := told[kind] != "" && names[told[kind]]
		for _, r := range rules {
			tells = tells || r.kind(kind) && r.level("critical")
		}
		if level == "critical" && !tells {
			t.Errorf("no rule tells of %s", kind)
		}
	}
	rank := map[string]int{"notice": 0, "warning": 1, "critical": 2}
	for _, r := range rules {
		for kind := range strings.SplitSeq(r.kinds, "|") {
			if kind == "" {
				continue
			}
			level, known := levels[kind]
			if !known {
				t.Errorf("%s waits for %s, which there is not", r.rule, kind)
			}
			can := false
			for one, n := range rank {
				can = can || n <= rank[level] && r.level(one)
			}
			if !can {
				t.Errorf("%s waits for a level that %s never has", r.rule, kind)
			}
		}
	}
}
