package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nvpeak/ui/plain"
)

// joined are the arguments with the value of --demo, --csv and, of run, --record, which need none, joined to the flag where it stands
// behind a space, as that of every other flag may. What follows the name of a command that is run is its own.
func joined(args []string) []string {
	if i := slices.Index(args, "run"); i >= 0 && i < 2 {
		return slices.Concat(joinedIn(args[:i+1]), joinedRun(args[i+1:]))
	}
	return joinedIn(args)
}

// joinedRun joins among the flags of run, up to its command. `run --demo leak` runs leak, but before -- no command stands, and
// one is not called as a recording is.
func joinedRun(args []string) []string {
	flags := runCommand(&app{}).Flags()
	for i := 0; i+1 < len(args) && len(args[i]) > 1 && args[i][0] == '-' && args[i] != "--"; i++ {
		name := strings.TrimLeft(args[i], "-")
		f := flags.Lookup(name)
		if len(name) == 1 {
			f = flags.ShorthandLookup(name)
		}
		beforeCommand := i+2 < len(args) && args[i+2] == "--"
		switch {
		case f == nil: // its value is behind =
		case f.NoOptDefVal == "":
			i++
		case isValue(args[i], args[i+1]) && (beforeCommand || name == "record"):
			args = slices.Concat(args[:i], []string{args[i] + "=" + args[i+1]}, args[i+2:])
		}
	}
	return args
}

func joinedIn(args []string) (list []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return append(list, args[i:]...)
		case i+1 < len(args) && isValue(args[i], args[i+1]):
			list = append(list, args[i]+"="+args[i+1])
			i++
		default:
			list = append(list, args[i])
		}
	}
	return list
}

// isValue says whether a word is a value of a flag that can do without one.
func isValue(flag, word string) bool {
	switch flag {
	case "--demo":
		return new(demoFlag).Set(word) == nil
	case "--csv":
		_, err := plain.Fields(strings.Split(word, ","))
		return err == nil
	case "--record":
		return strings.HasSuffix(word, ".jsonl") || strings.HasSuffix(word, ".jsonl.zst")
	}
	return false
}

// noArgs refuses words that are no command, naming what was probably meant, or what there is.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if f := cmd.Flags().Lookup("demo"); f != nil && f.Changed {
		if near := nearest(args[0], scenarioNames()); near != "" {
			return usagef("%s takes no %q: did you mean --demo=%s?", cmd.CommandPath(), args[0], near)
		}
	}
	if !cmd.HasSubCommands() {
		return usagef("%s takes no %q: only flags", cmd.CommandPath(), args[0])
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	if near := nearest(word, names); near != "" {
		return usagef("unknown command %q: did you mean %s %s?", word, root.Name(), near)
	}
	return usagef("unknown command %q: the commands are %s", word, strings.Join(names, ", "))
}

// flagError says what is wrong with a flag in the words of nvpeak.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	var number *strconv.NumError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool":
		return usagef("--%s takes no value: %q is neither true nor false", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &invalid) && errors.As(invalid.Unwrap(), &number):
		return usagef("--%s: %q is no whole number", invalid.GetFlag().Name, number.Num)
	case errors.As(err, &invalid):
		return usagef("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	case errors.As(err, &bare):
		value, help := pflag.UnquoteUsage(bare.GetFlag())
		return usagef("--%s needs its %s: %s", bare.GetFlag().Name, value, help)
	}
	return usageError{err}
}

// unknownFlag says of a flag that the command does not take which commands take it, and of one that none takes what was
// probably meant, or which flags there are.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	flag := err.GetSpecifiedName()
	if list := takers(cmd.Root(), flag); len(list) > 0 {
		dashes := "--"
		if err.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return usagef("%s does not take %s%s: it is an option of %s", cmd.CommandPath(), dashes, flag, strings.Join(list, ", "))
	}
	own := flagNames(cmd)
	if near := nearest(flag, own); near != "" && len(flag) > 1 {
		return usagef("%w: did you mean --%s?", err, near)
	}
	var all []string
	for _, c := range cmd.Root().Commands() {
		all = append(all, flagNames(c)...)
	}
	if near := nearest(flag, append(all, flagNames(cmd.Root())...)); near != "" && len(flag) > 1 {
		return usagef("%w: did you mean --%s? It is an option of %s", err, near, strings.Join(takers(cmd.Root(), near), ", "))
	}
	return usagef("%w: the flags are --%s", err, strings.Join(own, ", --"))
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	return names
}

// takers are the commands that take a flag, given in full or as its letter.
func takers(root *cobra.Command, flag string) (names []string) {
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		known := c.Flags().Lookup(flag)
		if len(flag) == 1 {
			known = c.Flags().ShorthandLookup(flag)
		}
		switch {
		case known == nil || c.Name() == configName:
		case c == root:
			names = append(names, "the monitor")
		default:
			names = append(names, c.Name())
		}
	}
	return names
}
