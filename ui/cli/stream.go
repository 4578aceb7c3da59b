package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

func streamCommand(a *app) *cobra.Command {
	var csv csvFlag
	var keep bool
	c := &cobra.Command{
		Use:   "stream",
		Short: "print one snapshot per interval until stopped: JSON Lines, or CSV",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.stream(cmd.Context(), csv.fields, keep) },
	}
	csv.bind(c.Flags())
	noRedactFlag(c.Flags(), &keep)
	a.opt.bind(c.Flags(), slices.Concat(following, passingOn, []string{"need", "gpu-levels", "host-levels", "interval", "record", "requests", "lang"})...)
	return c
}

// stream writes every snapshot as soon as it is there. It ends quietly when the reader goes.
// keep: with the secrets.
func (a *app) stream(ctx context.Context, fields []plain.Field, keep bool) (err error) {
	if a.listDemos() {
		return nil
	}
	if a.remote() {
		return a.fleetStream(ctx, fields, keep)
	}
	r := a.newRecorder(a.opt.record)
	announcer, err := a.announcer()
	if err != nil {
		return err
	}
	defer announcer.close()
	l, ctx, end, err := a.measure(ctx, sampler.Options{Readings: r.readings()})
	if err != nil {
		return err
	}
	defer end(nil)
	if r != nil {
		r.opt.NoRedact = keep
		if err := r.create(nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
	}
	s := &streamer{app: a, fields: fields, header: true, watch: watch.New(watch.Options{Need: a.opt.need.Opt, Lang: string(a.opt.lang), Levels: a.levels()})}
	s.out = newOutlet(a.out, maxWaiting, end)
	defer s.close()
	pass := func(snaps []*sampler.Snapshot) error {
		for _, one := range snaps {
			one = a.shown(one, keep)
			snap := withAlerts(one, s.watch)
			announcer.take(snap.Alerts, snap.Ahead())
			snap.Delivery = announcer.messenger.Deliveries()
			if r != nil {
				r.Snapshot(one, snap.Alerts) //nolint:errcheck // standard error may be a log: the end reports it
			}
			if err := s.write(snap.Wall()); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		snaps, err := l.Next(ctx)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cmp.Or(pass(l.Rest()), cause)
		} else if err != nil {
			return err
		}
		if err := pass(snaps); err != nil {
			return err
		}
	}
}

// streamer passes snapshots on. A reader that stalls keeps nothing up: what it has no room
// for is left out, and the next snapshot says how many that were.
type streamer struct {
	*app
	fields []plain.Field
	header bool
	watch  *watch.Watch
	out    *outlet
	lost   int
}

func (s *streamer) write(snap *sampler.Snapshot) error {
	if !s.out.room() {
		s.lost += 1 + snap.Lost
		return nil
	}
	snap.Lost += s.lost // of other machines some may have been left out before
	s.tellLost()
	line, err := text(func(w io.Writer) error {
		if s.fields != nil {
			return plain.CSV(w, snap, s.fields, s.header)
		}
		return plain.JSON(w, snap)
	})
	s.header = false
	s.out.put(line)
	return err
}

func (s *streamer) tellLost() {
	if s.lost > 0 {
		s.say(fmt.Sprintf("the reader is too slow, snapshots left out: %d", s.lost))
		s.lost = 0
	}
}

// drainTime is how long the end waits for a reader.
const drainTime = 100 * time.Millisecond

func (s *streamer) close() {
	s.out.close(drainTime)
	s.tellLost()
}
