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

// tableOf is the rows of the first table below a heading of the README, without its head.
func tableOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range strings.Split(section, "\n") {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("README.md has no table under %q", heading)
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

// The README has one row for each option, with its value, its environment variable and the
// commands that take it.
func TestReadmeOptions(t *testing.T) {
	shown := map[string][]string{}
	for _, row := range tableOf(t, "Options") {
		if len(row) != 4 {
			t.Fatalf("a row of the options has %d cells, not 4: %q", len(row), row)
		}
		shown[row[0]] = row[1:3]
		for _, name := range lang.Names() {
			if row[0] == "`--lang LANG`" && !strings.Contains(row[3], "`"+name+"`") {
				t.Errorf("README.md, Options: %s does not name %s", row[0], name)
			}
		}
	}
	root := silent().root()
	for _, o := range new(options).table() {
		cell, want := shownAs(o), []string{"`" + o.env + "`", strings.Join(takers(root, o.flag), ", ")}
		if got := shown[cell]; !slices.Equal(got, want) {
			t.Errorf("README.md, Options: %s has %q, want | %s | %s | … |", cell, got, cell, strings.Join(want, " | "))
		}
		delete(shown, cell)
	}
	for cell := range shown {
		t.Errorf("README.md, Options: %s is no option", cell)
	}
}

// The README has one row for each command, and none for a command that does not exist.
func TestReadmeCommands(t *testing.T) {
	name := regexp.MustCompile("^`nvpeak(?: ([a-z]+))?\\b")
	var shown []string
	for _, row := range tableOf(t, "Commands") {
		if m := name.FindStringSubmatch(row[0]); m == nil {
			t.Errorf("README.md, Commands: %s does not begin with `nvpeak", row[0])
		} else if m[1] != "" {
			shown = append(shown, m[1])
		}
	}
	root := silent().root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var exist []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			exist = append(exist, c.Name())
		}
	}
	for _, c := range exist {
		if !slices.Contains(shown, c) {
			t.Errorf("README.md, Commands: no row | `nvpeak %s` | … |", c)
		}
	}
	for _, c := range shown {
		if !slices.Contains(exist, c) {
			t.Errorf("README.md, Commands: there is no command %s", c)
		}
	}
}

// What the README promises about a theme or a scenario exists.
func TestReadmeExamples(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^    nvpeak (.*)$`).FindAllStringSubmatch(string(text), -1) {
		line, _, _ := strings.Cut(m[1], "#")
		line, _, _ = strings.Cut(line, "|")
		line, _, _ = strings.Cut(line, ">")
		c, args, err := silent().root().Find(strings.Fields(line))
		if err != nil {
			t.Errorf("README.md: nvpeak %s: %v", line, err)
			continue
		}
		found++
		if err := c.ParseFlags(args); err != nil {
			t.Errorf("README.md: nvpeak %s: %v", line, err)
		}
	}
	if found < 5 {
		t.Errorf("only %d examples found", found)
	}
}
