// Package cli is the command line: commands, flags and exit codes. It is the only place
// that wires sources to front ends. A new command is one file and one line in commands.
package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"nvpeak/sampler/child"
)

// commands of the root, in the order of the help.
var commands = []func(*app) *cobra.Command{onceCommand, streamCommand, explainCommand, reportCommand, checkCommand, waitCommand, recordCommand, exportCommand, replayCommand, runCommand, runsCommand, doctorCommand, configCommand, versionCommand}

// Main runs nvpeak and returns its exit code.
func Main(args []string) int {
	switch os.Args[0] {
	case child.HelperName:
		child.MakeRoom()
		return child.Session(args)
	case child.RelayName:
		child.MakeRoom()
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
	a.args = args
	root, help := a.root(), &failing{w: a.out}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		a.completeValues(root)
	}
	root.SetArgs(joined(args))
	root.SetOut(help)
	refuseShells(root)
	return exitCode(cmp.Or(root.ExecuteContext(ctx), help.err), a.err, args...)
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
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		child.MakeRoom()
		return a.read(cmd.Flags())
	}
	root.SetIn(a.in)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(helpCommand(a))
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	return root
}
