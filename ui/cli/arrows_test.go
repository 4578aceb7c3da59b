package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Everything flows one way: see CONTRIBUTING.md. All files are parsed by the test itself, so
// that a cached result cannot hide a change. Tests are free to import what they like.

// arrows says what the files of a directory may import of nvpeak. The first row whose pattern
// fits counts; a directory without one may import nothing.
var arrows = []struct {
	dir string
	may []string // patterns
}{
	{".", []string{"ui/cli"}},
	{"sampler", nil},
	{"sampler/demo", []string{"sampler", "sampler/request", "sampler/fleet"}}, // that of a fleet is a Stream of one
	{"sampler/torch", []string{"sampler", "sampler/torchsnap"}},               // both read what PyTorch's allocator holds
	{"sampler/uprobe", []string{"sampler", "sampler/request"}},
	{"sampler/fleet", []string{"sampler", "sampler/tape"}}, // what other machines print is what recordings hold
	{"sampler/tools", nil},  // words alone
	{"sampler/needed", nil}, // the same
	{"sampler/oomlog", []string{"sampler", "sampler/redact", "sampler/needed"}},
	{"sampler/hearsay", nil}, // passages alone
	{"sampler/post", []string{"sampler", "sampler/tools", "sampler/needed", "sampler/hearsay"}},
	{"sampler/*", []string{"sampler", "sampler/redact"}}, // every source, and history
	{"sampler/*/*", []string{"sampler", "sampler/*"}},    // helpers of one source
	{"advice", []string{"sampler", "advice/*"}},
	{"advice/report", []string{"sampler", "advice/watch", "advice/explain", "advice/series", "advice/lang"}},
	{"advice/watch", []string{"sampler", "advice/explain", "advice/series", "advice/lang"}},
	{"advice/explain", []string{"sampler", "sampler/tools", "advice/command", "advice/lang"}},
	{"advice/retry", []string{"sampler", "advice/command", "advice/explain", "advice/lang"}},
	{"advice/*test", []string{"sampler", "advice/series"}},
	{"advice/*", []string{"sampler"}}, // series, command, lang
	{"theme", nil},
	{"ui", []string{"sampler", "sampler/history", "sampler/fleet", "advice", "advice/*", "theme", "ui/plain", "ui/player", "ui/notify", "ui/crash"}},
	{"ui/cli", []string{"sampler", "sampler/*", "advice", "advice/*", "theme", "ui", "ui/*"}},
	{"ui/player", []string{"sampler", "sampler/history", "advice", "advice/*"}}, // no screen
	{"ui/config", []string{"theme"}},
	{"ui/prom", []string{"sampler", "sampler/history", "sampler/kubelet"}},
	{"ui/notify", []string{"sampler", "sampler/redact"}},
	{"ui/cli/*", nil}, // tests of the whole program
	{"ui/*", []string{"sampler", "advice", "advice/*"}},                                     // every other front end
	{"docs/*", []string{"sampler", "sampler/*", "sampler/*/*", "ui", "ui/cli", "ui/cli/*"}}, // tools of contributors
}

// allowed says whether files of dir may import the directory to.
func allowed(dir, to string) bool {
	for _, row := range arrows {
		if fits(dir, row.dir) {
			return fits(to, row.may...)
		}
	}
	return false
}

