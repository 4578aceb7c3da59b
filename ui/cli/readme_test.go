package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"nvpeak/advice/lang"
)

const readme, commandsDoc = "README.md", "docs/commands.md"

// document is a file of the repository, by its path from the root.
func document(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tableOf is the rows of the first table below a heading of a document, without its head.
func tableOf(t *testing.T, file, heading string) (rows [][]string) {
	t.Helper()
	_, section, ok := strings.Cut(document(t, file), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no heading %q", file, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range strings.Split(section, "\n") {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("%s has no table under %q", file, heading)
	}
	return rows[2:]
}

// shownAs is the flag cell of the README for a row of the options table.
func shownAs(o option) string {
	name, _ := pflag.UnquoteUsage(&pflag.Flag{Name: o.flag, Usage: o.help, Value: o.value})
	long := "--" + o.flag
	switch {
	case o.value.Type() == "bool":
	case o.optional != "":
		long += "[=" + name + "]"
	default:
		long += " " + name
	}
	cell := "`" + long + "`"
	if o.short != "" {
		cell = "`-" + o.short + "`, " + cell
	}
	return cell
}

// silent is nvpeak with nothing to read, nothing to write and no environment.
func silent() *app {
	return &app{in: strings.NewReader(""), out: &strings.Builder{}, err: &strings.Builder{}, env: func(string) string { return "" }}
}

// There is one row for each option, with its value, its environment variable and the
// commands that take it.
func TestReadmeOptions(t *testing.T) {
	shown := map[string][]string{}
	for _, row := range tableOf(t, commandsDoc, "Options") {
		if len(row) != 4 {
			t.Fatalf("a row of the options has %d cells, not 4: %q", len(row), row)
		}
		shown[row[0]] = row[1:3]
		for _, name := range lang.Names() {
			if row[0] == "`--lang LANG`" && !strings.Contains(row[3], "`"+name+"`") {
				t.Errorf("%s, Options: %s does not name %s", commandsDoc, row[0], name)
			}
		}
	}
	root := silent().root()
	for _, o := range new(options).table() {
		cell, want := shownAs(o), []string{"`" + o.env + "`", strings.Join(takers(root, o.flag), ", ")}
		if got := shown[cell]; !slices.Equal(got, want) {
			t.Errorf("%s, Options: %s has %q, want | %s | %s | … |", commandsDoc, cell, got, cell, strings.Join(want, " | "))
		}
		delete(shown, cell)
	}
	for cell := range shown {
		t.Errorf("%s, Options: %s is no option", commandsDoc, cell)
	}
}

// Both tables name each command, and none that does not exist.
func TestReadmeCommands(t *testing.T) {
	root := silent().root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var exist []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			exist = append(exist, c.Name())
		}
	}
	for _, file := range []string{readme, commandsDoc} {
		shown := commandsOf(t, file)
		for _, c := range exist {
			if !slices.Contains(shown, c) {
				t.Errorf("%s, Commands: no row | `nvpeak %s` | … |", file, c)
			}
		}
		for _, c := range shown {
			if !slices.Contains(exist, c) {
				t.Errorf("%s, Commands: there is no command %s", file, c)
			}
		}
	}
}

// commandsOf is the commands that the table of a document names, some rows several of them.
func commandsOf(t *testing.T, file string) (shown []string) {
	t.Helper()
	name := regexp.MustCompile("`nvpeak(?: ([a-z]+))?\\b")
	for _, row := range tableOf(t, file, "Commands") {
		if !strings.HasPrefix(row[0], "`nvpeak") {
			t.Errorf("%s, Commands: %s does not begin with `nvpeak", file, row[0])
		}
		for _, m := range name.FindAllStringSubmatch(row[0], -1) {
			if m[1] != "" {
				shown = append(shown, m[1])
			}
		}
	}
	return shown
}

// The commands of the examples exist and take the flags that are given to them.
func TestReadmeExamples(t *testing.T) {
	for file, atLeast := range map[string]int{readme: 8, commandsDoc: 7} {
		found := 0
		for _, m := range regexp.MustCompile(`(?m)^(?: +| *\$ )nvpeak( .*)?$`).FindAllStringSubmatch(document(t, file), -1) {
			line, _, _ := strings.Cut(m[1], "#")
			line, _, _ = strings.Cut(line, "|")
			line, _, _ = strings.Cut(line, ">")
			c, args, err := silent().root().Find(strings.Fields(line))
			if err != nil {
				t.Errorf("%s: nvpeak %s: %v", file, line, err)
				continue
			}
			found++
			if err := c.ParseFlags(args); err != nil {
				t.Errorf("%s: nvpeak %s: %v", file, line, err)
			}
		}
		if found < atLeast {
			t.Errorf("%s: only %d examples found", file, found)
		}
	}
}

// What the README shows of commands over files of the repository is what they print. Lines may
// be left out.
func TestReadmeOutputs(t *testing.T) {
	text := document(t, readme)
	t.Chdir("../..")
	blocks := regexp.MustCompile("(?ms)^ *```console\n *\\$ nvpeak ([^\n]*testdata[^\n]*)\n(.*?)^ *```").FindAllStringSubmatch(text, -1)
	if len(blocks) < 2 {
		t.Fatalf("only %d outputs found", len(blocks))
	}
	for _, block := range blocks {
		var out strings.Builder
		a := silent()
		a.out = &out
		a.run(t.Context(), strings.Fields(block[1]))
		rest := out.String()
		for _, line := range strings.Split(strings.TrimSpace(block[2]), "\n") {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(line)+"\n")
			if !ok {
				t.Errorf("README.md: nvpeak %s does not print %q there, but:\n%s", block[1], line, out.String())
				break
			}
			rest = after
		}
	}
}
