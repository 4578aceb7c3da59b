package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Widths of help, in columns.
const (
	pipedHelp = 80 // where it goes to no terminal
	widest    = 120
	leastText = 32 // of an option, beside its name
	mostNames = 32
)

// help prints what a command is for, wrapped at words to the width of the terminal.
func (a *app) help(cmd *cobra.Command, _ []string) {
	width := pipedHelp
	if a.isTerminal(a.out) {
		width = min(a.textOptions().Width, widest)
	}
	writeHelp(cmd.OutOrStdout(), cmd, width)
}

func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "help for a command",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, c := range cmd.Root().Commands() {
				names = append(names, c.Name()+"\t"+c.Short)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args[0])
			}
			of.InitDefaultHelpFlag()
			a.help(of, nil)
			return nil
		},
	}
}

// writeHelp writes the help of a command on so many columns.
func writeHelp(to io.Writer, cmd *cobra.Command, width int) {
	w := bufio.NewWriter(to)
	defer w.Flush() //nolint:errcheck // failing remembers it
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(w, "%s\nUsage:\n", reflow(text, width))
	if cmd.Runnable() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				rows = append(rows, [2]string{"  " + c.Name(), c.Short})
			}
		}
		twoColumns(w, rows, width)
	}
	for _, g := range optionGroups(cmd) {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		var rows [][2]string
		for _, f := range g.flags {
			rows = append(rows, [2]string{flagSyntax(f), flagHelp(f)})
		}
		twoColumns(w, rows, width)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help has more on a command.\n", cmd.CommandPath())
	}
}

// optionGroup is the options of a command that belong together.
type optionGroup struct {
	title string
	flags []*pflag.Flag
}

// optionGroups are the options of a command: its own first.
func optionGroups(cmd *cobra.Command) (list []optionGroup) {
	shared := map[string]string{}
	titles := []string{"Options of " + cmd.Name()}
	for _, row := range new(options).table() {
		shared[row.flag] = row.group
		if !slices.Contains(titles, row.group) {
			titles = append(titles, row.group)
		}
	}
	for _, title := range titles {
		g := optionGroup{title: title}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if group, ok := shared[f.Name]; !f.Hidden && (group == title || !ok && title == titles[0]) {
				g.flags = append(g.flags, f)
			}
		})
		if len(g.flags) > 0 {
			list = append(list, g)
		}
	}
	return list
}

// flagSyntax is how a flag is typed, in the first column.
func flagSyntax(f *pflag.Flag) string {
	text := "      --" + f.Name
	if f.Shorthand != "" {
		text = "  -" + f.Shorthand + ", --" + f.Name
	}
	switch name, _ := pflag.UnquoteUsage(f); {
	case f.Value.Type() == "bool" || name == "":
		return text
	case f.NoOptDefVal != "":
		return text + "[=" + name + "]"
	default:
		return text + " " + name
	}
}

// flagHelp is what a flag is for, with its default.
func flagHelp(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if f.DefValue != "" && !slices.Contains([]string{"0", "false", "0s", "[]"}, f.DefValue) {
		text += " (default " + f.DefValue + ")"
	}
	return text
}

// twoColumns writes names and texts side by side, or where that leaves too little room one below the other.
func twoColumns(w io.Writer, rows [][2]string, width int) {
	column := 0
	for _, r := range rows {
		column = max(column, min(utf8.RuneCountInString(r[0])+3, mostNames))
	}
	if width-column < leastText {
		column = 8
	}
	for _, r := range rows {
		lines := wrap(r[1], max(width-column, 12))
		gap := column - utf8.RuneCountInString(r[0])
		if gap < 2 {
			fmt.Fprintln(w, r[0])
		} else {
			fmt.Fprintf(w, "%s%s%s\n", r[0], strings.Repeat(" ", gap), lines[0])
			lines = lines[1:]
		}
		for _, line := range lines {
			fmt.Fprintln(w, strings.Repeat(" ", column)+line)
		}
	}
}

// reflow wraps the paragraphs of a text. Lines that are indented stay as they are.
func reflow(text string, width int) string {
	var b, paragraph strings.Builder
	end := func() {
		if paragraph.Len() > 0 {
			b.WriteString(strings.Join(wrap(paragraph.String(), width), "\n") + "\n")
			paragraph.Reset()
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line == "" || line[0] == ' ' || line[0] == '\t' {
			end()
			b.WriteString(line + "\n")
			continue
		}
		paragraph.WriteString(line + " ")
	}
	end()
	return b.String()
}

// wrap breaks a text at its words into lines; a word that is wider has a line of its own. There is at least one line.
func wrap(text string, width int) []string {
	lines, n := []string{""}, 0
	for _, word := range strings.Fields(text) {
		last, w := len(lines)-1, utf8.RuneCountInString(word)
		switch {
		case n == 0:
			lines[last], n = word, w
		case n+1+w <= width:
			lines[last], n = lines[last]+" "+word, n+1+w
		default:
			lines, n = append(lines, word), w
		}
	}
	return lines
}
