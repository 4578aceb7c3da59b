package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// server follows the machines that a Prometheus server knows: anything that answers /api/v1/query, such as Thanos, Mimir or VictoriaMetrics.
//
// Two questions: what every series is now, and, of a few, the raw samples since the last answer. Those have their own times, so no figure looks
// newer than it is, and none of the peaks that were scraped in between is missing, which max_over_time would tell without its time.
type server struct {
	fleet   *Fleet
	slot    *slot
	client  *client
	backOff backOff
	body    []byte // kept from answer to answer

	asked     time.Time // when the last answer came, by the clock here
	askedDown time.Time
	gap       time.Duration
	targets   map[string]*target // by the names of their hosts
	found     bool
}

// target is a host that the server knows.
type target struct {
	member *member
	key    string    // of its group
	last   time.Time // of its newest sample that was taken, by the clock of the server
	gap    time.Duration
	seen   time.Time // when the server knew it last, by the clock here
}

// Times between two questions. Samples are made every 15 to 60 s; asking twice as often shows each soon.
const (
	mostPoll   = 15 * time.Second
	firstRange = 5 * time.Minute // after which Prometheus calls a series stale
	mostRange  = time.Hour
	forget     = 15 * time.Minute // a host that the server knows no more
)

func newServer(f *Fleet, s *slot) (*server, error) {
	c, err := newClient(&s.spec, f.now)
	return &server{fleet: f, slot: s, client: c, targets: map[string]*target{}}, err
}

func (s *server) run(ctx context.Context) {
	defer s.client.http.CloseIdleConnections()
	for wait := time.Duration(0); pause(ctx, wait); {
		err := s.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = s.backOff.next(s.fleet.random())
			s.loseAll(err.Error(), s.fleet.now().Add(wait))
			continue
		}
		s.backOff.reset()
		wait = min(max(s.fleet.opt.Interval, s.gap/2), max(mostPoll, s.fleet.opt.Interval))
	}
}

func (s *server) loseAll(reason string, retry time.Time) {
	s.fleet.mu.Lock()
	list := slices.Clone(s.slot.hosts)
	s.fleet.mu.Unlock()
	for _, m := range list {
		m.lose("the server: "+reason, retry)
	}
}

func (s *server) poll(ctx context.Context) error {
	now := s.fleet.now()
	groups := map[string]*group{}
	back := firstRange
	if !s.asked.IsZero() {
		back = min(max(2*now.Sub(s.asked)+5*time.Second, 3*s.gap), mostRange)
	}
	if err := s.query(ctx, s.selector(metricNames()), func(r *tape.JSON) { s.readSeries(r, groups) }); err != nil {
		return err
	}
	err := s.query(ctx, fmt.Sprintf("%s[%ds]", s.selector(timedNames()), int(math.Ceil(back.Seconds()))), func(r *tape.JSON) { s.readSeries(r, groups) })
	if err != nil {
		return err
	}
	s.asked = now
	s.noteDown(ctx, now)
	return s.publish(groups, now)
}

func (s *server) selector(names string) string {
	match := ""
	if s.client.spec.Match != "" {
		match = "," + s.client.spec.Match
	}
	return `{__name__=~"` + names + `"` + match + `}`
}

// query asks one question, and hands on the place of the result.
func (s *server) query(ctx context.Context, query string, each func(*tape.JSON)) error {
	form := url.Values{"query": {query}}.Encode()
	return s.client.ask(ctx, http.MethodPost, s.client.spec.URL+"/api/v1/query", form, func(r io.Reader) (err error) {
		if s.body, err = readAll(r, s.body[:0]); err != nil {
			return err
		}
		return readAnswer(s.body, each)
	})
}

var errNoSeries = errors.New("it has no series of GPUs: neither by the names of " + exporterNames())

