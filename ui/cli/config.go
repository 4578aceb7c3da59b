package cli

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
	"nvpeak/ui/plain"
)

func configCommand(a *app) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   configName,
		Short: "the settings that count, and where each comes from: flag, environment, file or default",
		Long: "config prints every setting with its value and where it comes from. The file is $XDG_CONFIG_HOME/nvpeak/config.toml, or\n" +
			"~/.config/nvpeak/config.toml, or the one that --config names. It is TOML; its keys are the names of the options.",
		Example: "  nvpeak config\n  nvpeak config --config ./night.toml --json",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printConfig(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	var all []string
	for _, row := range a.opt.table() {
		all = append(all, row.flag)
	}
	a.opt.bind(c.Flags(), all...)
	return c
}

// configName is the command that takes every option and uses none.
const configName = "config"

// setting is one row of config.
type setting struct {
	Name   string              `json:"name"`
	Value  sampler.Opt[string] `json:"value"` // null: it is not set
	Origin string              `json:"origin"`
	From   string              `json:"from,omitempty"` // the flag, the variable or the file
	Line   int                 `json:"line,omitempty"`
	Env    string              `json:"environment"`
}

func (a *app) printConfig(asJSON bool) error {
	out := struct {
		Schema   int                 `json:"schema"`
		File     sampler.Opt[string] `json:"file"`
		Found    bool                `json:"found"`
		Settings []setting           `json:"settings"`
		Notes    []string            `json:"notes"`
	}{Schema: sampler.Schema, Found: a.set.found, Notes: append([]string{}, a.set.notes...)}
	if a.set.file != "" {
		out.File = sampler.Some(a.set.file)
	}
	for _, row := range a.opt.table() {
		if row.flag == "config" {
			continue
		}
		from := a.set.origins[row.flag]
		v := setting{Name: row.flag, Origin: from.how, From: from.name, Line: from.line, Env: row.env}
		if text := row.value.String(); text != "" {
			if a.leaves() {
				text = redact.Text(text)
			}
			v.Value = sampler.Some(text)
		}
		out.Settings = append(out.Settings, v)
	}
	w := bufio.NewWriter(a.out)
	if asJSON {
		if err := plain.IndentedJSON(w, out); err != nil {
			return err
		}
		return w.Flush()
	}
	a.configText(w, out.Settings)
	return w.Flush()
}

// configText is a line for the file, and one for each setting.
func (a *app) configText(w *bufio.Writer, list []setting) {
	words, file := a.words(), sampler.Clean(a.set.file)
	switch {
	case a.set.file == "":
		fmt.Fprintln(w, words.Say("config.nowhere"))
	case a.set.found:
		fmt.Fprintln(w, words.Say("config.file", "file", file))
	default:
		fmt.Fprintln(w, words.Say("config.absent", "file", file))
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range list {
		origin := words.Say("config.origin."+v.Origin, "name", v.From, "line", v.Line)
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Name, sampler.Clean(strings.TrimSpace(v.Value.Or("-"))), origin)
	}
	t.Flush() //nolint:errcheck // the writer below remembers it
}
