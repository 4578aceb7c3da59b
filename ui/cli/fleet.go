package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"nvpeak/sampler/fleet"
	"nvpeak/ui/config"
)

// sourcesFlag are the sources of --from, each as often as it is given.
type sourcesFlag []string

// noSources is a --from that takes none, where a settings file or the environment names some.
const noSources = "none"

func (s *sourcesFlag) String() string { return strings.Join(*s, " ") }
func (s *sourcesFlag) Type() string   { return "SOURCE" }

// Set adds sources: one, or several with blanks between them, or with commas, after which another ://, or a hosts.toml, begins.
func (s *sourcesFlag) Set(text string) error {
	if text == noSources {
		*s = nil
		return nil
	}
	list := splitSources(text)
	if len(list) == 0 {
		return errors.New("an empty source: " + fleet.Forms)
	}
	for _, one := range list {
		if isHostsFile(one) {
			continue // read when it is needed
		}
		if _, err := fleet.Parse(one); err != nil {
			return err
		}
	}
	*s = append(slices.Clone(*s), list...)
	return nil
}

func splitSources(text string) (list []string) {
	matching := false // within the braces of a match, which may have blanks
	words := strings.FieldsFunc(text, func(r rune) bool {
		matching = r == '{' || matching && r != '}'
		return !matching && unicode.IsSpace(r)
	})
	for _, word := range words {
		for i, part := range strings.Split(word, ",") {
			if i > 0 && !strings.Contains(part, "://") && !isHostsFile(part) {
				list[len(list)-1] += "," + part // another host
				continue
			}
			list = append(list, part)
		}
	}
	return list
}

// isHostsFile says whether a source is the name of a file.
func isHostsFile(source string) bool {
	return !strings.Contains(source, "://") && (strings.HasSuffix(source, ".toml") || strings.ContainsRune(source, os.PathSeparator))
}

// fleetEnd is how long the end waits for what was begun on other machines to be ended.
const fleetEnd = 3 * time.Second

// remote says whether other machines are asked for: by the command line, or elsewhere, and the command line wants nothing of this one.
func (a *app) remote() bool {
	if len(a.opt.from) == 0 {
		return false
	}
	return a.set.origins["from"].how == fromFlag || !slices.ContainsFunc(local, func(name string) bool { return a.set.origins[name].how == fromFlag })
}

// fleet begins to follow the hosts that --from names. end stops it, here and there.
func (a *app) fleet(ctx context.Context) (stream fleet.Stream, end func(), err error) {
	specs, err := a.specs()
	if err != nil {
		return nil, nil, err
	}
	a.runLean()
	f, err := fleet.Open(ctx, specs, fleet.Options{Interval: a.opt.interval, PeakInterval: a.opt.peakInterval, GPUs: a.opt.gpus})
	if err != nil {
		return nil, nil, usageError{err}
	}
	return f, func() { f.Close(fleetEnd) }, nil
}

// specs are the sources that --from names.
func (a *app) specs() (specs []fleet.Spec, err error) {
	for _, source := range a.opt.from {
		list, err := specsOf(source)
		if err != nil {
			return nil, usageError{err}
		}
		specs = append(specs, list...)
	}
	return specs, nil
}

func specsOf(source string) ([]fleet.Spec, error) {
	if !isHostsFile(source) {
		return fleet.Parse(source)
	}
	entries, err := config.ReadTables(source)
	if err != nil {
		return nil, err
	}
	return hostsOf(source, entries)
}

// local are the options that are about this machine alone.
var local = []string{"nvml-lib", "demo", "requests", "log"}

// elsewhere refuses, with --from, what only this machine can do.
func (a *app) elsewhere(more ...string) error {
	for _, name := range slices.Concat(local, more) {
		if from, ok := a.set.origins[name]; ok && from.how == fromFlag {
			return usagef("--%s and --from exclude each other: it is about this machine alone", name)
		}
	}
	return nil
}

// fleetMonitor is the screen over other machines.
func (a *app) fleetMonitor(cmd *cobra.Command, troubles <-chan string) error {
	if err := a.elsewhere("record"); err != nil {
		return err
	}
	stream, end, err := a.fleet(cmd.Context())
	if err != nil {
		return err
	}
	defer end()
	return a.monitorFleet(cmd, stream, "", troubles)
}
