package cli

import (
	"context"
	"io"
	"slices"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/notify"
	"nvpeak/ui/plain"
)

// fleetStream prints the snapshots of all hosts as they come, and a line where the state of one changes.
func (a *app) fleetStream(ctx context.Context, fields []plain.Field, keep bool) error {
	if err := a.elsewhere("record"); err != nil {
		return err
	}
	announcer, err := a.announcer()
	if err != nil {
		return err
	}
	defer announcer.close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &streamer{app: a, fields: withHost(fields), header: true}
	s.out = newOutlet(a.out, maxWaiting, end)
	defer s.close()
	r, judged, heralds := &roster{}, a.newWatches(), newHeralds(announcer)
	return a.follow(ctx, func(u fleet.Update) (bool, error) {
		for _, h := range r.take(u) {
			if err := s.state(h); err != nil {
				return true, err
			}
		}
		for _, one := range u.Snapshots {
			snap := judged.take(a.shown(one, keep))
			heralds.take(snap)
			snap.Delivery = announcer.messenger.Deliveries()
			if err := s.write(snap); err != nil {
				return true, err
			}
		}
		return false, nil
	})
}

// withHost are columns of CSV that tell the machine.
func withHost(fields []plain.Field) []plain.Field {
	host := plain.HostField()
	if fields == nil || slices.ContainsFunc(fields, func(f plain.Field) bool { return f.Name == host.Name }) {
		return fields
	}
	return append([]plain.Field{host}, fields...)
}

// state writes how a host stands; where rows of CSV are written, to standard error.
func (s *streamer) state(h *fleet.Host) error {
	if s.fields != nil {
		if h.State != fleet.Connecting && h.Reason != "" {
			s.say(s.why(h))
		}
		return nil
	}
	if !s.out.room() {
		return nil
	}
	line, err := text(func(w io.Writer) error { return writeHost(w, h) })
	s.out.put(line)
	return err
}

// heralds announce the alerts of each host, which is named.
type heralds struct {
	*announcer
	of map[string]*notify.News
}

func newHeralds(n *announcer) *heralds { return &heralds{n, map[string]*notify.News{}} }

func (h *heralds) take(s *sampler.Snapshot) {
	news := h.of[s.Host]
	if news == nil {
		news = &notify.News{}
		h.of[s.Host] = news
	}
	h.pass(news.Take(ofHost(s.Host, s.Alerts)), s.Ahead())
}