func fits(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// self are the trees that import the standard library only, and what else they may.
var self = []struct{ dir, also string }{
	{"sampler", "golang.org/x/sys/unix"}, {"sampler/history", ""}, {"sampler/request", ""}, {"advice/command", "mvdan.cc/sh/v3/syntax"}, {"advice", ""}, {"advice/*", ""}, {"theme", ""},
}

// foreign says whether files of dir may import this from outside nvpeak, as far as self goes.
func foreign(dir, imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(host, ".") {
		return true
	}
	for _, row := range self {
		if fits(dir, row.dir) {
			return imported == row.also
		}
	}
	return true
}

// imports that only some files may have.
var imports = []struct {
	path   string   // itself and all below
	only   []string // patterns of the files that may import it
	within []string // patterns of the directories for which this holds; none: all
	reason string
}{
	{"github.com/NVIDIA/go-nvml", []string{"sampler/nvml/*.go", "sampler/nvml/*/*.go"}, nil, "only sampler/nvml talks to the driver"},
	{"github.com/cilium/ebpf", []string{"sampler/uprobe/*.go"}, nil, "only sampler/uprobe goes into the kernel"},
	{"github.com/klauspost/compress", []string{"sampler/tape/*.go"}, nil, "only recordings are compressed"},
	{"github.com/spf13", []string{"ui/cli/*.go"}, nil, "only ui/cli reads flags"},
	{"github.com/pelletier/go-toml", []string{"ui/config/*.go"}, nil, "only settings and themes are TOML, and only its parser is needed: it has no reflection"},
	{"github.com/guptarohit/asciigraph", []string{"ui/graph.go"}, nil, "its traps are dealt with there"},
	{"github.com/prometheus", []string{"ui/prom/*.go", "ui/cli/export.go"}, nil, "only the exporter knows Prometheus"},
	{"google.golang.org/protobuf", []string{"sampler/kubelet/*.go"}, nil, "only the kubelet speaks it, and only its wire format is needed"},
	{"mvdan.cc/sh", []string{"advice/command/*.go"}, nil, "only command lines are read as a shell does"},
	{"charm.land", []string{"ui/*.go", "docs/*/*.go"}, nil, "the screen alone knows the terminal library"},
	{"charm.land/lipgloss/v2", nil, nil, "ui/paint.go makes the sequences of a style once"},
	{"github.com/charmbracelet/colorprofile", []string{"ui/*.go"}, nil, "one place says how many colors a terminal has"},
	{"os", nil, []string{"advice", "advice/*"}, "advice touches no file"},
	{"os", nil, []string{"theme"}, "a theme touches no file"},
	{"net", nil, []string{"advice", "advice/*"}, "advice touches no network"},
	{"unsafe", []string{"sampler/nvml/*.go", "sampler/uprobe/mappings.go", "sampler/uprobe/multi.go"}, nil, "for structures of the driver and the kernel only"},
}

// calls that only some files may make, by package and name.
var calls = []struct {
	name   string // of a builtin, or package.name
	only   []string
	within []string
	reason string
}{
	{"os.Exit", []string{"main.go", "docs/*/main.go"}, nil, "the terminal must be given back first"},
	{"log.Fatal", nil, nil, "the terminal must be given back first"},
	{"log.Fatalf", nil, nil, "the terminal must be given back first"},
	{"log.Fatalln", nil, nil, "the terminal must be given back first"},
	{"panic", []string{"sampler/oomlog/words.go", "sampler/oomlog/template.go", "ui/plain/report_html.go"}, nil, "only for what every test would hit: tables and files that are part of the binary"},
	{"time.Now", nil, []string{"advice", "advice/*"}, "time is the snapshot's"},
	{"time.Since", nil, []string{"advice", "advice/*"}, "time is the snapshot's"},
	{"time.Until", nil, []string{"advice", "advice/*"}, "time is the snapshot's"},
	{"time.Sleep", nil, []string{"advice", "advice/*"}, "advice waits for nothing"},
	{"time.Now", nil, []string{"ui", "ui/plain"}, "time is the snapshot's; only ui/player goes by the wall clock"},
	{"time.Since", nil, []string{"ui", "ui/plain"}, "time is the snapshot's; only ui/player goes by the wall clock"},
	{"time.Sleep", nil, []string{"ui", "ui/player", "ui/plain"}, "nothing waits in Update or View"},
	{"time.Now", nil, []string{"theme"}, "colors do not depend on the time"},
}

// source is one file of the program, parsed.
type source struct {
	name string // from the root, with slashes
	file *ast.File
}

func (s source) dir() string { return path.Dir(s.name) }

// breaks says whether the file is one of those a row is about, and none of the exceptions.
func (s source) breaks(only, within []string) bool {
	return (within == nil || fits(s.dir(), within...)) && !fits(s.name, only...)
}

func (s source) imports(t *testing.T) (list []string) {
	t.Helper()
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		list = append(list, imported)
	}
	return list
}

func sources(t *testing.T) (list []source) {
	t.Helper()
	root, set := filepath.Join("..", ".."), token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		name, err = filepath.Rel(root, name)
		list = append(list, source{filepath.ToSlash(name), f})
		return err
	})
	if err != nil || len(list) < 100 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	return list
}

