package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nvpeak/sampler/oomlog"
	"nvpeak/ui"
)

// connectTimeout is how long the screen waits for the driver before it opens and says
// "connecting": long enough for an error to be a plain line, short enough not to be felt.
const connectTimeout = 300 * time.Millisecond

func isTTY(fd int) bool { return term.IsTerminal(fd) }

// monitor is the command without a name: the live screen, or where the output is no
// screen, one plain table.
func (a *app) monitor(cmd *cobra.Command, args []string) error {
	if a.listDemos() {
		return nil
	}
	if !a.isTerminal(a.out) || !a.isTerminal(a.in) {
		return a.once(cmd.Context(), &onceFlags{})
	}
	var r *recorder
	if a.opt.record != "" {
		r = a.newRecorder(a.opt.record)
	}
	l, err := a.source()
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
		o.Failures = oomlog.Follow(ctx, a.opt.log)
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
	l.Wait(closePatience)
	switch {
	case cause != nil:
		return cause
	case errors.Is(err, ui.ErrTerminalGone):
		return signalError{syscall.SIGHUP} // as if the terminal had hung up
	}
	return err
}

// closePatience is how long the end waits for the driver to be closed.
const closePatience = 300 * time.Millisecond

func (a *app) screenOptions(label string) ui.Options {
	o := ui.Options{Need: a.opt.need.Opt, Theme: string(a.opt.theme), ASCII: bool(a.opt.ascii),
		NoColor: bool(a.opt.noColor), Label: label}
	if o.NoColor && o.Theme == "" {
		o.Theme = "mono"
	}
	return o
}
