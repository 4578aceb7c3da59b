// Package cli is the command line: commands, flags and exit codes. It is the only place
// that wires sources to front ends. A new command is one file and one line in commands.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nvpeak/sampler/child"
)

// commands of the root, in the order of the help.
var commands = []func(*app) *cobra.Command{onceCommand, streamCommand, explainCommand, reportCommand, checkCommand, waitCommand, recordCommand, replayCommand, runCommand, runsCommand, doctorCommand, versionCommand}

// Main runs nvpeak and returns its exit code.
func Main(args []string) int {
	switch os.Args[0] {
	case child.HelperName:
		return child.Session(args)
	case child.RelayName:
		return child.Relay()
	}
	a := &app{in: os.Stdin, out: output(), err: os.Stderr, env: os.Getenv}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of Write, not a death
	ctx, stop := signalContext()
	defer stop()
	code := a.run(ctx, args)
	child.Interrupt(code)
	return code
}

// signalContext ends with a signalError as its cause.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if s, ok := (<-ch).(syscall.Signal); ok {
			cancel(signalError{s})
		}
	}()
	return ctx, func() { signal.Stop(ch); cancel(nil) }
}

func (a *app) run(ctx context.Context, args []string) int {
	root, help := a.root(), &failing{w: a.out}
	root.SetArgs(args)
	root.SetOut(help)
	return exitCode(cmp.Or(root.ExecuteContext(ctx), help.err), a.err)
}

// failing remembers why a text could not be written: help looks at no error.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	f.err = cmp.Or(f.err, err)
	return n, err
}

func (a *app) root() *cobra.Command {
	root := monitorCommand(a)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.opt.read(cmd.Flags(), a.env) }
	root.SetIn(a.in)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	return root
}

// flagError says of a flag that the command does not take which commands take it, and of
// one that none takes which flags there are.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError{err}
	}
	flag := unknown.GetSpecifiedName()
	if list := takers(cmd.Root(), flag); len(list) > 0 {
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return usagef("%s does not take %s%s: it is an option of %s", cmd.CommandPath(), dashes, flag, strings.Join(list, ", "))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	slices.Sort(names)
	return usagef("%w: the flags are %s", err, strings.Join(names, ", "))
}

// takers are the commands that take a flag, given in full or as its letter.
func takers(root *cobra.Command, flag string) (names []string) {
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		known := c.Flags().Lookup(flag)
		if len(flag) == 1 {
			known = c.Flags().ShorthandLookup(flag)
		}
		switch {
		case known == nil:
		case c == root:
			names = append(names, "the monitor")
		default:
			names = append(names, c.Name())
		}
	}
	return names
}