func TestArrows(t *testing.T) {
	seen := map[string]int{}
	for _, s := range sources(t) {
		for _, imported := range s.imports(t) {
			seen[imported]++
			if to, ok := strings.CutPrefix(imported, "nvpeak/"); ok && !allowed(s.dir(), to) {
				t.Errorf("%s imports %s: that is against the arrows", s.name, to)
			}
			if !foreign(s.dir(), imported) {
				t.Errorf("%s imports %s: %s has the standard library only", s.name, imported, s.dir())
			}
			for _, row := range imports {
				if strings.HasPrefix(imported+"/", row.path+"/") && s.breaks(row.only, row.within) {
					t.Errorf("%s imports %s: %s", s.name, imported, row.reason)
				}
			}
		}
	}
	if seen["github.com/guptarohit/asciigraph"] != 1 || seen["charm.land/bubbletea/v2"] == 0 || seen["nvpeak/sampler"] < 50 {
		t.Errorf("the test sees too little: %d files import sampler", seen["nvpeak/sampler"])
	}
}

// called is what a node uses: a function may be passed on, so not only calls count.
func called(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok {
			return x.Name + "." + n.Sel.Name
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok {
			return f.Name
		}
	}
	return ""
}

func TestCallsInOnePlace(t *testing.T) {
	exits := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			name := called(n)
			if name == "os.Exit" {
				exits++
			}
			for _, row := range calls {
				if row.name == name && s.breaks(row.only, row.within) {
					t.Errorf("%s: %s: %s", s.name, name, row.reason)
				}
			}
			return true
		})
	}
	if exits == 0 {
		t.Error("the test does not even see main.go")
	}
}

// main calls the command line and nothing else.
func TestMainIsTiny(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir() != "." {
			continue
		}
		if list := s.imports(t); !slices.Equal(list, []string{"os", "nvpeak/ui/cli"}) || len(s.file.Decls) != 2 {
			t.Errorf("%s imports %q and has %d declarations", s.name, list, len(s.file.Decls))
		}
	}
}

// The check itself tells right from wrong.
func TestArrowsCatch(t *testing.T) {
	for _, tt := range []struct {
		dir, to string
		want    bool
	}{
		{".", "ui/cli", true}, {".", "ui", false},
		{"sampler", "sampler/proc", false}, {"sampler/proc", "sampler", true}, {"sampler/proc", "advice", false},
		{"sampler", "sampler/history", false}, {"sampler/history", "sampler", true}, {"sampler/nvml", "sampler/history", false}, {"sampler/tape", "sampler/nvml", false},
		{"sampler/nvml/nvmltest", "sampler", true}, {"sampler/nvml/nvmltest", "ui", false}, {"new", "sampler", false},
		{"advice", "sampler", true}, {"advice", "theme", false}, {"advice", "sampler/demo", false}, {"advice/series", "sampler/history", false},
		{"advice/report", "advice/watch", true}, {"advice/watch", "advice/report", false}, {"advice/explain", "advice/watch", false},
		{"advice/explain", "advice/command", true}, {"advice/command", "advice/series", false}, {"advice/series", "sampler", true},
		{"advice/watch", "advice", false}, {"advice/lang", "advice/explain", false}, {"advice/command", "sampler/tape", false},
		{"ui", "advice", true}, {"ui", "advice/watch", true}, {"ui", "sampler/nvml", false}, {"ui", "ui/cli", false}, {"ui", "ui/player", true}, {"ui", "sampler/history", true},
		{"ui/player", "advice/watch", true}, {"ui/player", "ui", false}, {"ui/player", "theme", false},
		{"ui/plain", "theme", false}, {"ui/plain", "ui", false}, {"ui/cli", "sampler/nvml", true}, {"ui/cli", "ui/plain", true}, {"ui/cli/e2e", "ui", false},
		{"docs/picture", "ui/cli/e2e", true}, {"theme", "sampler", false},
	} {
		if got := allowed(tt.dir, tt.to); got != tt.want {
			t.Errorf("%s may import %s: %v, want %v", tt.dir, tt.to, got, tt.want)
		}
	}
	for imported, dirs := range map[string]map[string]bool{
		"golang.org/x/sys/unix":           {"sampler": true, "sampler/proc": true, "sampler/history": false, "advice": false, "advice/series": false},
		"github.com/mattn/go-runewidth":   {"ui/plain": true, "theme": false},
		"encoding/json":                   {"advice/report": true},
		"github.com/klauspost/compress/x": {"sampler": false},
	} {
		for dir, want := range dirs {
			if got := foreign(dir, imported); got != want {
				t.Errorf("%s may import %s: %v, want %v", dir, imported, got, want)
			}
		}
	}
	for file, want := range map[string]bool{"ui/pane.go": true, "ui/replay_head.go": false, "ui/cli/once.go": false} {
		if got := (source{name: file}).breaks([]string{"ui/replay*.go"}, []string{"ui"}); got != want {
			t.Errorf("%s breaks the rule: %v", file, got)
		}
	}
}
