package cli

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/plain"
)

// fleetAnswer is how long a command that wants one answer of every host waits for the slowest.
const fleetAnswer = 30 * time.Second

// fleetOnce prints a table, or a line of JSON, for each host.
func (a *app) fleetOnce(ctx context.Context, f *onceFlags) error {
	if err := a.elsewhere(); err != nil {
		return err
	}
	if f.size.w > 0 {
		return usagef("--size is a frame of the monitor over this machine: leave out --from")
	}
	r, heard, err := a.oneOfEach(ctx)
	if err != nil {
		return err
	}
	for _, h := range r.without(heard) {
		if !f.json && len(r.hosts) > 1 {
			a.say(a.why(h))
		}
	}
	if err := a.printHosts(r, heard, f); err != nil {
		return err
	}
	if len(heard) == 0 {
		return a.noneOf(r)
	}
	return nil
}

// oneOfEach waits for figures of every host that has some.
func (a *app) oneOfEach(parent context.Context) (*roster, map[string]*sampler.Snapshot, error) {
	ctx, stop := context.WithTimeout(parent, fleetAnswer)
	defer stop()
	a.opt.interval = min(a.opt.interval, onceEvery)
	r, heard, count := &roster{}, map[string]*sampler.Snapshot{}, map[string]int{}
	err := a.follow(ctx, func(u fleet.Update) (bool, error) {
		r.take(u)
		for _, s := range u.Snapshots {
			if count[s.Host]++; count[s.Host] > 1 || !r.begins(s) {
				heard[s.Host] = s
			}
		}
		return r.settled(heard), nil
	})
	if ctx.Err() != nil && parent.Err() == nil {
		err = nil // what there is by then
	}
	return r, heard, err
}

// onceEvery is short, for one snapshot is all that is wanted of a machine.
const onceEvery = 200 * time.Millisecond

func (a *app) printHosts(r *roster, heard map[string]*sampler.Snapshot, f *onceFlags) error {
	out, first, w := bufio.NewWriter(a.out), true, a.newWatches()
	for _, h := range r.hosts {
		s := heard[h.Name]
		if s != nil {
			s = w.take(a.shown(s, f.keep))
		}
		if err := a.printHost(out, h, s, f, first); err != nil {
			return err
		}
		first = first && s == nil
	}
	return out.Flush()
}

func (a *app) printHost(out *bufio.Writer, h *fleet.Host, s *sampler.Snapshot, f *onceFlags, first bool) (err error) {
	switch {
	case f.json && s == nil:
		return writeHost(out, h)
	case s == nil:
		return nil
	case f.json:
		return plain.JSON(out, s)
	case f.csv.fields != nil:
		return plain.CSV(out, s, withHost(f.csv.fields), first)
	}
	if !first {
		err = out.WriteByte('\n')
	}
	if err = cmp.Or(err, plain.Table(out, s, "", a.tableOptions(), a.words())); err == nil && h.Reason != "" {
		_, err = io.WriteString(out, "\n"+h.Reason+"\n")
	}
	return err
}