func (s *server) publish(groups map[string]*group, now time.Time) error {
	var list []knownGroup
	for _, g := range groups {
		if f := g.best(); f != nil {
			list = append(list, knownGroup{group: g, figures: f, name: g.title(f), rank: slices.Index(exporters, f.of)})
		}
	}
	if len(list) == 0 && len(s.targets) == 0 {
		if s.client.spec.Match != "" {
			return fmt.Errorf("%w, that fit {%s}", errNoSeries, s.client.spec.Match)
		}
		return errNoSeries
	}
	slices.SortFunc(list, func(a, b knownGroup) int {
		return strings.Compare(fmt.Sprint(a.name, "\x00", a.rank, a.key), fmt.Sprint(b.name, "\x00", b.rank, b.key))
	})
	present := map[string]bool{}
	for _, g := range list {
		present[g.key] = true
	}
	told := map[string]knownGroup{} // by GPU
	named := map[string]int{}
	var hosts []knownGroup
	for rank := range exporters {
		for _, g := range list {
			if g.rank == rank && !g.told(told) {
				hosts = append(hosts, g)
				named[g.name]++
			}
		}
	}
	taken := map[*target]bool{}
	for _, g := range hosts {
		g.shared = named[g.name] > 1
		t := s.targetOf(g, present, taken)
		taken[t], t.key, t.seen = true, g.key, now
		s.take(g, t)
	}
	s.lookForGone(taken, now)
	return nil
}

// take publishes what is new of a group.
func (s *server) take(g knownGroup, t *target) {
	n := news{via: g.figures.of.name + " by prometheus", reason: g.figures.of.lacks}
	n.tellDown(g.figures)
	if g.newest.IsZero() || !g.newest.After(t.last) {
		t.member.again(n)
		return
	}
	g.windows(t.last)
	snap := g.figures.snapshot(g.newest)
	var err error
	if snap.GPUs, err = s.fleet.chosen(snap.GPUs); err != nil {
		t.member.lose(err.Error(), s.fleet.now().Add(s.gap))
		return
	}
	if !t.last.IsZero() {
		t.gap = g.newest.Sub(g.before(t.last))
	}
	t.last = g.newest
	if t.gap > 0 && (s.gap == 0 || t.gap < s.gap) {
		s.gap = t.gap
	}
	d, _ := s.client.date.value()
	here(snap, d)
	possible(snap)
	if n.gap = t.gap; n.gap <= 0 {
		n.gap = time.Minute // nobody scrapes less often
	}
	t.member.figures(snap, n)
}

// targetOf is the host of a group: the one that it was before, else that of its name, which may come by another address after a restart, as long as no other
// group is that host.
func (s *server) targetOf(g knownGroup, present map[string]bool, taken map[*target]bool) *target {
	for _, t := range s.targets {
		if t.key == g.key {
			return t
		}
	}
	for _, name := range []string{g.name, sampler.Clip(g.instance)} {
		if t := s.targets[name]; t != nil && !taken[t] && !present[t.key] {
			return t
		}
		if s.targets[name] == nil && name != "" && !(g.shared && name == g.name) {
			return s.add(name)
		}
	}
	return s.add(g.name + " " + sampler.Clip(g.key))
}

// add makes a host, in the place of the server where it is the first.
func (s *server) add(name string) *target {
	if t := s.targets[name]; t != nil {
		return t
	}
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if !s.found {
		s.slot.hosts, s.found = nil, true
	}
	t := &target{member: f.newMember(f.free(name), s.slot.spec.Source())}
	s.targets[name] = t
	s.slot.hosts = append(s.slot.hosts, t.member)
	slices.SortStableFunc(s.slot.hosts, func(a, b *member) int { return strings.Compare(a.host.Name, b.host.Name) })
	f.changed = true
	return t
}

// lookForGone says of the hosts that the server no longer knows that it does not, and forgets them in the end.
func (s *server) lookForGone(taken map[*target]bool, now time.Time) {
	for name, t := range s.targets {
		switch {
		case taken[t]:
		case now.Sub(t.seen) > forget && len(s.targets) > 1:
			delete(s.targets, name)
			s.fleet.mu.Lock()
			s.slot.hosts = slices.DeleteFunc(s.slot.hosts, func(m *member) bool { return m == t.member })
			s.fleet.changed = true
			s.fleet.mu.Unlock()
		default:
			reason := "the server has no series of it any more: its exporter does not answer, or was taken away"
			if t.last.IsZero() {
				reason = downReason
			}
			t.member.lose(reason, now.Add(s.gap))
		}
	}
}
