package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui"
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
	a.opt.bind(c.Flags(), append(measuring, "need", "interval", "log", "record", "notify", "on-alert", "webhook", "webhook-private",
		"lang", "theme", "ascii", "no-color", "readonly")...)
	return c
}

// monitor is the command without a name: the live screen, or where the output is no
// screen, one plain table.
func (a *app) monitor(cmd *cobra.Command, args []string) error {
	if a.listDemos() {
		return nil
	}
	if !a.isTerminal(a.out) || !a.isTerminal(a.in) {
		return a.once(cmd.Context(), &onceFlags{})
	}
	if err := a.followable(); err != nil {
		return err
	}
	r := a.newRecorder(a.opt.record)
	l, err := a.source(sampler.Options{Readings: r.readings()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	if err := l.start(ctx, connectTimeout); err != nil {
		return err
	}
	o := a.screenOptions(l.label)
	report, err := a.messenger(ctx)
	if err != nil {
		return err
	}
	o.Notify = ui.Notify{Bell: a.opt.notify.bell, Desktop: a.opt.notify.desktop, Report: report}
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
	if r != nil {
		err = errors.Join(err, r.close())
	}
	cause := context.Cause(ctx)
	cancel(nil)
	l.Wait(endTimeout)
	switch {
	case cause != nil:
		return cause
	case errors.Is(err, ui.ErrTerminalGone):
		return signalError{syscall.SIGHUP} // as if the terminal had sent it
	}
	return err
}
