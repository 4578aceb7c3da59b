package command

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// PlainName makes names comparable: no dashes, underscores only, lower case, no path "a.b.".
func PlainName(s string) string {
	s = strings.TrimLeft(s, "-+~")
	s = s[strings.LastIndexByte(s, '.')+1:]
	return strings.ToLower(strings.ReplaceAll(s, "-", "_"))
}

// Arguments are the options of the training command in their order. A lone "--flag" has no value.
func (c Line) Arguments() []Argument { return c.options }

func (c Line) readArguments() []Argument {
	if !c.Known {
		return nil
	}
	var list []Argument
	for i := c.first; i < c.last; i++ {
		w := c.words[i]
		name, value, joined := strings.Cut(w.value, "=")
		switch {
		case joined && PlainName(name) != "" && i > c.first && !c.text(i):
			list = append(list, Argument{name, PlainName(name), value, i, i, true, !w.expands})
		case glued.Get().MatchString(w.value):
			digits := strings.TrimLeft(w.value, "-bs")
			name := strings.TrimSuffix(w.value, digits)
			list = append(list, Argument{name, PlainName(name), digits, i, i, true, true})
		case strings.HasPrefix(w.value, "-") && len(w.value) > 1:
			a := Argument{name: w.value, Plain: PlainName(w.value), at: i, name0: i}
			if i+1 < c.last && (!strings.HasPrefix(c.words[i+1].value, "-") || isNumber(c.words[i+1].value)) {
				a.Value, a.at, a.sure = c.words[i+1].value, i+1, !c.words[i+1].expands
			}
			list = append(list, a)
		case i+1 < c.last && isNumber(c.words[i+1].value) && strings.Contains(w.value, "."):
			list = append(list, Argument{w.value, PlainName(w.value), c.words[i+1].value, i + 1, i, false, true}) // SOLVER.IMS_PER_BATCH 16
		}
	}
	return list
}

// glued is a batch without a blank before it.
var glued = sampler.Pattern{Source: `^-bs?[1-9]\d*$`}

// text: a word is the value of an option that takes anybody's words, such as --comment "batch_size=32".
func (c Line) text(at int) bool {
	before := c.words[at-1].value
	return strings.HasPrefix(before, "-") && !strings.HasPrefix(c.words[at].value, "-") && !strings.Contains(before, "=") &&
		slices.ContainsFunc(textNames, func(part string) bool { return strings.Contains(PlainName(before), part) })
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Find is the option with one of these names, the first name first; of one name the last
// option, as argparse has it.
func (c Line) Find(names ...string) (Argument, bool) {
	return c.findWhere(func(Argument) bool { return true }, names...)
}

// findWhere is find among the options that pass a test.
func (c Line) findWhere(test func(Argument) bool, names ...string) (Argument, bool) {
	list := c.Arguments()
	for _, name := range names {
		for _, a := range slices.Backward(list) {
			if a.Plain == name && test(a) {
				return a, true
			}
		}
	}
	return Argument{}, false
}

// SwitchedOn says whether a yes-or-no option with one of these names is on:
// "--bf16", "--bf16 true", "bf16=True". known is false when the command does not say.
func (c Line) SwitchedOn(names ...string) (on, known bool) {
	a, found := c.Find(names...)
	if !found {
		return false, false
	}
	switch strings.ToLower(a.Value) {
	case "false", "0", "no", "off", "none", "null", "disable", "disabled":
		return false, true
	}
	return true, true
}

func (c Line) any(test func(name string) bool) bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool { return test(a.name) })
}

func (c Line) has(name string) bool { return c.any(func(n string) bool { return n == name }) }

// HasPlain says whether one of the options is there, by its name in lower case with underscores.
func (c Line) HasPlain(names ...string) bool { _, found := c.Find(names...); return found }

// Prefixed says whether some option begins so.
func (c Line) Prefixed(p string) bool {
	return c.any(func(n string) bool { return strings.HasPrefix(n, p) })
}

// bare says whether "name=value" stands without dashes.
func (c Line) bare(name string) bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool { return a.joined && a.name == name })
}

// dotted says whether "a.b=c" or "+a=c" overrides stand without dashes.
func (c Line) dotted() bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool {
		return a.joined && !strings.HasPrefix(a.name, "-") && !strings.Contains(a.name, "/")
	})
}

// Words are the words of the command as the shell would pass them, paths by their last part.
func (c Line) Words() []string {
	var list []string
	for _, w := range c.part() {
		list = append(list, lastPart(w.value))
	}
	return list
}

func isWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// visionTasks stand before the mode in a command of Ultralytics, and do not say what is done: yolo detect train
// (https://docs.ultralytics.com/usage/cli/).
var visionTasks = []string{"detect", "segment", "classify", "pose", "obb"}

// Scripts are what the command runs: Python files, modules after -m, and subcommands.
func (c Line) Scripts() []string {
	var list []string
	words := c.part()
	for i, w := range words {
		name := lastPart(w.value)
		switch {
		case strings.HasPrefix(w.value, "-"):
		case strings.HasSuffix(name, ".py") || strings.HasSuffix(name, ".ipynb") || strings.HasSuffix(name, ".sh"):
			list = append(list, name)
		case i > 0 && words[i-1].value == "-m":
			list = append(list, name)
		case strings.HasPrefix(w.value, "mode="):
			list = append(list, strings.TrimPrefix(name, "mode="))
		case i > 0 && i < 4 && isWord(name) && !(slices.Contains(visionTasks, name) && c.Runs("yolo", "ultralytics")):
			list = append(list, name) // a subcommand
		}
	}
	return list
}
