package ui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

var update = flag.Bool("update", false, "rewrite testdata/screens from what the screen shows now: read the diff")

const screens = "../testdata/screens/"

// goldens are whole screens. A new one is a row here and `go test ./ui -update`.
var goldens = []struct {
	name     string
	scenario string
	w, h     int
	keys     string
	o        Options
}{
	{"training-30x6", "training", 30, 6, "", Options{}},
	{"training-40x8", "training", 40, 8, "", Options{}},
	{"training-80x24", "training", 80, 24, "", Options{}},
	{"training-120x40", "training", 120, 40, "", Options{}},
	{"training-200x60", "training", 200, 60, "", Options{}},
	{"training-80x24-ascii", "training", 80, 24, "", Options{ASCII: true}},
	{"neighbour-need-40x8", "neighbour", 40, 8, "", Options{Need: sampler.Some(16 * sampler.GiB)}},
	{"neighbour-need-80x24", "neighbour", 80, 24, "", Options{Need: sampler.Some(16 * sampler.GiB)}},
	{"neighbour-need-200x60", "neighbour", 200, 60, "", Options{Need: sampler.Some(16 * sampler.GiB)}},
	{"eight-80x24", "eight", 80, 24, "", Options{}},
	{"sixtyfour-80x24", "sixtyfour", 80, 24, "", Options{}},
	{"sixtyfour-200x60", "sixtyfour", 200, 60, "", Options{}},
	{"help-120x50", "training", 120, 50, "?", Options{}},
	{"advice-100x30", "neighbour", 100, 30, "a", Options{Need: sampler.Some(16 * sampler.GiB)}},
	{"detail-120x40", "training", 120, 40, "enter", Options{}},
	{"detail-oom-100x36", "oom", 100, 36, "enter", Options{}},
	{"detail-oom-60x24-zh", "oom", 60, 24, "enter", Options{Lang: "zh"}},
	{"training-30x6-zh", "training", 30, 6, "", Options{Lang: "zh"}},
	{"training-80x24-zh", "training", 80, 24, "", Options{Lang: "zh"}},
	{"training-120x40-zh", "training", 120, 40, "", Options{Lang: "zh"}},
	{"neighbour-need-120x40-zh", "neighbour", 120, 40, "", Options{Lang: "zh", Need: sampler.Some(16 * sampler.GiB)}},
	{"help-120x50-zh", "training", 120, 50, "?", Options{Lang: "zh"}},
	{"signals-100x30", "training", 100, 30, "j space K j", Options{Processes: &world{}}},
	{"signals-ask-60x20-zh", "training", 60, 20, "j K enter", Options{Processes: &world{}, Root: true, User: "root", Lang: "zh"}},
	{"tree-100x40", "training", 100, 40, "t", Options{}},
	{"jobs-100x40", "training", 100, 40, "t t", Options{}},
	{"users-80x24-zh", "training", 80, 24, "t t t", Options{Lang: "zh"}},
	{"setup-100x40", "training", 100, 40, "f2 j j", Options{}},
	{"filter-80x24", "training", 80, 24, "/ a n n space g p u : 2 enter", Options{}},
	{"need-80x24", "training", 80, 24, "n 1 5 . 8 G", Options{}},
}

// TestGoldenScreens plays a demo for ten minutes (64 GPUs: one) and looks at the screen.
func TestGoldenScreens(t *testing.T) {
	for _, g := range goldens {
		length := 10 * time.Minute
		switch g.scenario {
		case "sixtyfour":
			length = time.Minute
		case "oom":
			length = 587 * time.Second // the run has just been refused
		}
		g.o.Label = "DEMO " + g.scenario
		m := model(play(t, g.scenario, length), g.w, g.h, g.o)
		press(m, g.keys)
		got := ansi.Strip(m.View().Content) + "\n"
		for _, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if width(line) != g.w {
				t.Errorf("%s: %d columns: %q", g.name, width(line), line)
			}
		}
		file := screens + g.name + ".txt"
		checkGolden(t, file, got)
		if g.keys == "" {
			g.o.Span = usualSpan
			if f := Frame(play(t, g.scenario, length), g.w, g.h, g.o); f != got {
				t.Errorf("%s: --size prints something else", g.name)
			}
		}
	}
	files, err := filepath.Glob(screens + "*.txt")
	if err != nil || len(files) != len(goldens) {
		t.Errorf("%d files for %d screens, %v", len(files), len(goldens), err)
	}
}

// checkGolden compares a screen with what a file holds, or writes the file.
func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	if got != string(want) {
		t.Errorf("%s: the screen has changed (go test ./ui -update, then read the diff)\n%s", file, difference(string(want), got))
	}
}

// difference shows the lines that differ.
func difference(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		x, y := "", ""
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			b.WriteString("- " + x + "\n+ " + y + "\n")
		}
	}
	return b.String()
}
