package post

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// Texts about failures report none, whatever they show, and reports are found however they are worded.
func TestAboutAndReports(t *testing.T) {
	for dir, reports := range map[string]bool{"about": false, "reports": true} {
		files, err := filepath.Glob("../../testdata/posts/" + dir + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if events := read(t, string(text)); (len(events) > 0) != reports {
				t.Errorf("%s: %d failures %+v", file, len(events), events)
			}
		}
	}
}

// Logs speak of failures in no words but their own, some of which are those of guides ("Root Cause").
func TestLogsStay(t *testing.T) {
	files, err := filepath.Glob("../../testdata/oom/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, err := oomlog.Scan(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if left := Read(string(text), events, oomlog.Scan); len(left) < len(events) {
			t.Errorf("%s: %d of %d failures left", file, len(left), len(events))
		}
	}
}

// What a message shows of its own keeps it in a text that speaks of such failures.
func TestProofOutweighs(t *testing.T) {
	few := sampler.OOMEvent{Extra: map[string]any{"told": true}}
	sized := sampler.OOMEvent{Requested: sampler.Some(sampler.Bytes(1 << 30))}
	full := sized
	full.GPUTotal, full.GPUFree = sampler.Some(sampler.Bytes(8<<30)), sampler.Some(sampler.Bytes(1<<20))
	run := full
	run.Context = &sampler.LogContext{Functions: []string{"forward"}, Command: "python train.py"}
	for i, e := range []sampler.OOMEvent{sized, full, run} {
		if less := []sampler.OOMEvent{few, sized, full}[i]; proof(e) <= proof(less) {
			t.Errorf("%d: %d and %d", i, proof(less), proof(e))
		}
	}
}

// Each clue has a weight, a reason of its own and a bound, so that no wording alone decides.
func TestClues(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(append([]clue{}, genres...), voices...) {
		if c.weight == 0 || c.most < 1 || c.why == "" || seen[c.why] {
			t.Errorf("%q: weight %d, most %d", c.why, c.weight, c.most)
		}
		seen[c.why] = true
	}
}
