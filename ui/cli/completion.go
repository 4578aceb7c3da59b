package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/nvml"
	"nvpeak/theme"
	"nvpeak/ui"
	"nvpeak/ui/config"
	"nvpeak/ui/plain"
)

// values are what can stand for a flag or an argument that begins like this, each with a description behind a tab.
type values func(begin string) ([]string, cobra.ShellCompDirective)

// completeValues lets the shells complete values. It is asked for by a command line that completes, and by no other.
func (a *app) completeValues(root *cobra.Command) {
	byFlag := map[string]values{
		"theme": fixed(a.themeValues()...), "demo": fixed(demoValues()...), "lang": fixed(lang.Names()...),
		"plot": fixed(string(plotArea), string(plotLine)), "requests": fixed(string(requestsAuto), string(requestsOn), string(requestsOff)),
		"columns": commaList(ui.ColumnNames), "sort": fixed(ui.SortNames()...), "span": fixed(ui.SpanNames()...),
		"notify": fixed("bell", "desktop", "bell,desktop"), "csv": commaList(plain.FieldNames), "gpu": commaList(a.gpuValues),
		"format": fixed(formatIndex, formatUUID, formatEnv), "recording": recordings,
		"from": sourceValues,
	}
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if v := byFlag[f.Name]; v != nil {
				c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // each once
					return v(begin)
				})
			}
		})
		switch c.Name() {
		case "replay":
			c.ValidArgsFunction = argument(recordings)
		case "report":
			c.ValidArgsFunction = argument(a.reportValues)
		case "explain", "run", "help":
		default:
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// refuseShells lets completion, which is cobra's, refuse what is no shell: it had its help for everything, with exit code 0. It writes
// to where the root does by then.
func refuseShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	var shells []string
	for _, shell := range c.Commands() {
		shell.Args = noArgs
		shells = append(shells, shell.Name())
	}
	c.Use = "completion SHELL"
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("completion for which shell? %s, such as nvpeak completion bash", strings.Join(shells, ", "))
		}
		return usageError{noSuch("shell", args[0], shells)}
	}
}

// sourceValues are the beginnings of sources; where none fits a file is meant.
func sourceValues(begin string) (list []string, _ cobra.ShellCompDirective) {
	for _, s := range []string{"ssh://\tnvpeak or nvidia-smi on other machines", "prometheus://\tthe machines that a server knows", "http://\tthe page of an exporter", "https://\tthe same by TLS"} {
		if strings.HasPrefix(s, begin) {
			list = append(list, s)
		}
	}
	if list == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return list, cobra.ShellCompDirectiveNoSpace
}

func argument(v values) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) { return v(begin) }
}

func fixed(list ...string) values {
	return func(string) ([]string, cobra.ShellCompDirective) { return list, cobra.ShellCompDirectiveNoFileComp }
}

// commaList is a list of values of which several may stand with commas between them.
func commaList(all func() []string) values {
	return func(begin string) (list []string, _ cobra.ShellCompDirective) {
		had := begin[:strings.LastIndexByte(begin, ',')+1]
		for _, v := range all() {
			if name, _, _ := strings.Cut(v, "\t"); !strings.Contains(","+had, ","+name+",") {
				list = append(list, had+v)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func (a *app) themeValues() (list []string) {
	for _, name := range theme.Names() {
		t, _ := theme.Named(name)
		list = append(list, name+"\t"+t.Title)
	}
	return append(list, config.ThemeNames(cmp.Or(a.env("NVPEAK_CONFIG"), config.File(a.env)))...)
}

func demoValues() (list []string) {
	for _, s := range slices.Concat(demo.Scenarios(), demo.Fleets()) {
		list = append(list, s.Name+"\t"+s.Title)
	}
	return append(list, "list\tname them")
}

// gpuTimeout is how long somebody who presses Tab waits for a driver.
const gpuTimeout = time.Second

// gpuValues are the GPUs of this machine, or of the demo.
func (a *app) gpuValues() (list []string) {
	found := make(chan []sampler.Device, 1)
	go func() {
		defer sampler.Guard(func(error) { found <- nil })
		var src sampler.Source = nvml.New(nvml.Options{Library: cmp.Or(a.opt.library, a.env("NVPEAK_NVML")), Clock: sampler.NewSteady()})
		if name := string(a.opt.demo); name != "" {
			src, _ = demo.New(name, sampler.NewScriptClock(time.Now())) //nolint:errcheck // the flag has looked at the name
		}
		inventory, err := src.Open(context.Background())
		if err != nil {
			found <- nil
			return
		}
		found <- inventory.Devices
	}()
	select {
	case devices := <-found:
		for _, d := range devices {
			list = append(list, fmt.Sprintf("%d\t%s", d.Index, sampler.Clean(d.Name)))
		}
	case <-time.After(gpuTimeout):
	}
	return list
}

// reportValues are black boxes of run and recordings.
func (a *app) reportValues(begin string) (list []string, _ cobra.ShellCompDirective) {
	files, directive := recordings(begin)
	for i, b := range boxes(a.runsDirectory()) {
		if i == 0 {
			list = append(list, "LAST\tthe newest black box of run")
		}
		list = append(list, b.name+"\ta black box of run")
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !strings.HasPrefix(name, begin) })
	if len(list) > 0 {
		directive &^= cobra.ShellCompDirectiveNoSpace
	}
	return append(list, files...), directive
}

// tapeEndings are how the names of recordings and of logs of nvidia-smi end.
var tapeEndings = []string{".jsonl", ".zst", ".gz", ".csv", ".log", ".txt", ".xml", ".json"}

// recordings are the files that may hold one, and the directories on the way to them.
func recordings(begin string) (list []string, _ cobra.ShellCompDirective) {
	dir, _ := filepath.Split(begin)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case !strings.HasPrefix(name, begin) || e.Name()[0] == '.' && begin == dir:
		case e.IsDir():
			list, directive = append(list, name+"/"), directive|cobra.ShellCompDirectiveNoSpace
		case slices.Contains(tapeEndings, filepath.Ext(name)):
			list = append(list, name)
		}
	}
	return list, directive
}
