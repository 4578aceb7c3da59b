package command

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command line: where its bytes stand and what the shell makes of it.
type word struct {
	start, end int
	value      string
	expands    bool // holds $… or `…`, so its value is not known
}

// operators can stand where no shell would take them, as in a command line that was joined from
// its arguments; what is before them is read all the same.
const operators = "\n;&|()<>"

// readCommands splits a text into its simple commands as a shell would, without expanding
// anything. ok is false when it cannot be read, as with an open quote.
func readCommands(text string) (commands [][]word, ok bool) {
	file, err := parse(text)
	if at, is := misplaced(text, err); is {
		file, err = parse(text[:at])
	}
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			commands = append(commands, callWords(text, n))
		case *syntax.DeclClause:
			commands = append(commands, declWords(text, n))
		case *syntax.Word, *syntax.Redirect:
		default:
			return true
		}
		return false
	})
	return commands, true
}

func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// misplaced is where an operator stands that cannot stand there.
func misplaced(text string, err error) (at int, is bool) {
	var wrong syntax.ParseError
	if !errors.As(err, &wrong) {
		return 0, false
	}
	at = int(wrong.Pos.Offset())
	return at, at < len(text) && strings.Contains(operators, text[at:at+1])
}

func callWords(text string, call *syntax.CallExpr) (words []word) {
	for _, a := range call.Assigns {
		words = append(words, assignWord(text, a))
	}
	for _, w := range call.Args {
		words = append(words, newWord(text, w, w.Parts))
	}
	return words
}

// declWords are "export", "declare" and the like with their assignments.
func declWords(text string, d *syntax.DeclClause) []word {
	words := []word{newWord(text, d.Variant, []syntax.WordPart{d.Variant})}
	for _, a := range d.Args {
		words = append(words, assignWord(text, a))
	}
	return words
}

func assignWord(text string, a *syntax.Assign) word {
	if a.Value == nil || a.Name == nil || a.Index != nil || a.Append {
		return newWord(text, a, nil)
	}
	w := newWord(text, a, a.Value.Parts)
	w.value = a.Name.Value + "=" + w.value
	return w
}

func newWord(text string, node syntax.Node, parts []syntax.WordPart) word {
	w := word{start: int(node.Pos().Offset()), end: int(node.End().Offset())}
	var value strings.Builder
	if parts == nil {
		value.WriteString(text[w.start:w.end])
	}
	w.expands = readParts(text, parts, &value, false)
	w.value = value.String()
	return w
}

// readParts writes what the shell makes of the parts of a word. What it would expand is kept as
// it was typed, and said so.
func readParts(text string, parts []syntax.WordPart, value *strings.Builder, quoted bool) (expands bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			value.WriteString(p.Value)
		case *syntax.DblQuoted:
			expands = readParts(text, p.Parts, value, true) || expands
		default:
			value.WriteString(text[p.Pos().Offset():p.End().Offset()])
			expands = true
		}
	}
	return expands
}

// unescape removes backslashes as the shell does: in double quotes only before what they protect.
func unescape(s string, quoted bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\"\\$`\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
