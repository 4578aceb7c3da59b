package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Man is the manual pages by their file names, for packages: nvpeak.1 and one for each command. The date is that of the
// release, YYYY-MM-DD.
func Man(version, date string) map[string]string {
	root := (&app{env: func(string) string { return "" }}).root()
	pages := map[string]string{}
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		c.InitDefaultHelpFlag()
		if c == root || c.IsAvailableCommand() && c.Name() != "help" {
			name := strings.ReplaceAll(c.CommandPath(), " ", "-")
			pages[name+".1"] = manPage(c, name, version, date)
		}
	}
	return pages
}

// manPage is the page of a command, in the macros of man(7).
func manPage(c *cobra.Command, name, version, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s %s %s\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roffWord(strings.ToUpper(name)), roffWord(date), roffWord("nvpeak "+version),
		roffWord("User Commands"), roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".B %s\n", roff(c.UseLine()))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".br\n.B %s\n", roff(c.CommandPath()+" COMMAND [flags]"))
	}
	if c.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		manText(&b, c.Long)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	b.WriteString(".SH OPTIONS\n")
	variables := map[string]string{}
	for _, row := range new(options).table() {
		variables[row.flag] = row.env
	}
	for _, g := range optionGroups(c) {
		fmt.Fprintf(&b, ".SS %s\n", roffWord(g.title))
		for _, f := range g.flags {
			manOption(&b, f, variables[f.Name])
		}
	}
	if c.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	}
	manEnd(&b, c)
	return b.String()
}

// manEnd is what every page ends with.
func manEnd(b *strings.Builder, c *cobra.Command) {
	b.WriteString(".SH FILES\n.TP\n.I ~/.config/nvpeak/config.toml\nThe settings, by the names of the options; nvpeak\\-config(1) prints those that count.\n")
	b.WriteString(".SH EXIT STATUS\n0 fine, 1 failed, 2 wrong usage, 3 the answer of check and wait is no, 128+n ended by signal n; of run that of the command.\n")
	b.WriteString(".SH SEE ALSO\n")
	var list []string
	for _, other := range append([]*cobra.Command{c.Root()}, c.Root().Commands()...) {
		if other != c && other.IsAvailableCommand() {
			list = append(list, ".BR "+roff(strings.ReplaceAll(other.CommandPath(), " ", "-"))+" (1)")
		}
	}
	b.WriteString(strings.Join(list, ",\n") + "\n")
}

func manOption(b *strings.Builder, f *pflag.Flag, variable string) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(flagSyntax(f))), roff(flagHelp(f)))
	if variable != "" {
		fmt.Fprintf(b, ".br\nEnvironment: %s\n", roff(variable))
	}
}

// manText writes paragraphs; indented lines are shown as they are.
func manText(b *strings.Builder, text string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case line[0] == ' ' || line[0] == '\t':
			fmt.Fprintf(b, ".br\n\\ \\ %s\n.br\n", roff(strings.TrimSpace(line)))
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
}

// roff is a text in which nothing is an order to the formatter.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\&...`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffWord is a text as one argument of a macro.
func roffWord(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
