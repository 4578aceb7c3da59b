package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nvpeak/advice"
	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

func streamCommand(a *app) *cobra.Command {
	f := &onceFlags{}
	c := &cobra.Command{
		Use:   "stream",
		Short: "print one snapshot per interval until stopped: JSON Lines, or CSV",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.stream(cmd.Context(), f) },
	}
	f.bindCSV(c)
	return c
}

// stream writes every snapshot as soon as it is there. It ends quietly when the reader goes.
func (a *app) stream(ctx context.Context, f *onceFlags) (err error) {
	if a.listDemos() {
		return nil
	}
	var r *recorder
	if a.opt.record != "" {
		r = a.newRecorder(a.opt.record)
	}
	l, ctx, end, err := a.measure(ctx)
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
	watch := advice.NewWatch(advice.Options{Need: a.opt.need.Opt})
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
			told := withAlerts(s, watch)
			if r != nil {
				r.Snapshot(s, told.Alerts) //nolint:errcheck // standard error may be a log: the end of the recording tells
			}
			if f.csv.fields != nil {
				err = plain.CSV(out, told, f.csv.fields, header)
			} else {
				err = plain.JSON(out, told)
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

// withAlerts is the snapshot with the alerts that are open then.
func withAlerts(s *sampler.Snapshot, watch *advice.Watch) *sampler.Snapshot {
	told := *s
	told.Alerts = append([]sampler.Alert{}, watch.Add(*s)...)
	return &told
}
