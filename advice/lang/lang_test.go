package lang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// names are sentences that are the same in every language.
var names = []string{"GPU", "GPU  ", "MIG", "WSL", "/proc", "PID", "SM%", "CPU%"}

// Every language holds the same ids as English, and each sentence the same placeholders.
func TestLanguagesAgree(t *testing.T) {
	for _, c := range languages[1:] {
		var same []string
		for id, en := range textsEN {
			other, ok := c.texts[id]
			if !ok {
				t.Errorf("%s lacks %s", c.Lang, id)
				continue
			}
			a, b := placeholder.FindAllString(en, -1), placeholder.FindAllString(other, -1)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(slices.Compact(a), slices.Compact(b)) {
				t.Errorf("%s: placeholders %v in en, %v in %s", id, a, b, c.Lang)
			}
			if other == en && !slices.Contains(names, placeholder.ReplaceAllString(en, "")) && strings.Trim(placeholder.ReplaceAllString(en, ""), " {}abcdefghijklmnopqrstuvwxyz") != "" {
				same = append(same, id)
			}
		}
		if slices.Sort(same); len(same) > 0 {
			t.Errorf("%d sentences are not translated into %s, such as %q", len(same), c.Lang, same[:min(len(same), 10)])
		}
		for id := range c.texts {
			if _, ok := textsEN[id]; !ok {
				t.Errorf("en lacks %s of %s", id, c.Lang)
			}
		}
	}
}

// sayers are the functions whose first argument is the id of a sentence.
var sayers = []string{"Say", "comment", "note", "Count", "say"}

// Every id that the code says has a sentence, in whatever package it stands.
func TestEveryIDHasASentence(t *testing.T) {
	asked := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(d.Name()) > 2 && (d.Name()[0] == '.' || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := saidID(n)
			if ok {
				asked++
				_, known := textsEN[id]
				_, one := textsEN[id+".one"]
				_, many := textsEN[id+".many"]
				if !known && (!one || !many) {
					t.Errorf("%s: no sentence %q", set.Position(n.Pos()), id)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if asked < 150 {
		t.Errorf("only %d ids found in the code: the search is broken", asked)
	}
}

// saidID is the literal id of a call of a sayer.
func saidID(n ast.Node) (id string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	literal, isText := call.Args[0].(*ast.BasicLit)
	if !ok || !isText || literal.Kind != token.STRING || !slices.Contains(sayers, method.Sel.Name) {
		return "", false
	}
	id, err := strconv.Unquote(literal.Value)
	return id, err == nil && strings.Contains(id, ".")
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]string{"en": "en", "zh": "zh", "zh_CN.UTF-8": "zh", "ZH-hans": "zh", "C": "en", "": "en", "xx_XX": "en"} {
		if c, _ := Named(name); c.Lang != want {
			t.Errorf("%q gives %s", name, c.Lang)
		}
	}
	if _, ok := Named("xx"); ok {
		t.Error("xx is not spoken")
	}
}
