package command

import (
	"slices"
	"strings"
)

// maxCommand bounds the command lines that are read; longer ones are left alone.
const maxCommand = 16 << 10

// word is one word of a command line: where its bytes stand and what the shell makes of it.
type word struct {
	start, end int
	value      string
	operator   bool // ; && || | & ( ) < > and newlines
	expands    bool // holds $…, `…`, so its value is not known
}

// Line is a shell command line split into words that remember their place, so that an
// edit changes the bytes of the words it means and no others.
type Line struct {
	Text  string
	words []word
	// first and last bound the part that starts the training: words[first:last].
	first, last int
	Known       bool // false: empty, too long or with an open quote; nothing is edited then
	options     []Argument
	styled      string // whose options they are
}

// Parse splits a command line as a POSIX shell would, without expanding anything.
func Parse(text string) Line {
	c := Line{Text: text}
	if strings.TrimSpace(text) == "" || len(text) > maxCommand || strings.IndexByte(text, 0) >= 0 {
		return c
	}
	for at := 0; ; {
		at = skipBlank(text, at)
		if at >= len(text) {
			break
		}
		w, good := readWord(text, at)
		if !good {
			return c
		}
		c.words = append(c.words, w)
		at = w.end
	}
	c.first, c.last = c.segment()
	c.Known = c.first < c.last
	c.options = c.readArguments()
	c.styled = c.readStyle()
	return c
}

// skipBlank passes blanks, continued lines and comments.
func skipBlank(s string, at int) int {
	for at < len(s) {
		switch {
		case s[at] == ' ' || s[at] == '\t' || s[at] == '\r':
			at++
		case strings.HasPrefix(s[at:], "\\\n"):
			at += 2
		case strings.HasPrefix(s[at:], "\\\r\n"):
			at += 3
		case s[at] == '#':
			end := strings.IndexByte(s[at:], '\n')
			if end < 0 {
				return len(s)
			}
			at += end
		default:
			return at
		}
	}
	return at
}

const operatorBytes = "\n;&|()<>"

// readWord reads the word or operator at position at. It fails on an open quote.
func readWord(s string, at int) (word, bool) {
	w := word{start: at}
	if strings.IndexByte(operatorBytes, s[at]) >= 0 {
		for w.end = at + 1; w.end < len(s) && s[w.end] == s[at] && s[at] != '\n'; w.end++ {
		}
		w.operator, w.value = true, s[at:w.end]
		return w, true
	}
	var value strings.Builder
	for at < len(s) {
		b := s[at]
		switch {
		case b == ' ' || b == '\t' || b == '\r' || strings.IndexByte(operatorBytes, b) >= 0:
			w.end, w.value = at, value.String()
			return w, true
		case b == '\\' && at+1 < len(s):
			if s[at+1] != '\n' {
				value.WriteByte(s[at+1])
			}
			at += 2
		case b == '\'' || b == '"' || b == '`':
			end := closing(s, at)
			if end < 0 {
				return w, false
			}
			inside := s[at+1 : end]
			w.expands = w.expands || b == '`' || b == '"' && strings.ContainsAny(inside, "$`")
			value.WriteString(inside)
			at = end + 1
		case strings.HasPrefix(s[at:], "$("):
			end := closingParen(s, at+1)
			if end < 0 {
				return w, false
			}
			w.expands = true
			at = end + 1
		default:
			w.expands = w.expands || b == '$'
			value.WriteByte(b)
			at++
		}
	}
	w.end, w.value = at, value.String()
	return w, true
}

// closing finds the quote that ends the one at position at, or -1.
func closing(s string, at int) int {
	quote := s[at]
	for i := at + 1; i < len(s); i++ {
		if s[i] == '\\' && quote != '\'' {
			i++
		} else if s[i] == quote {
			return i
		}
	}
	return -1
}

// closingParen finds the parenthesis that ends the one at position at, or -1.
func closingParen(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '\'', '"', '`':
			if i = closing(s, i); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// launchers start training; the part of a command line that holds one is the part to edit.
var launchers = []string{"python", "python2", "python3", "torchrun", "accelerate", "deepspeed", "yolo", "ultralytics",
	"lightning", "fairseq-train", "fairseq-hydra-train", "srun", "mpirun", "llamafactory-cli", "swift", "axolotl", "composer", "colossalai", "vllm", "uv", "poetry"}

// segment finds the part between separators that starts the training: the last one that
// holds a launcher, else the last one.
func (c Line) segment() (first, last int) {
	found := false
	for at := 0; at < len(c.words); {
		end := at
		for end < len(c.words) && !c.words[end].separates() {
			end++
		}
		stop := at
		for stop < end && !c.words[stop].operator {
			stop++
		}
		if launches := c.launches(at, stop); stop > at && (launches || !found) {
			first, last, found = at, stop, found || launches
		}
		at = end + 1
	}
	return first, last
}

// separates tells operators between commands from those of redirections.
func (w word) separates() bool { return w.operator && !strings.ContainsAny(w.value, "<>") }

func (c Line) launches(first, last int) bool {
	return slices.ContainsFunc(c.words[first:last], func(w word) bool {
		name := lastPart(w.value)
		return slices.Contains(launchers, name) || strings.HasPrefix(name, "python3.")
	})
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
	for at := 0; at < c.last; {
		end := at
		for end < c.last && !c.words[end].separates() {
			end++
		}
		own := at == c.first
		for i := at; i < end; i++ {
			name, value, isAssignment := assignment(c.words[i].value)
			skip := c.words[i].value == "env" || i == at && (c.words[i].value == "export" || c.words[i].value == "set")
			if !isAssignment && !skip {
				break
			}
			exported := own || c.words[at].value == "export" || c.words[at].value == "set"
			if isAssignment && exported && !c.words[i].expands {
				found[name] = value
			}
		}
		at = end + 1
	}
	return found
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

// Apply makes the changes. Bytes outside them stay as they are.
func (c Line) Apply(edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue // overlaps the one before: the first wins
		}
		out.WriteString(c.Text[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.WriteString(c.Text[at:])
	return out.String()
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
