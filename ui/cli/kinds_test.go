package cli

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A kind of failure is written once, in sampler/kinds.go, and listed in ErrorKinds there.
func TestErrorKindsAreDeclaredOnce(t *testing.T) {
	const home = "sampler/kinds.go"
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				text, _ := strconv.Unquote(n.Value)
				if n.Kind == token.STRING && s.name != home && slices.Contains(sampler.ErrorKinds[:], text) {
					t.Errorf("%s: %q is retyped: use the constant of %s", s.name, text, home)
				}
			case *ast.ValueSpec:
				if s.name != home || !strings.HasPrefix(n.Names[0].Name, "Kind") {
					break
				}
				text, _ := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
				if !slices.Contains(sampler.ErrorKinds[:], text) {
					t.Errorf("%s is not in ErrorKinds", n.Names[0].Name)
				}
			}
			return true
		})
	}
}
