package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/notify"
)

// fleetRecord records other machines: one into a file, several into a directory with a file for each.
func (a *app) fleetRecord(ctx context.Context, f *recordFlags) error {
	if err := a.elsewhere(); err != nil {
		return err
	}
	specs, err := a.specs()
	if err != nil {
		return err
	}
	many := len(specs) > 1 || specs[0].Kind == fleet.Prometheus
	switch isFile := strings.HasSuffix(f.out, ".jsonl") || strings.HasSuffix(f.out, ".zst") || f.out == "-"; {
	case many && isFile:
		return usagef("several hosts are recorded into a directory, a file for each: -o fleet/")
	case many:
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return creationError(f.out, err)
		}
	}
	announcer, err := a.announcer()
	if err != nil {
		return err
	}
	defer announcer.close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if f.span > 0 {
		defer time.AfterFunc(f.span, func() { end(recordingDone{}) }).Stop()
	}
	r := &fleetRecorder{app: a, flags: f, many: many, announcer: announcer, of: map[string]*recorder{}, left: map[string]error{}}
	hosts, lost := &roster{}, map[string]bool{}
	err = a.follow(ctx, func(u fleet.Update) (bool, error) {
		for _, h := range hosts.take(u) {
			switch {
			case h.Reason != "":
				a.say(a.why(h))
			case h.State == fleet.OK && lost[h.Name]:
				a.say(h.Name + ": figures come again")
			}
			lost[h.Name] = h.State == fleet.Lost
		}
		for _, s := range u.Snapshots {
			if err := r.take(s); errors.Is(err, errReaderGone) {
				return true, nil
			} else if err != nil && many {
				r.leave(s.Host, err)
			} else if err != nil {
				return true, err
			}
		}
		return false, nil
	})
	var sig signalError
	if errors.As(err, &sig) || errors.As(err, &recordingDone{}) {
		err = nil
	}
	if err != nil && len(r.names) == 0 {
		return err // nothing to finish
	}
	return errors.Join(err, r.finish())
}

// fleetRecorder has a recorder for each host, from its first snapshot on.
type fleetRecorder struct {
	*app
	flags     *recordFlags
	many      bool
	announcer *announcer
	of        map[string]*recorder
	names     []string         // of the hosts, in the order in which they came
	left      map[string]error // hosts whose file cannot be made: the others go on
}

// leave records no more of a host, and says why.
func (r *fleetRecorder) leave(host string, err error) {
	r.left[host] = err
	r.say(host + " is not recorded: " + err.Error())
}

func (r *fleetRecorder) take(s *sampler.Snapshot) error {
	one := r.of[s.Host]
	if r.left[s.Host] != nil {
		return nil
	}
	if one == nil {
		var err error
		if one, err = r.begin(s); err != nil {
			return err
		}
	}
	err := one.take(s)
	if err != nil && !errors.Is(err, errReaderGone) && one.path != "-" {
		r.say(diskError(err))
		return nil
	}
	return err
}

func (r *fleetRecorder) begin(s *sampler.Snapshot) (*recorder, error) {
	path := r.flags.out
	if r.many {
		path = filepath.Join(path, r.fileName(s.Host)+".jsonl.zst")
	}
	one := r.newRecorder(path)
	one.opt.RotateAge, one.opt.RotateSize, one.opt.Keep, one.opt.NoRedact = r.flags.rotate.age, r.flags.rotate.size, r.flags.keep, r.flags.noRedact
	one.opt.MemoryInterval = 0 // the readings stay there: their windows come
	host, news := s.Host, &notify.News{}
	one.announce = func(alerts []sampler.Alert, ahead time.Duration) {
		r.announcer.pass(news.Take(ofHost(host, alerts)), ahead)
	}
	if err := one.create(r.out); err != nil {
		return nil, err
	}
	r.of[s.Host] = one
	r.names = append(r.names, s.Host)
	r.say(one.beginning(s, r.flags.span))
	return one, nil
}

// fileName is the name of a host as a file has it, and no other host's.
func (r *fleetRecorder) fileName(host string) string {
	name := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("._-", c) {
			return c
		}
		return '_'
	}, host)
	name = strings.TrimLeft(name, ".-")
	if name == "" {
		name = "host"
	}
	for n, try := 2, name; ; n++ {
		taken := slices.ContainsFunc(r.names, func(o string) bool { return filepath.Base(r.of[o].path) == try+".jsonl.zst" })
		if !taken {
			return try
		}
		try = fmt.Sprintf("%s_%d", name, n)
	}
}

func (r *fleetRecorder) finish() (err error) {
	switch {
	case len(r.left) > 0:
		err = fmt.Errorf("not recorded, as said above: %s", strings.Join(slices.Sorted(maps.Keys(r.left)), ", "))
	case len(r.names) == 0:
		err = errors.New("nothing was recorded: no host gave figures")
	}
	cut := 0
	for _, name := range r.names {
		if broken := r.of[name].finish(r.err); broken != nil && r.many {
			r.say(name + ": " + broken.Error())
			cut++
		} else {
			err = errors.Join(err, broken)
		}
	}
	if cut > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d recordings are not whole, as said above", cut, len(r.names)))
	}
	return err
}
