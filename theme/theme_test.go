package theme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// declared are the names that the constants of a type have in theme.go.
func declared(t *testing.T, first, last string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "theme.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	on := false
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, name := range v.Names {
				on = on || name.Name == first
				if name.Name == last {
					on = false
				}
				if on {
					names = append(names, name.Name)
				}
			}
		}
		return true
	})
	return names
}

// TestEveryRoleHasALook: a role that a theme forgets would be invisible as such; the
// literals are read, for an array does not tell what was left out.
func TestEveryRoleHasALook(t *testing.T) {
	all, backgrounds := declared(t, "Text", "roles"), declared(t, "Plain", "backs")
	if len(all) != int(roles) || len(backgrounds) != int(backs) {
		t.Fatalf("%d roles and %d backgrounds were found", len(all), len(backgrounds))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, ok := kv.Key.(*ast.Ident)
			lit, isLit := kv.Value.(*ast.CompositeLit)
			if !ok || !isLit || key.Name != "Roles" && key.Name != "Backs" {
				return true
			}
			has := map[string]bool{}
			for _, e := range lit.Elts {
				if e, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := e.Key.(*ast.Ident); ok {
						has[id.Name] = true
					}
				}
			}
			want := all
			if key.Name == "Backs" {
				want = backgrounds
			} else {
				found++
			}
			for _, name := range want {
				if !has[name] {
					t.Errorf("%s: %s has no %s", file, key.Name, name)
				}
			}
			return true
		})
	}
	if found != len(themes) {
		t.Errorf("%d themes in files, %d in the list", found, len(themes))
	}
}

func TestThemes(t *testing.T) {
	hex := regexp.MustCompile("^(#[0-9a-f]{6})?$")
	names := map[string]bool{}
	for i, th := range themes {
		if names[th.Name] || th.Name == "" || th.Title == "" || th.Name != strings.ToLower(th.Name) {
			t.Errorf("theme %q: twice, without title or not in small letters", th.Name)
		}
		names[th.Name] = true
		if got, ok := Named(strings.ToUpper(th.Name)); !ok || got != th {
			t.Errorf("%q is not found by its name", th.Name)
		}
		if After(th) != themes[(i+1)%len(themes)] {
			t.Errorf("after %q comes %q", th.Name, After(th).Name)
		}
		for _, styles := range [][]Style{th.Roles[:], th.Backs[:]} {
			for role, s := range styles {
				if !hex.MatchString(s.Color) {
					t.Errorf("%s: the color of role %d is %q", th.Name, role, s.Color)
				}
			}
		}
		if th.Backs[Selected] == th.Backs[Plain] {
			t.Errorf("%s: the selected row looks like the others", th.Name)
		}
		for _, pair := range [][2]Role{{Ok, Critical}, {Text, Critical}, {Warning, Critical}, {Text, Peak}, {Plot, UtilPlot}, {Dim, Strong}, {Text, Demo}} {
			if th.Roles[pair[0]] == th.Roles[pair[1]] {
				t.Errorf("%s: roles %d and %d look the same", th.Name, pair[0], pair[1])
			}
		}
	}
	if len(Names()) != len(themes) || Names()[0] != "dark" {
		t.Errorf("the names are %v", Names())
	}
	if th, ok := Named("no such"); ok || th != nil {
		t.Error("a theme that does not exist is found")
	}
	if After(&Theme{}) != &dark || For(true) != &dark || For(false) != &light {
		t.Error("the themes one falls back to")
	}
}

func TestMonoHasNoColor(t *testing.T) {
	for _, styles := range [][]Style{mono.Roles[:], mono.Backs[:]} {
		for i, s := range styles {
			if s.Color != "" {
				t.Errorf("role %d has the color %s", i, s.Color)
			}
		}
	}
}

func TestGlyphs(t *testing.T) {
	narrow := runewidth.Condition{StrictEmojiNeutral: true}
	for name, g := range map[string]*Glyphs{"Unicode": &Unicode, "ASCII": &ASCII} {
		single := []rune{g.BarEmpty, g.BarReserve, g.BarUnknown, g.Peak, g.Need, g.Line, g.Mark, g.Cursor, g.Focus, g.Alert, g.More, g.Degree, g.Dot, g.Ellipsis, g.Up, g.Down}
		for _, list := range [][]rune{g.Bar, g.Thin, g.Low, g.Corners, g.Spark, g.Level, single} {
			if len(list) == 0 {
				t.Errorf("%s: a list is empty", name)
			}
			for _, r := range list {
				if r == 0 || narrow.RuneWidth(r) != 1 || !unicode.IsPrint(r) {
					t.Errorf("%s: %q is not one column", name, r)
				}
				if name == "ASCII" && (r <= ' ' || r > '~') {
					t.Errorf("%q is no ASCII", r)
				}
			}
		}
		for _, pair := range [][2]rune{{g.BarEmpty, g.Bar[len(g.Bar)-1]}, {g.BarEmpty, g.BarReserve}, {g.BarEmpty, g.Peak}, {g.Bar[len(g.Bar)-1], g.BarUnknown},
			{g.Peak, g.Need}, {g.BarReserve, g.BarUnknown}, {g.Peak, g.Bar[len(g.Bar)-1]}, {g.Up, g.Down}} {
			if pair[0] == pair[1] {
				t.Errorf("%s: %q stands for two things that stand side by side", name, pair[0])
			}
		}
	}
}

func TestLevel(t *testing.T) {
	levels := [3]float64{80, 90, 95}
	for _, row := range []struct {
		percent float64
		want    Role
	}{{0, Ok}, {79.99, Ok}, {80, Notice}, {89.9, Notice}, {90, Warning}, {94.99, Warning}, {95, Critical}, {100, Critical}, {1e9, Critical}, {-5, Ok}} {
		if got := Level(row.percent, levels); got != row.want {
			t.Errorf("level of %v %% is %v, want %v", row.percent, got, row.want)
		}
	}
}

// TestEveryThemeHasItsFile: one file each, named after it.
func TestEveryThemeHasItsFile(t *testing.T) {
	for _, th := range themes {
		name := map[string]string{"high-contrast": "contrast", "color-blind": "colorblind"}[th.Name]
		if name == "" {
			name = th.Name
		}
		if _, err := os.Stat(name + ".go"); err != nil {
			t.Error(err)
		}
	}
}
