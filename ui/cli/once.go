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
	keep bool // secrets
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
	f.csv.bind(c.Flags())
	c.Flags().Var(&f.size, "size", "print one frame of the monitor of `COLSxROWS` instead")
	noRedactFlag(c.Flags(), &f.keep)
	a.opt.bind(c.Flags(), append(following, "need", "interval", "lang", "theme", "columns", "sort", "span", "gpu-levels", "host-levels", "ascii", "no-color", "plot")...)
	return c
}

// oneForm refuses several forms at a time.
func (f *onceFlags) oneForm() error {
	var forms []string
	for _, form := range []struct {
		flag   string
		wanted bool
	}{{"--json", f.json}, {"--csv", f.csv.fields != nil}, {"--size", f.size.w > 0}} {
		if form.wanted {
			forms = append(forms, form.flag)
		}
	}
	if len(forms) > 1 {
		return usagef("%s exclude each other", strings.Join(forms, " and "))
	}
	return nil
}

// frameOptions say how a frame of the monitor looks; the tables, JSON and CSV have no use for them.
var frameOptions = []string{"columns", "sort", "span", "plot"}

// onceWait is how long `once` measures: long enough for two readings of the memory or three. The
// share of a CPU needs longer and is left out.
const onceWait = 40 * time.Millisecond

func (a *app) once(ctx context.Context, f *onceFlags) error {
	if a.listDemos() {
		return nil
	}
	if err := f.oneForm(); err != nil {
		return err
	}
	for _, name := range frameOptions {
		if f.size.w == 0 && a.set.origins[name].how == fromFlag {
			return usagef("--%s is for the monitor's screen: add --size 120x40 for a frame of it", name)
		}
	}
	if a.remote() {
		return a.fleetOnce(ctx, f)
	}
	if a.opt.demo == "" { // a demo has its snapshots from before
		a.opt.interval = min(a.opt.interval, onceWait/4) // the snapshot has what was read up to a whole one
	}
	l, err := a.source(sampler.Options{Settle: onceWait})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() { cancel(nil); l.Wait(endTimeout) }()
	if err := a.answered(ctx, l); err != nil {
		return err
	}
	limit, stop := context.WithTimeout(ctx, answerTimeout)
	defer stop()
	snaps, err := l.Next(limit)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if limit.Err() != nil {
			return errNoAnswer
		}
		return err
	}
	return a.printOnce(snaps, l.label, f)
}

func (a *app) printOnce(snaps []*sampler.Snapshot, label string, f *onceFlags) error {
	out := bufio.NewWriter(a.out)
	watch := watch.New(watch.Options{Need: a.opt.need.Opt, Lang: string(a.opt.lang), Levels: a.levels()})
	var s *sampler.Snapshot
	for i, snap := range snaps {
		snaps[i] = a.shown(snap, f.keep)
		s = withAlerts(snaps[i], watch)
	}
	s.Requests = nil // those since a snapshot that nobody gets
	s = s.Wall()
	var err error
	switch {
	case f.size.w > 0:
		_, err = out.WriteString(ui.Frame(snaps, f.size.w, f.size.h, a.screenOptions(label)))
	case f.json:
		err = plain.JSON(out, s)
	case f.csv.fields != nil:
		err = plain.CSV(out, s, f.csv.fields, true)
	default:
		err = plain.Table(out, s, label, a.tableOptions(), a.words())
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// withAlerts is the snapshot with the alerts that are open then.
func withAlerts(s *sampler.Snapshot, watch *watch.Watch) *sampler.Snapshot {
	with := *s
	with.Alerts = append([]sampler.Alert{}, watch.Add(*s)...)
	return &with
}
