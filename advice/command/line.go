package command

import (
	"slices"
	"strings"
)

// Line is a shell command line split into words that remember their place, so that an
// edit changes the bytes of the words it means and no others.
type Line struct {
	Text  string
	words []word
	// commands bound the simple commands in words.
	commands [][2]int
	// first and last bound the part that starts the training: words[first:last].
	first, last int
	Known       bool // false: empty, too long or with an open quote; nothing is edited then
	options     []Argument
	styled      string // whose options they are
}

// lastPart is the last part of a path.
func lastPart(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// part is the words of the command that starts the training.
func (c Line) part() []word { return c.words[c.first:c.last] }

// Runs says whether the part holds a program or script of that name.
func (c Line) Runs(names ...string) bool {
	return slices.ContainsFunc(c.part(), func(w word) bool { return slices.Contains(names, lastPart(w.value)) })
}

// Environment is the assignments before the program: "VAR=value python …", also after env,
// and those of "export VAR=value" in front of it.
func (c Line) Environment() map[string]string {
	found := map[string]string{}
	for _, part := range c.commands {
		if part[0] > c.first {
			break
		}
		c.readAssignments(part[0], part[1], found)
	}
	return found
}

func (c Line) readAssignments(first, last int, found map[string]string) {
	head := c.words[first:last]
	exported := first == c.first || len(head) > 0 && (head[0].value == "export" || head[0].value == "set")
	for i, w := range head {
		name, value, isAssignment := assignment(w.value)
		skip := w.value == "env" || i == 0 && (w.value == "export" || w.value == "set")
		if !isAssignment && !skip {
			return
		}
		if isAssignment && exported && !w.expands {
			found[name] = value
		}
	}
}

// assignment splits NAME=value with a name as the shell wants it.
func assignment(s string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(s, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", "", false
	}
	for i := range len(name) {
		b := name[i]
		if b != '_' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
			return "", "", false
		}
	}
	return name, value, true
}

// Edit is one change: the bytes from start to end become text.
type Edit struct {
	start, end int
	text       string
}

// Apply makes the changes. Bytes outside them stay as they are; before a redirection that stood right behind
// a word there is a blank where it would take a number for its own: 2>log is not 2 >log.
func (c Line) Apply(edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	keep := func(text string) {
		if at > 0 && text != "" && (text[0] == '<' || text[0] == '>') && endsInNumber(out.String()) {
			out.WriteByte(' ')
		}
		out.WriteString(text)
	}
	for _, e := range edits {
		if e.start < at {
			continue // overlaps the one before: the first wins
		}
		keep(c.Text[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	keep(c.Text[at:])
	return out.String()
}

// endsInNumber says whether the last word of a text is digits alone. The parser takes a carriage return for a blank.
func endsInNumber(text string) bool {
	last := text[strings.LastIndexAny(text, " \t\r\n")+1:]
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// Quote makes a word that the shell reads back as s.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=:,./@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Argument is one option of a command line: "--name value", "--name=value", "name=value" or "NAME value".
type Argument struct {
	name   string // as typed, with its dashes
	Plain  string // by PlainName
	Value  string
	at     int  // index of the word that holds the value
	name0  int  // index of the word that holds the name
	joined bool // "name=value" in one word
	sure   bool // the value is known: nothing in it is left to the shell
}
