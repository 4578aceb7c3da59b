package oomlog

import (
	"regexp"
	"strings"
)

// Patterns in the tables are regular expressions with two additions that make them readable and
// forgiving:
//
//   - a blank matches any run of white space, none included, because panels, mail and terminals break
//     messages at blanks and copies lose them;
//   - <name> captures a field of the event (see fieldKinds), <name:kind> a further number or word that
//     goes into Extra under that name.
//
// They ignore case, because people retype messages. "(?-i)" at the front makes a pattern exact.

// captureKind says what a capture looks like and how it is read.
type captureKind string

const (
	kindSize  captureKind = "size"  // "20.00 MiB", "4,770,354,232 bytes"; the unit must be there: messages get cut
	kindBytes captureKind = "bytes" // the same, or a bare number of bytes
	kindMiB   captureKind = "mib"   // a bare number of MiB
	kindGiB   captureKind = "gib"   // a bare number of GiB
	kindKiB   captureKind = "kib"   // a bare number of KiB
	kindInt   captureKind = "int"
	kindNum   captureKind = "num"
	kindWord  captureKind = "word"
	kindName  captureKind = "name"   // of a process: up to 15 bytes of anything, brackets and blanks too
	kindList  captureKind = "list"   // "500,17,17,4032"
	kindEB    captureKind = "phrase" // "more than 1EB memory"
)

const sizeForm = `\d[\d,]*(?:\.\d*)?\s*(?:[KMGTPE]i?B\b|[KMGT]b\b|[KMGT]\b|bytes\b|byte\b|B\b)`

// unsaid is what people write instead of an amount, to tell what the message looks like: it is a message all the same.
const unsaid = `(?:\x3c[^>\n]{1,30}>|\[[^\]\n]{1,30}\]|\.{2,3}|…|\?+|_{2,}|[XYNM#*]{1,4}(?:\.[XYNM#]{1,4})?)(?: (?:[KMGT]i?B|bytes))?`

var captureForm = map[captureKind]string{
	kindSize:  sizeForm,
	kindBytes: sizeForm + `?`,
	kindMiB:   `\d[\d,]*(?:\.\d+)?`,
	kindGiB:   `\d[\d,]*(?:\.\d+)?`,
	kindKiB:   `\d[\d,]*`,
	kindInt:   `\d+`,
	kindNum:   `\d+(?:\.\d+)?`,
	kindWord:  `[^\s'"\x60,;:()\[\]{}]+`,
	kindName:  `[^\n]{1,40}?`,
	kindList:  `[\d, ]*`,
	kindEB:    `more\s+than\s+1\s*EB\s+memory`,
}

// fieldKinds are the captures that fill a field of the event; any other name goes into Extra.
var fieldKinds = map[string]captureKind{
	"req": kindSize, "total": kindSize, "free": kindSize, "proc": kindSize, "alloc": kindSize,
	"unalloc": kindSize, "reserved": kindSize, "pools": kindSize, "limit": kindSize,
	"gpu": kindInt, "rank": kindInt, "pid": kindInt, "frac": kindNum,
	"other_pid": kindInt, "other": kindSize,
}

// template is a compiled pattern and the meaning of its captures.
type template struct {
	re    *lazy
	glued *lazy // for text whose lines were joined without a blank
	names []string
	kinds []captureKind
}

var captureMark = regexp.MustCompile(`<([a-z_]+)(?::([a-z]+))?>`)

// compile reads a pattern of the tables. Tables are checked by a test, so a mistake panics at start.
func compile(text string) *template {
	t := &template{}
	flags := "(?i)"
	if rest, ok := strings.CutPrefix(text, "(?-i)"); ok {
		flags, text = "", rest
	}
	var out strings.Builder
	for text != "" {
		at := captureMark.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(loosen(text))
			break
		}
		out.WriteString(loosen(text[:at[0]]))
		name := text[at[2]:at[3]]
		kind, field := fieldKinds[name]
		if at[4] >= 0 {
			kind = captureKind(text[at[4]:at[5]])
		} else if !field {
			panic("oomlog: capture <" + name + "> needs a kind")
		}
		if captureForm[kind] == "" {
			panic("oomlog: no capture kind " + string(kind))
		}
		t.names, t.kinds = append(t.names, name), append(t.kinds, kind)
		out.WriteString("(" + captureForm[kind] + ")")
		text = text[at[1]:]
	}
	t.re = pattern(flags + out.String())
	t.glued = pattern(flags + strings.ReplaceAll(out.String(), `\b`, ""))
	return t
}

// loosen lets every blank of a pattern match any run of white space; a blank with a + or a count keeps it.
var loosen = strings.NewReplacer(" +", `\s+`, " ?", `\s*`, " *", `\s*`, " {", `\s{`, "[ ", `[\s`, " ]", `\s]`, " ", `\s*`).Replace

func compileAll(patterns []string) []*template {
	out := make([]*template, len(patterns))
	for i, p := range patterns {
		out[i] = compile(p)
	}
	return out
}
