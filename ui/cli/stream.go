package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/ui/plain"
)

func streamCommand(a *app) *cobra.Command {
	var csv csvFlag
	c := &cobra.Command{
		Use:   "stream",
		Short: "print one snapshot per interval until stopped: JSON Lines, or CSV",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.stream(cmd.Context(), csv.fields) },
	}
	csv.bind(c.Flags())
	a.opt.bind(c.Flags(), append(measuring, "need", "interval", "record", "lang")...)
	return c
}

// stream writes every snapshot as soon as it is there. It ends quietly when the reader goes.
func (a *app) stream(ctx context.Context, fields []plain.Field) (err error) {
	if a.listDemos() {
		return nil
	}
	r := a.newRecorder(a.opt.record)
	l, ctx, end, err := a.measure(ctx, r.readings())
	if err != nil {
		return err
	}
	defer end(nil)
	if r != nil {
		if err := r.create(nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
	}
	out := bufio.NewWriter(a.out)
	watch := watch.New(watch.Options{Need: a.opt.need.Opt, Lang: string(a.opt.lang)})
	header := true
	for {
		snaps, err := l.Next(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		for _, s := range snaps {
			snap := withAlerts(s, watch)
			if r != nil {
				r.Snapshot(s, snap.Alerts) //nolint:errcheck // standard error may be a log: the end reports it
			}
			if fields != nil {
				err = plain.CSV(out, snap.Wall(), fields, header)
			} else {
				err = plain.JSON(out, snap.Wall())
			}
			header = false
			if err == nil {
				err = out.Flush()
			}
			if err != nil {
				return err
			}
		}
	}
}
