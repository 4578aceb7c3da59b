package command

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// OfArgs is the command line of a program that is started with these arguments. The first word is quoted, for it may
// be one that a shell takes for its own.
func OfArgs(args []string) Line {
	words := make([]string, len(args))
	for i, arg := range args {
		if words[i] = Quote(arg); i == 0 && words[i] == arg {
			words[i] = "'" + arg + "'"
		}
	}
	return Parse(strings.Join(words, " "))
}

// Argv are the words of a line that is one simple command of which nothing is left to a shell: no value, and
// no operator.
func (c Line) Argv() (args []string, ok bool) {
	if !c.Known || len(c.commands) != 1 {
		return nil, false
	}
	at := 0
	for _, w := range c.words {
		if w.expands || strings.TrimSpace(c.Text[at:w.start]) != "" {
			return nil, false
		}
		args, at = append(args, w.value), w.end
	}
	return args, strings.TrimSpace(c.Text[at:]) == ""
}

// Launching is how many commands of the line start a program that may train.
func (c Line) Launching() (n int) {
	for _, at := range c.commands {
		if c.launches(at[0], at[1]) {
			n++
		}
	}
	return n
}

// Append adds words behind those of the command that starts the training.
func (c Line) Append(words []string) (string, bool) {
	if !c.Known {
		return "", false
	}
	text := ""
	for _, w := range words {
		text += " " + Quote(w)
	}
	end := c.words[c.last-1].end
	return c.Apply([]Edit{{end, end, text}}), true
}

// Typed is the name of an option as it was typed, with its dashes.
func (a Argument) Typed() string { return a.name }

// OfProgram says whether an option is the program's and not that of a launcher before it, such as -b of python
// itself: it stands behind the script, where there is one, or is a variable that env sets for it.
func (c Line) OfProgram(a Argument) bool {
	script := slices.IndexFunc(c.part(), func(w word) bool {
		return strings.HasSuffix(w.value, ".py") || strings.HasSuffix(w.value, ".sh") || w.value == "-m"
	})
	return script < 0 || a.name0 > c.first+script || c.ofEnv(a)
}

// ofEnv: the word is one of those that env takes as variables.
func (c Line) ofEnv(a Argument) bool {
	variable := func(w word) bool { return strings.Contains(w.value, "=") && !strings.HasPrefix(w.value, "-") }
	at := a.name0
	for at > c.first && variable(c.words[at]) {
		at--
	}
	return at < a.name0 && filepath.Base(c.words[at].value) == "env"
}

// HalfBatch divides the training batch by two and leaves everything else as it is.
func (c Line) HalfBatch() (Suggestion, bool) {
	a, batch, ok := c.BatchArgument()
	if !ok || batch < 2 {
		return Suggestion{}, false
	}
	smaller, _ := SplitBatch(batch, 2)
	return Suggestion{Text: c.Apply([]Edit{c.ReplaceValue(a, strconv.Itoa(smaller))}), Batch: smaller, Before: batch}, true
}
