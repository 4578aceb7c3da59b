package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// Both catalogues must hold the same ids, and each pair the same placeholders.
func TestCataloguesAgree(t *testing.T) {
	for id, en := range textsEN {
		zh, ok := textsZH[id]
		if !ok {
			t.Errorf("zh lacks %s", id)
			continue
		}
		a, b := placeholder.FindAllString(en, -1), placeholder.FindAllString(zh, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(slices.Compact(a), slices.Compact(b)) {
			t.Errorf("%s: placeholders %v in en, %v in zh", id, a, b)
		}
		if zh == en && strings.Trim(en, " {}abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%s is not translated: %q", id, zh)
		}
	}
	for id := range textsZH {
		if _, ok := textsEN[id]; !ok {
			t.Errorf("en lacks %s", id)
		}
	}
}

// Every id the code says must be in the catalogue, and every rule and fix must have its words.
func TestCatalogueIsComplete(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	fset, asked := token.NewFileSet(), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			literal, isText := call.Args[0].(*ast.BasicLit)
			if ok && isText && slices.Contains([]string{"Say", "comment", "note"}, method.Sel.Name) {
				id, _ := strconv.Unquote(literal.Value)
				asked++
				if _, known := textsEN[id]; !known {
					t.Errorf("%s: no text for %q", fset.Position(call.Pos()), id)
				}
			}
			return true
		})
	}
	if asked < 100 {
		t.Errorf("only %d ids found in the code: the search is broken", asked)
	}
	for _, row := range oomFixes {
		for _, what := range []string{"title", "why", "cost"} {
			if id := "fix." + row.id + "." + what; textsEN[id] == "" {
				t.Errorf("no text %s", id)
			}
		}
		if !strings.HasPrefix(row.source, "https://") || row.do == nil {
			t.Errorf("%s lacks a source or something to do", row.id)
		}
	}
	for _, rule := range oomRules {
		if textsEN["cause."+rule.cause] == "" || !strings.HasPrefix(rule.reason, "https://") {
			t.Errorf("rule %s for %s lacks words or a source", rule.id, rule.cause)
		}
	}
	for _, row := range kindRows {
		if row.cause != "" && row.class != classHost && textsEN["why."+row.kind] == "" && row.kind != "mmap_enomem" {
			t.Errorf("no text why.%s", row.kind)
		}
	}
}
