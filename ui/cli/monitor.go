package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/fleet"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui"
	"nvpeak/ui/notify"
)

// connectTimeout is how long the screen waits for the driver before it opens and says
// "connecting": long enough for an error to be a plain line, short enough not to be felt.
const connectTimeout = 300 * time.Millisecond

func monitorCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "nvpeak",
		Short: "Terminal monitor for NVIDIA GPUs that keeps the true peak of their memory",
		Long: "nvpeak shows every NVIDIA GPU with the true peak of its memory, says whether the next\n" +
			"allocation fits, and warns before the out-of-memory error. Without a GPU: nvpeak --demo",
		Args: noArgs,
		RunE: a.monitor,
	}
	a.opt.bind(c.Flags(), slices.Concat(following, passingOn, []string{"need", "interval", "log", "record", "requests", "lang", "theme", "columns", "sort", "span", "gpu-levels", "host-levels", "ascii", "no-color", "plot", "no-mouse", "readonly"})...)
	return c
}

// screenOnly refuses options that one table cannot honor.
func screenOnly(flags *pflag.FlagSet) error {
	for _, name := range append(passingOn[:len(passingOn):len(passingOn)], "record", "log") {
		if flags.Changed(name) {
			return usagef("--%s needs a screen, and this is no terminal: without one take nvpeak record", name)
		}
	}
	return nil
}

// monitor is the command without a name: the live screen, or where the output is no
// screen, one plain table.
func (a *app) monitor(cmd *cobra.Command, args []string) error {
	if a.listDemos() {
		return nil
	}
	if !a.isTerminal(a.out) || !a.isTerminal(a.in) {
		if err := screenOnly(cmd.Flags()); err != nil {
			return err
		}
		return a.once(cmd.Context(), &onceFlags{})
	}
	if err := a.followable(); err != nil {
		return err
	}
	troubles := make(chan string, 1)
	if a.troubles = troubles; len(a.set.notes) > 0 { // the screen covers the lines that were said
		a.warn(a.set.notes[0])
	}
	if a.remote() {
		return a.fleetMonitor(cmd, troubles)
	}
	if name := string(a.opt.demo); demo.IsFleet(name) {
		for _, name := range []string{"log", "record", "gpu", "requests"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is of one machine, and these are several", name)
			}
		}
		f, err := demo.NewFleet(name, time.Now)
		if err != nil {
			return err
		}
		a.runLean()
		return a.monitorFleet(cmd, f, "DEMO "+name, troubles)
	}
	r := a.newRecorder(a.opt.record)
	l, err := a.source(sampler.Options{Readings: r.readings()})
	if err != nil {
		return err
	}
	defer l.close()
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	if err := l.start(ctx, connectTimeout); err != nil {
		return a.offerDemo(cmd, args, err)
	}
	o := a.screenOptions(l.label)
	messenger, err := a.messenger(a.warn)
	if err != nil {
		return err
	}
	o.ReadOnly = a.opt.readonly
	if l.host != nil {
		o.Processes = l.host
		o.User, o.Root = l.host.Self()
	}
	o.Notify = ui.Notify{Terminal: notify.Terminal(a.opt.notify), Report: messenger.Tell, Troubles: troubles}
	if a.opt.log != "" {
		listener := trainlog.NewListener()
		o.Failures, o.Marks = oomlog.Follow(ctx, a.opt.log, listener), listener.Marks()
	}
	if r != nil {
		if err := r.create(nil); err != nil {
			return err
		}
		o.Recorder = screenRecorder{r}
	}
	err = ui.Run(ctx, a.in.(*os.File), a.out.(*os.File), ui.New(ctx, l, o))
	messenger.Close(lastSend)
	cause := context.Cause(ctx)
	cancel(nil)
	if r != nil {
		err = errors.Join(err, r.rest(l.Rest()), r.close())
	}
	l.Wait(endTimeout)
	switch {
	case cause != nil:
		return cause
	case errors.Is(err, ui.ErrTerminalGone):
		return signalError{syscall.SIGHUP} // as if the terminal had sent it
	}
	return err
}

// monitorFleet is the live screen of several machines.
func (a *app) monitorFleet(cmd *cobra.Command, stream fleet.Stream, label string, troubles <-chan string) error {
	messenger, err := a.messenger(a.warn)
	if err != nil {
		return err
	}
	o := a.screenOptions(label)
	o.Now = time.Now
	o.Notify = ui.Notify{Terminal: notify.Terminal(a.opt.notify), Report: messenger.Tell, Troubles: troubles}
	err = ui.Run(cmd.Context(), a.in.(*os.File), a.out.(*os.File), ui.NewFleet(cmd.Context(), stream, o))
	messenger.Close(lastSend)
	if cause := context.Cause(cmd.Context()); cause != nil {
		return cause
	}
	if errors.Is(err, ui.ErrTerminalGone) {
		return signalError{syscall.SIGHUP}
	}
	return err
}
