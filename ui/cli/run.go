package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/sampler/child"
	"nvpeak/sampler/torch"
)

// runFlags are those of `run`.
type runFlags struct {
	keep    time.Duration
	monitor bool
	outside bool // no reporter in Python programs
	lines   bool // it tells source lines
	retry   retryFlags
}

// childEnded is the exit code of the command that was run.
type childEnded int

func (childEnded) Error() string { return "the command failed" }

func runCommand(a *app) *cobra.Command {
	f := &runFlags{keep: 10 * time.Minute}
	c := &cobra.Command{
		Use:   "run [flags] -- COMMAND…",
		Short: "run a command watched from start to end; its exit code is nvpeak's",
		Long: "run starts a command and is not in its way: it has the terminal, its output passes through as it is,\n" +
			"signals reach it, and its exit code is nvpeak's. When it dies of memory, the reason and what to change\n" +
			"stand below its last lines, and a black box with the last minutes is kept: nvpeak runs lists them. With\n" +
			"--retry N it runs again with the first change that helps and that needs no edit of a file.",
		Example: "  nvpeak run -- python train.py\n  nvpeak run --retry 3 -- python train.py --batch-size 32\n  nvpeak run --record -- torchrun --nproc-per-node 8 train.py\n  nvpeak report LAST",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("run what? name the command after --, such as nvpeak run -- python train.py")
			}
			if f.lines && f.outside {
				return usagef("--lines needs the reporter, which --no-reporter leaves out")
			}
			if err := a.checkRetry(&f.retry, cmd.Flags()); err != nil {
				return err
			}
			return a.runTries(cmd.Context(), args, f)
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { // before any file is opened
			if len(args) > 0 && !child.Room() {
				return a.runBare(args, f)
			}
			a.runs = true
			return a.read(cmd.Flags())
		},
	}
	c.Flags().SetInterspersed(false) // the flags behind the command are its own
	c.Flags().Var(durationFlag{&f.keep, 10 * time.Second, 24 * time.Hour}, "keep", "keep at least the last `DURATION` in the black box")
	c.Flags().BoolVar(&f.monitor, "monitor", false, "open the monitor beside the command, in a split of tmux")
	c.Flags().BoolVar(&f.outside, "no-reporter", false, "put nothing into Python programs, which else tell what PyTorch's allocator holds")
	c.Flags().BoolVar(&f.lines, "lines", false, "name the source line that leaks or holds most when memory runs out; costs "+linesCost)
	f.retry.bind(c.Flags())
	a.opt.bind(c.Flags(), slices.Concat(measuring, passingOn, []string{"need", "gpu-levels", "host-levels", "interval", "record", "requests", "lang", "ascii", "no-color"})...)
	record := c.Flags().Lookup("record")
	record.NoOptDefVal = intoBox
	record.Usage = "record all of the run, however it ends: to a new `FILE`, .jsonl or compressed .jsonl.zst, or without one into its black box"
	return c
}

// intoBox is the value of --record without a file; "false" is, as of every option that needs no value, that it was not given.
const intoBox = "true"

// keepsBox says whether the black box is kept whole and in any case.
func (a *app) keepsBox() bool { return a.opt.record == intoBox }

// recordTries begins the recording of all tries in a file of the user's; nil: none is wanted.
func (a *app) recordTries() (*recorder, error) {
	if a.opt.record == "" || a.opt.record == "false" || a.keepsBox() {
		return nil, nil
	}
	r := a.newRecorder(a.opt.record)
	if err := r.create(nil); err != nil {
		return nil, a.unusable("record", err, func() { a.opt.record = "" })
	}
	return r, nil
}

// runBare runs the command where there is no room to watch it.
func (a *app) runBare(args []string, f *runFlags) error {
	if f.retry.wait {
		return errors.New("no file descriptor is left to wait with (ulimit -n)")
	}
	a.say(unwatched)
	return childEnded(child.Become(args, os.Environ(), a.say))
}

const unwatched = "no file descriptor is left (ulimit -n): the command runs unwatched"

// missingTimeout is how long the start of the command waits for a driver that is not there: to say so before
// the command says anything.
const missingTimeout = 20 * time.Millisecond

// runChild runs a command once. Whatever fails of the watching, the command runs all the same.
func (a *app) runChild(ctx context.Context, t *try, f *runFlags) error {
	w, err := a.watchRun(ctx, t, f)
	if err != nil {
		return err
	}
	t.watched = w
	env := t.env
	if w.live.reporter != nil && !f.outside {
		if env, err = w.live.reporter.Env(env); err != nil {
			a.say("PyTorch's own figures are missing: " + err.Error())
		} else if f.lines {
			env = torch.ByLine(env)
		}
	}
	err = context.Cause(ctx)
	if s := child.Asked(); s != 0 {
		err = signalError{s}
	}
	if err != nil { // a signal that came before there is a command
		w.finish(0)
		return err
	}
	watching := true
	unwatch := func() {
		a.say(unwatched)
		w.side.Close() //nolint:errcheck // it has none
		w.finish(0)
		watching = false
	}
	t.code = child.Run(child.Options{Args: t.args, Env: env, Side: w.side, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Helper: "/proc/self/exe", Problem: a.say, Room: unwatch})
	if watching {
		t.why = w.finish(t.code)
	}
	return nil
}
