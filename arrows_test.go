package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Which directory may import which is in ui/cli/arrows_test.go. Here is what files and
// calls the rules of the house keep to one place. All files are parsed by the test itself,
// so that a cached result cannot hide a change.

// imports that only some files may have.
var imports = []struct {
	path   string   // itself and all below
	only   []string // patterns of the files that may import it
	within string   // pattern of the directories for which this holds; "" for all
	reason string
}{
	{"github.com/guptarohit/asciigraph", []string{"ui/graph.go"}, "", "its traps are dealt with there"},
	{"charm.land", []string{"ui/*.go", "docs/*/*.go"}, "", "the screen alone knows the terminal library"},
	{"charm.land/lipgloss/v2", []string{"ui/canvas.go"}, "", "styles are rendered once, there"},
	{"nvpeak", nil, "theme", "a theme knows nothing of GPUs"},
	{"os", nil, "advice", "advice touches no file"},
	{"os", nil, "theme", "a theme touches no file"},
	{"net", nil, "advice", "advice touches no network"},
	{"unsafe", []string{"sampler/nvml/*.go"}, "", "for the driver's structures only"},
}

// calls that only some files may make, by package and name.
var calls = []struct {
	pkg, name string // pkg "" for a builtin
	only      []string
	within    string
	reason    string
}{
	{"os", "Exit", []string{"main.go", "docs/*/main.go"}, "", "the terminal must be given back first"},
	{"log", "Fatal", nil, "", "the terminal must be given back first"},
	{"log", "Fatalf", nil, "", "the terminal must be given back first"},
	{"log", "Fatalln", nil, "", "the terminal must be given back first"},
	{"", "panic", []string{"sampler/oomlog/words.go", "sampler/oomlog/template.go", "ui/plain/report_html.go"}, "", "only for what every test would hit: tables and files that are part of the binary"},
	{"time", "Now", nil, "advice", "time is the snapshot's"},
	{"time", "Since", nil, "advice", "time is the snapshot's"},
	{"time", "Until", nil, "advice", "time is the snapshot's"},
	{"time", "Sleep", nil, "advice", "advice waits for nothing"},
	{"time", "Now", []string{"ui/player/*.go"}, "ui", "time is the snapshot's; a replay is paced by the wall clock"},
	{"time", "Since", []string{"ui/player/*.go"}, "ui", "time is the snapshot's; a replay is paced by the wall clock"},
	{"time", "Sleep", nil, "ui", "nothing waits in Update or View"},
	{"time", "Now", nil, "theme", "colours do not depend on the time"},
}

// source is one file of the program, parsed.
type source struct {
	name string // from the root, with slashes
	file *ast.File
}

func sources(t *testing.T) (list []source) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		list = append(list, source{filepath.ToSlash(name), f})
		return err
	})
	if err != nil || len(list) < 100 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	return list
}

// in says whether a row about directory dir is about the file.
func (s source) in(dir string) bool { return dir == "" || path.Dir(s.name) == dir }

func (s source) matches(patterns ...string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, s.name); err == nil && ok {
			return true
		}
	}
	return false
}

func TestImportsInOnePlace(t *testing.T) {
	seen := map[string]int{}
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			seen[imported]++
			for _, rule := range imports {
				if imported != rule.path && !strings.HasPrefix(imported, rule.path+"/") {
					continue
				}
				if s.in(rule.within) && !s.matches(rule.only...) {
					t.Errorf("%s imports %s: %s", s.name, imported, rule.reason)
				}
			}
		}
	}
	if seen["github.com/guptarohit/asciigraph"] != 1 || seen["charm.land/bubbletea/v2"] == 0 {
		t.Errorf("the test sees too little: %d files import asciigraph", seen["github.com/guptarohit/asciigraph"])
	}
}

func TestCallsInOnePlace(t *testing.T) {
	exits := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			pkg, name := "", ""
			switch n := n.(type) {
			case *ast.SelectorExpr: // not only calls: a function may be passed on
				if x, ok := n.X.(*ast.Ident); ok {
					pkg, name = x.Name, n.Sel.Name
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok {
					name = f.Name
				}
			}
			for _, rule := range calls {
				if rule.name != name || rule.pkg != pkg || !s.in(rule.within) {
					continue
				}
				exits++
				if !s.matches(rule.only...) {
					t.Errorf("%s: %s.%s: %s", s.name, pkg, name, rule.reason)
				}
			}
			return true
		})
	}
	if exits == 0 {
		t.Error("the test does not even see main.go")
	}
}

// TestMainIsTiny: main calls the command line and nothing else.
func TestMainIsTiny(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		if p := spec.Path.Value; p != `"os"` && p != `"nvpeak/ui/cli"` {
			t.Errorf("main.go imports %s", p)
		}
	}
	if len(f.Decls) != 2 {
		t.Errorf("main.go has %d declarations", len(f.Decls))
	}
}
