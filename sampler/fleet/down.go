package fleet

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

const (
	// lookForDown is the time between two questions for exporters that do not answer the server. What has done
	// so before its series became stale is known without.
	lookForDown = 5 * time.Minute
	// downRange is how long ago they have answered it at most. Who was away for longer is not missed.
	downRange = 24 * time.Hour
)

// downQuery asks for the targets that the server cannot scrape and that had GPUs.
func (s *server) downQuery() string {
	names := alternatives(func(yield func(string) bool) {
		for _, e := range exporters {
			if !yield(slices.Sorted(maps.Keys(e.timed))[0]) {
				return
			}
		}
	})
	return fmt.Sprintf("up == 0 and on (instance, job) last_over_time(%s[%ds])", s.selector(names), int(downRange.Seconds()))
}

// noteDown adds the hosts whose exporters were down before nvpeak began, and remembers those that are. A server that cannot tell
// is asked again later.
func (s *server) noteDown(ctx context.Context, now time.Time) {
	if !s.askedDown.IsZero() && now.Sub(s.askedDown) < lookForDown {
		return
	}
	s.askedDown = now
	s.query(ctx, s.downQuery(), func(j *tape.JSON) { //nolint:errcheck // what the other questions tell does not hang on it
		one := sample{}
		j.Object(func(key []byte) {
			if string(key) == "metric" {
				one.readLabels(j)
			}
		})
		s.down(one.label("instance"), one.label("job"), now)
	})
}

// downReason is that of a host whose exporter the server cannot scrape.
const downReason = "its exporter does not answer the server"

func (s *server) down(instance, job string, now time.Time) {
	key := instance + "\x00" + job
	if instance == "" || len(s.targets) >= mostHosts {
		return
	}
	for _, t := range s.targets {
		if t.key == key {
			t.seen = now
			return
		}
	}
	name := sampler.Clip(instance)
	if host, _, err := net.SplitHostPort(instance); err == nil && s.targets[sampler.Clip(host)] == nil {
		name = sampler.Clip(host)
	}
	if s.targets[name] != nil {
		return // one of that name is here
	}
	t := s.add(name)
	t.key, t.seen = key, now
	t.member.lose(downReason, now.Add(lookForDown))
}
