package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says what each directory of the house may import of it: see CONTRIBUTING.md.
// A directory stands for those below it, unless they have a row of their own.
var arrows = map[string][]string{
	".":                 {"ui/cli"},
	"sampler":           {},
	"sampler/":          {"sampler"}, // every source
	"sampler/history":   {"sampler"}, // what was seen so far, for the plots
	"advice":            {"sampler"},
	"advice/report":     {"advice/watch", "advice/explain", "advice/series", "advice/lang", "sampler"},
	"advice/watch":      {"advice/explain", "advice/series", "advice/lang", "sampler"},
	"advice/explain":    {"advice/command", "advice/lang", "sampler"},
	"advice/series":     {"sampler"},
	"advice/command":    {},
	"advice/lang":       {},
	"advice/advicetest": {"advice/series", "sampler"},
	"theme":             {},
	"ui":                {"advice/report", "advice/watch", "advice/explain", "advice/lang", "sampler", "sampler/history", "theme"},
	"ui/plain":          {"advice/report", "advice/watch", "advice/explain", "advice/lang", "sampler"},
	"ui/prom":           {"advice/report", "advice/watch", "advice/explain", "advice/lang", "sampler"},
	"ui/cli":            {"advice/report", "advice/watch", "advice/explain", "advice/lang", "sampler", "sampler/", "theme", "ui", "ui/plain", "ui/prom"},
	"docs":              {"sampler", "sampler/", "ui", "ui/cli"}, // tools of contributors
}

// room is the row of arrows for a directory.
func room(dir string) string {
	if _, ok := arrows[dir]; !ok && strings.HasPrefix(dir, "sampler/") {
		return "sampler/"
	}
	for d := dir; ; d = filepath.ToSlash(filepath.Dir(d)) {
		if _, ok := arrows[d]; ok || d == "." {
			return d
		}
	}
}

// foreign are the libraries that one directory alone may import.
var foreign = map[string]string{
	"github.com/NVIDIA/go-nvml":           "sampler/nvml",
	"github.com/guptarohit/asciigraph":    "ui",
	"github.com/spf13/cobra":              "ui/cli",
	"charm.land/bubbletea/v2":             "ui",
	"github.com/klauspost/compress":       "sampler/tape",
	"github.com/prometheus/client_golang": "ui/prom",
	"mvdan.cc/sh/v3":                      "advice/command",
}

// Imports go one way only. Tests are free to import what they like.
func TestArrows(t *testing.T) {
	files, crossings := 0, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(d.Name()) > 2 && (d.Name()[0] == '.' || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		rel, err := filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		crossings += checkImports(t, path, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 || crossings < 50 {
		t.Errorf("only %d files and %d imports between directories were looked at", files, crossings)
	}
}

// checkImports looks at one file and returns how many directories of the house it imports.
func checkImports(t *testing.T, path, rel string) (crossings int) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return 0
	}
	dir := filepath.ToSlash(filepath.Dir(rel))
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			continue
		}
		if to, ok := strings.CutPrefix(imported, "nvpeak/"); ok {
			crossings++
			if !allowed(dir, to) {
				t.Errorf("%s imports %s: that is against the arrows", rel, to)
			}
			continue
		}
		if !foreignAllowed(dir, imported) {
			t.Errorf("%s imports %s, which is another directory's business", rel, imported)
		}
	}
	return crossings
}

// allowed says whether code in dir may import the directory to.
func allowed(dir, to string) bool {
	if room(dir) == room(to) && (strings.HasPrefix(dir, to+"/") || strings.HasPrefix(to, dir+"/")) {
		return true // a directory and its own part, such as sampler/nvml/nvmltest
	}
	return slices.Contains(arrows[room(dir)], room(to))
}

// foreignAllowed says whether code in dir may import a library.
func foreignAllowed(dir, imported string) bool {
	for library, owner := range foreign {
		if strings.HasPrefix(imported+"/", library+"/") {
			return dir == owner || strings.HasPrefix(dir, owner+"/") || strings.HasPrefix(dir, "docs/")
		}
	}
	if room(dir) == "sampler" || strings.HasPrefix(dir, "advice") || room(dir) == "theme" {
		host, _, _ := strings.Cut(imported, "/")
		return !strings.Contains(host, ".") || dir == "sampler" && imported == "golang.org/x/sys/unix"
	}
	return true
}

// The check itself tells right from wrong.
func TestArrowsCatch(t *testing.T) {
	for _, tt := range []struct {
		dir, to string
		want    bool
	}{
		{".", "ui/cli", true}, {".", "ui", false},
		{"sampler", "sampler/proc", false}, {"sampler/proc", "sampler", true}, {"sampler/proc", "advice", false},
		{"sampler/nvml/nvmltest", "sampler", true},
		{"advice", "sampler", true}, {"advice", "theme", false}, {"advice", "sampler/demo", false},
		{"ui", "advice/watch", true}, {"advice/explain", "advice/watch", false}, {"ui", "sampler/nvml", false}, {"ui", "sampler/history", true},
		{"sampler", "sampler/history", false}, {"sampler/nvml", "sampler/history", false}, {"advice", "sampler/history", false}, {"ui", "ui/cli", false},
		{"ui/plain", "theme", false}, {"ui/cli", "sampler/nvml", true}, {"ui/cli/e2e", "ui", true},
		{"theme", "sampler", false},
	} {
		if got := allowed(tt.dir, tt.to); got != tt.want {
			t.Errorf("%s may import %s: %v, want %v", tt.dir, tt.to, got, tt.want)
		}
	}
	if foreignAllowed("ui", "github.com/NVIDIA/go-nvml/pkg/nvml") || foreignAllowed("advice", "golang.org/x/sys/unix") || !foreignAllowed("sampler/nvml", "github.com/NVIDIA/go-nvml/pkg/nvml") {
		t.Error("libraries are let in where they must not, or kept out where they may")
	}
}
