// Package cli is the command line: commands, flags and exit codes. It is the only place
// that wires sources to faces. A new command is one file and one line in commands.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nvpeak/sampler"
)

// Exit codes that users and scripts rely on.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitNo     = 3 // the answer of check and wait is no
)

// usageError is an error in what was typed.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// signalError ends the program because of a signal, after the terminal was restored.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// app is what the commands share: the streams, the flags, the environment.
type app struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	env func(string) string
	opt options

	recorder *recorder // gathers readings; nil: nothing is recorded
}

// commands of the root, in the order of the help.
var commands = []func(*app) *cobra.Command{onceCommand, streamCommand, explainCommand, reportCommand, checkCommand, waitCommand, recordCommand, replayCommand, doctorCommand, versionCommand}

// Main runs nvpeak and returns its exit code.
func Main(args []string) int {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of Write, not a death
	ctx, stop := signalContext()
	defer stop()
	return a.run(ctx, args)
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
	root := a.root()
	root.SetArgs(args)
	return a.report(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "nvpeak",
		Short: "Terminal monitor for NVIDIA GPUs that keeps the true peak of their memory",
		Long: "nvpeak shows every NVIDIA GPU with the true peak of its memory, says whether the next\n" +
			"allocation fits, and warns before the out-of-memory error. Without a GPU: nvpeak --demo",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          a.monitor,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	a.opt.bind(root.PersistentFlags(), a.env)
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	return root
}

// noArgs refuses words that are no command, naming those there are.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return usagef("%s takes no %q: only flags", cmd.CommandPath(), args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return usagef("unknown command %q: the commands are %s", args[0], strings.Join(names, ", "))
}

// flagError names the flags that are accepted.
func flagError(cmd *cobra.Command, err error) error {
	if !strings.Contains(err.Error(), "unknown") {
		return usageError{err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	slices.Sort(names)
	return usagef("%w: the flags are %s", err, strings.Join(names, ", "))
}

// report prints an error as one line and chooses the exit code.
func (a *app) report(err error) int {
	var usage usageError
	var sig signalError
	var no answerNo
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &sig):
		return 128 + int(sig.signal)
	case errors.As(err, &no):
		return exitNo
	case errors.Is(err, syscall.EPIPE):
		return exitFine // whoever read has gone
	}
	fmt.Fprintln(a.err, "nvpeak: "+oneLine(err))
	if errors.As(err, &usage) || errors.Is(err, sampler.ErrSelect) {
		return exitUsage
	}
	return exitFailed
}

// answerNo is the error of a question whose answer, already printed, is no.
type answerNo struct{}

func (answerNo) Error() string { return "no" }

// oneLine is the error as one harmless line; where there is no GPU it says what to do
// without one. A stack of an internal error keeps its lines.
func oneLine(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "internal error") {
		return text
	}
	text = sampler.Clean(text)
	for _, absent := range []error{sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded, sampler.ErrMismatch, sampler.ErrNoGPU, sampler.ErrNoPermission} {
		if errors.Is(err, absent) {
			return text + " (to look around without a GPU: nvpeak --demo)"
		}
	}
	return text
}
