package cli

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"testing"
)

// TestPatterns: a pattern that is compiled when it is first used has no mistake.
func TestPatterns(t *testing.T) {
	n := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			lit, ok := node.(*ast.CompositeLit)
			if !ok {
				return true
			}
			typ, ok := lit.Type.(*ast.SelectorExpr)
			if !ok || typ.Sel.Name != "Pattern" || typ.X.(*ast.Ident).Name != "sampler" {
				return true
			}
			text, ok := constant(lit.Elts[0].(*ast.KeyValueExpr).Value)
			if _, err := regexp.Compile(text); err != nil || !ok {
				t.Errorf("%s: %q: %v", s.name, text, err)
			}
			n++
			return true
		})
	}
	if n < 50 {
		t.Errorf("the test sees %d patterns only", n)
	}
}

// constant is the text of a string that is written down, in one piece or several.
func constant(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, ok := constant(e.X)
		b, ok2 := constant(e.Y)
		return a + b, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}
