package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui"
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
	if a.opt.record != "" {
		a.newRecorder(a.opt.record)
	}
	l, ctx, end, err := a.measure(ctx)
	if err != nil {
		return err
	}
	defer end(nil)
	feed, done, err := a.taped(l, &ui.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	out := bufio.NewWriter(a.out)
	watch := watch.New(watch.Options{Need: a.opt.need.Opt})
	header := true
	for {
		snaps, err := feed.Next(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		for _, s := range snaps {
			told := withAlerts(s, watch)
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
func withAlerts(s *sampler.Snapshot, watch *watch.Watch) *sampler.Snapshot {
	told := *s
	told.Alerts = append([]sampler.Alert{}, watch.Add(*s)...)
	return &told
}
