package oomlog

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nvpeak/sampler"
)

const corpus = "../../testdata/oom"

// want is a file beside a text: the events it must give. Fields that are left out must be absent.
type want struct {
	Source   string           `json:"source"` // where the error lines were published
	Negative bool             `json:"negative"`
	Accept   bool             `json:"accept_recovered_event"`
	Events   []map[string]any `json:"events"`
	Context  map[string]any   `json:"context"` // of the first event; only what is named is compared
}

// texts lists the texts of the corpus; each must have its want, and the reverse.
func texts(t testing.TB) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		other := strings.TrimSuffix(path, ".txt") + ".want"
		if strings.HasSuffix(path, ".txt") {
			out = append(out, path)
		} else if strings.HasSuffix(path, ".want") {
			other = strings.TrimSuffix(path, ".want") + ".txt"
		} else {
			t.Errorf("%s: neither text nor want", path)
		}
		if _, err := os.Stat(other); err != nil {
			t.Errorf("%s has no pair", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readWant(t testing.TB, text string) want {
	t.Helper()
	b, err := os.ReadFile(strings.TrimSuffix(text, ".txt") + ".want")
	if err != nil {
		t.Fatal(err)
	}
	var w want
	if err := json.Unmarshal(b, &w); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if w.Negative != (len(w.Events) == 0) {
		t.Fatalf("%s: negative means no events", text)
	}
	return w
}

func TestCorpus(t *testing.T) {
	for _, path := range texts(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(path, corpus+"/"), ".txt")
		t.Run(name, func(t *testing.T) {
			w := readWant(t, path)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Scan(strings.NewReader(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			check(t, w, got)
			if len(w.Context) > 0 && len(got) > 0 {
				checkContext(t, w.Context, got[0].Context)
			}
		})
	}
}

// check compares events in any order: each wanted one must be there with every field.
func check(t *testing.T, w want, got []sampler.OOMEvent) {
	t.Helper()
	left := append([]sampler.OOMEvent(nil), got...)
	for _, e := range w.Events {
		best, bad := -1, []string(nil)
		for i := range left {
			d := differences(e, left[i])
			if best < 0 || len(d) < len(bad) {
				best, bad = i, d
			}
		}
		if best < 0 {
			t.Errorf("no event %v", e)
			continue
		}
		if len(bad) > 0 && e["optional"] == nil {
			t.Errorf("%s: %s\n  text: %s", left[best].Kind, strings.Join(bad, "; "), left[best].Text)
		}
		left = append(left[:best], left[best+1:]...)
	}
	for _, e := range left {
		if !w.Accept || !e.Recovered {
			t.Errorf("unwanted event %s line %d: %s", e.Kind, e.Line, e.Text)
		}
	}
}

func checkContext(t *testing.T, want map[string]any, c *sampler.LogContext) {
	t.Helper()
	b, _ := json.Marshal(c)
	var got map[string]any
	_ = json.Unmarshal(b, &got)
	for k, v := range want {
		if !same(v, got[k]) {
			t.Errorf("context %s: want %v, got %v", k, v, got[k])
		}
	}
}

// compared are the fields of an event that a want may name.
var compared = []string{"framework", "error_kind", "memory_kind", "rank", "gpu_index", "requested_bytes", "gpu_total_bytes",
	"gpu_free_bytes", "process_in_use_bytes", "allocated_bytes", "reserved_unallocated_bytes", "reserved_bytes",
	"private_pools_bytes", "other_processes", "memory_limit", "self_process_unknown", "recovered", "occurrences", "pid"}

func differences(want map[string]any, e sampler.OOMEvent) []string {
	b, _ := json.Marshal(e)
	var got map[string]any
	_ = json.Unmarshal(b, &got)
	accept, _ := want["also_accept"].(map[string]any)
	var bad []string
	for _, k := range compared {
		if k == "occurrences" && want[k] == nil {
			continue
		}
		if others, _ := accept[k].([]any); contains(others, got[k]) || same(want[k], got[k]) {
			continue
		}
		bad = append(bad, fmt.Sprintf("%s: want %v, got %v", k, want[k], got[k]))
	}
	extra, _ := want["extra"].(map[string]any)
	have, _ := got["extra"].(map[string]any)
	for k, v := range extra {
		if !same(v, have[k]) {
			bad = append(bad, fmt.Sprintf("extra %s: want %v, got %v", k, v, have[k]))
		}
	}
	return bad
}

func contains(list []any, v any) bool {
	for _, x := range list {
		if same(x, v) {
			return true
		}
	}
	return false
}

// same treats null, false and an empty list as absent, and numbers as equal to a byte.
func same(a, b any) bool {
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func plain(v any) any {
	switch x := v.(type) {
	case bool:
		if !x {
			return nil
		}
	case []any:
		if len(x) == 0 {
			return nil
		}
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			if v != nil {
				out[k] = v
			}
		}
		return out
	}
	return v
}
