package watch

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/advicetest"
)

var update = flag.Bool("update", false, "rewrite testdata/scenes.txt from what is alerted now: read the diff")

// What is alerted in three runs of each class, and when, is in testdata/scenes.txt.
func TestScenes(t *testing.T) {
	const file = "testdata/scenes.txt"
	var b strings.Builder
	for _, class := range slices.Sorted(maps.Keys(advicetest.Scenes)) {
		for seed := range uint64(3) {
			s := advicetest.Scenes[class](rand.New(rand.NewPCG(seed, 77)))
			writeScene(&b, fmt.Sprintf("%s %d", class, seed), s)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, class := strings.Split(b.String(), "\n"), ""
	for i, line := range strings.Split(string(want), "\n") {
		if !strings.HasPrefix(line, " ") {
			class = line
		}
		if i >= len(got) || got[i] != line {
			t.Fatalf("%s: line %d is\n%s\nwant\n%s", class, i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), line)
		}
	}
}

// writeScene plays a scene and writes every alert.
func writeScene(b *strings.Builder, name string, s *advicetest.Scene) {
	gpus := 1
	for _, j := range s.Jobs {
		gpus = max(gpus, j.GPU+1)
	}
	w := New(Options{})
	for t := 0.0; t < min(s.Seconds, 4000*s.Step); t += s.Step {
		snap, died := s.Snapshot(t, gpus)
		if died {
			name = fmt.Sprintf("%s died after %.0f s", name, t)
			break
		}
		w.Add(snap)
	}
	writeAlerts(b, name, w.Past())
}
