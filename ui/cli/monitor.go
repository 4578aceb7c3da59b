package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nvpeak/ui"
)

// connectPatience is how long the screen waits for the driver before it opens and says
// "connecting": long enough for an error to be a plain line, short enough not to be felt.
const connectPatience = 300 * time.Millisecond

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
	l, err := a.source()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	if err := l.start(ctx, connectPatience); err != nil {
		return err
	}
	model := ui.New(ctx, l, a.screenOptions(l.label))
	_, err = tea.NewProgram(model, a.programOptions(ctx)...).Run()
	cause := context.Cause(ctx)
	cancel(nil)
	l.Wait(closePatience)
	switch {
	case cause != nil:
		return cause
	case model.Err() != nil:
		return model.Err()
	case errors.Is(err, tea.ErrProgramKilled), errors.Is(err, tea.ErrInterrupted):
		return fmt.Errorf("the screen ended: %w", err)
	}
	return err
}

// closePatience is how long the end waits for the driver to be closed.
const closePatience = 300 * time.Millisecond

func (a *app) screenOptions(label string) ui.Options {
	o := ui.Options{Need: a.opt.need.Opt, Theme: string(a.opt.theme), ASCII: bool(a.opt.ascii),
		Label: label, Interval: a.opt.interval}
	if a.opt.noColor && o.Theme == "" {
		o.Theme = "mono"
	}
	return o
}

// framesPerSecond bounds how soon a key shows (33 ms); pictures come once an interval.
const framesPerSecond = 30

func (a *app) programOptions(ctx context.Context) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), tea.WithInput(a.in), tea.WithOutput(a.out)}
	if a.opt.noColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII)) // Bubble Tea takes only NO_COLOR=1 and true
	}
	return opts
}
