package cli

import (
	"bufio"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui"
	"nvpeak/ui/plain"
)

// onceFlags choose the form of the output.
type onceFlags struct {
	json bool
	csv  csvFlag
	size frameSize
}

// csvFlag is --csv or --csv=FIELDS.
type csvFlag struct{ fields []plain.Field }

func (c *csvFlag) String() string { return "" }
func (c *csvFlag) Type() string   { return "FIELDS" }
func (c *csvFlag) Set(text string) (err error) {
	c.fields, err = plain.Fields(strings.Split(text, ","))
	return err
}

func (f *onceFlags) bindCSV(c *cobra.Command) {
	flag := c.Flags().VarPF(&f.csv, "csv", "", "as CSV in the form of nvidia-smi; `FIELDS` are its names: "+strings.Join(plain.DefaultFields, ","))
	flag.NoOptDefVal = strings.Join(plain.DefaultFields, ",")
}

func onceCommand(a *app) *cobra.Command {
	f := &onceFlags{}
	c := &cobra.Command{
		Use:   "once",
		Short: "print one snapshot and exit",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.once(cmd.Context(), f) },
	}
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	f.bindCSV(c)
	c.Flags().Var(&f.size, "size", "print one frame of the monitor of `COLSxROWS` instead")
	return c
}

// onceWait is how long `once` measures: long enough for what needs two readings (CPU
// percent) and for some readings of the memory lane.
const onceWait = 250 * time.Millisecond

// oncePatience is how long it waits for a driver that does not answer.
const oncePatience = 20 * time.Second

func (a *app) once(ctx context.Context, f *onceFlags) error {
	if a.listDemos() {
		return nil
	}
	a.opt.interval = min(a.opt.interval, onceWait)
	l, err := a.source()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() { cancel(nil); l.Wait(closePatience) }()
	if err := l.start(ctx, oncePatience); err != nil {
		return err
	}
	limit, stop := context.WithTimeout(ctx, oncePatience)
	defer stop()
	var snaps []*sampler.Snapshot
	for len(snaps) < 2 {
		more, err := l.Next(limit)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		snaps = append(snaps, more...)
	}
	return a.printOnce(snaps, l.label, f)
}

func (a *app) printOnce(snaps []*sampler.Snapshot, label string, f *onceFlags) error {
	out := bufio.NewWriter(a.out)
	watch := watch.New(watch.Options{Need: a.opt.need.Opt})
	var s *sampler.Snapshot
	for _, snap := range snaps {
		s = withAlerts(snap, watch)
	}
	var err error
	switch {
	case f.size.w > 0:
		_, err = out.WriteString(ui.Frame(snaps, f.size.w, f.size.h, a.screenOptions(label)))
	case f.json:
		err = plain.JSON(out, s)
	case f.csv.fields != nil:
		err = plain.CSV(out, s, f.csv.fields, true)
	default:
		err = plain.Table(out, s, label)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}
