package watch

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Options of a Watch. The zero value is good.
type Options struct {
	Need sampler.Opt[sampler.Bytes] // typed by the user
}

// Watch folds snapshots into facts and tells which alerts are open. It is for one
// goroutine. Its size does not grow with time.
type Watch struct {
	clock series.Clock
	cards []*card
	host  host
	needs needs
	ooms  []oom // newest last

	judged    float64 // when the rules were last asked
	open      map[incidentKey]*incident
	past      []*incident // raised, oldest first, open and closed
	lastAlert []sampler.Alert
}

const (
	// MaxPast is how many alerts are remembered; the oldest closed ones go first.
	MaxPast = 256
	// maxIncidents bounds what is open or about to be.
	maxIncidents = 4096
	// judgeSeconds is how often the rules are asked; snapshots may come faster.
	judgeSeconds = 0.5
	// maxSpoken is how many open alerts get new words at a time.
	maxSpoken = 2
)

// New starts watching with the first snapshot that is added.
func New(o Options) *Watch {
	w := &Watch{open: map[incidentKey]*incident{}, judged: -1}
	w.SetNeed(o.Need)
	return w
}

// Add folds one snapshot and returns the alerts that are open now, the most urgent
// first. The snapshot and the result must not be changed.
func (w *Watch) Add(s sampler.Snapshot) []sampler.Alert {
	gap := w.clock.Next(s.Time)
	now := w.clock.Now
	for i := range s.GPUs {
		if c := w.card(i, &s.GPUs[i]); c != nil {
			c.at, c.gone = s.Time, max(goneSeconds, 2.5*w.clock.Usual)
			c.fold(&s.GPUs[i], now, gap)
		}
	}
	w.dropCards()
	w.host.fold(s.HostMemory, now, gap)
	w.needs.fold(w.cards, now)
	if gap {
		w.holdAgain()
	}
	if w.judged < 0 || now-w.judged >= judgeSeconds {
		w.judged = now
		w.judge(s.Time)
	}
	return w.lastAlert
}

// card finds the state of a GPU, most likely at its place in the list, or makes it.
func (w *Watch) card(place int, g *sampler.GPU) *card {
	k := keyOf(g)
	if place < len(w.cards) && w.cards[place].key == k {
		return w.cards[place]
	}
	for _, c := range w.cards {
		if c.key == k {
			return c
		}
	}
	if len(w.cards) >= MaxCards {
		return nil
	}
	c := &card{key: k}
	c.reset(w.clock.Now, 0)
	w.cards = append(w.cards, c)
	return c
}

// forgetSeconds is how long a card that is listed no more is remembered.
const forgetSeconds = 3600

func (w *Watch) dropCards() {
	now := w.clock.Now
	w.cards = slices.DeleteFunc(w.cards, func(c *card) bool { return now-c.seen > forgetSeconds })
}

// judge asks the rules and renews the incidents.
func (w *Watch) judge(at time.Time) {
	now := w.clock.Now
	f := Facts{now: now, time: at, cards: w.cards, host: &w.host, watch: w}
	for r, rule := range rules {
		for _, c := range w.cards {
			if c.seen != now {
				continue
			}
			f.card = c
			for _, found := range rule.check(&f) {
				w.note(incidentKey{rule: r, card: c.key, pid: found.pid, id: found.id}, c, found)
			}
		}
		f.card = nil
		for _, found := range rule.check(&f) {
			w.note(incidentKey{rule: r, machine: true, pid: found.pid, id: found.id}, nil, found)
		}
	}
	w.settle(at)
}

// showFailures raises alerts for failures that were just told, without asking the other
// rules: they wait for the next snapshot.
func (w *Watch) showFailures(at time.Time) {
	r := slices.Index(rules, &ruleOOM)
	f := Facts{now: w.clock.Now, time: at, cards: w.cards, host: &w.host, watch: w}
	for _, c := range w.cards {
		f.card = c
		for _, found := range ruleOOM.check(&f) {
			w.note(incidentKey{rule: r, card: c.key, pid: found.pid, id: found.id}, c, found)
		}
	}
	f.card = nil
	for _, found := range ruleOOM.check(&f) {
		w.note(incidentKey{rule: r, machine: true, pid: found.pid, id: found.id}, nil, found)
	}
	for k, in := range w.open {
		in.ready = k.rule == r && !in.raised
	}
	w.raise(at)
	w.lastAlert = w.list()
}

// note renews the incident of a finding, or begins one.
func (w *Watch) note(k incidentKey, c *card, found finding) {
	now := w.clock.Now
	in := w.open[k]
	if in == nil {
		if len(w.open) >= maxIncidents {
			return
		}
		in = &incident{key: k, since: now}
		if c != nil {
			in.gpu, in.gpuKey = sampler.Some(c.gpu.Index), c.gpu.Key()
		}
		w.open[k] = in
	}
	in.seen, in.found = now, found
	in.times++
}

// settle raises what has held, renews what is open and closes what is over.
func (w *Watch) settle(at time.Time) {
	now := w.clock.Now
	var stale []*incident
	for k, in := range w.open {
		rule := rules[k.rule]
		switch {
		case in.seen != now:
			if now-in.seen >= rule.ClearAfter.Seconds() || !in.raised || w.ended(k) {
				in.close(now)
				delete(w.open, k)
			}
		case in.raised:
			if in.renew(now) {
				stale = append(stale, in)
			}
		case now-in.since >= rule.HoldFor.Seconds() && (in.times > 1 || rule.HoldFor == 0):
			if !w.silenced(in) {
				in.ready = true
			}
		}
	}
	slices.SortFunc(stale, func(a, b *incident) int { return cmp.Or(cmp.Compare(a.said, b.said), a.key.compare(b.key)) })
	for _, in := range stale[:min(len(stale), maxSpoken)] {
		in.speak(now)
	}
	w.raise(at)
	w.lastAlert = w.list()
}

// ended says whether the process of an incident is gone: then so is the incident.
func (w *Watch) ended(k incidentKey) bool {
	if k.machine || k.pid == 0 {
		return false
	}
	for _, c := range w.cards {
		if c.key == k.card {
			return c.seen == w.clock.Now && c.withPID(k.pid) == nil
		}
	}
	return false
}

// raise shows the incidents that are ready, in the order of the rules, so that one that
// silences another comes first.
func (w *Watch) raise(at time.Time) {
	var ready []*incident
	for _, in := range w.open {
		if in.ready && !in.raised {
			ready = append(ready, in)
		}
	}
	slices.SortFunc(ready, func(a, b *incident) int { return a.key.compare(b.key) })
	for _, in := range ready {
		in.ready = false
		if w.silenced(in) {
			continue
		}
		in.raise(rules[in.key.rule].Code, w.clock.Now, at)
		w.remember(in)
	}
}

// remember keeps an incident in the list of past ones.
func (w *Watch) remember(in *incident) {
	if len(w.past) >= MaxPast {
		i := slices.IndexFunc(w.past, func(p *incident) bool { return p.first.End.Known() })
		w.past = slices.Delete(w.past, max(i, 0), max(i, 0)+1)
	}
	w.past = append(w.past, in)
}

// silenced says whether an open incident of another rule says more about the same card.
func (w *Watch) silenced(in *incident) bool {
	for k, other := range w.open {
		if other.raised && k.card == in.key.card && k.machine == in.key.machine &&
			slices.Contains(rules[k.rule].Silences, rules[in.key.rule].Code) {
			return true
		}
	}
	return false
}

// holdAgain makes what is not yet raised hold from now on: over a gap nothing is known.
func (w *Watch) holdAgain() {
	for _, in := range w.open {
		if in.raised {
			in.seen = w.clock.Now
		} else {
			in.since, in.times = w.clock.Now, 0
		}
	}
}

// list is what is open, the most urgent first.
func (w *Watch) list() []sampler.Alert {
	var open []*incident
	for _, in := range w.open {
		if in.raised {
			open = append(open, in)
		}
	}
	slices.SortFunc(open, func(a, b *incident) int {
		return cmp.Or(
			cmp.Compare(urgency(b.now.Level), urgency(a.now.Level)),
			cmp.Compare(a.now.ETA.Or(1e18), b.now.ETA.Or(1e18)),
			a.key.compare(b.key))
	})
	alerts := make([]sampler.Alert, len(open))
	for i, in := range open {
		alerts[i] = in.now
	}
	return alerts
}

// Past lists the alerts raised so far, oldest first, each as it was when it was raised;
// End is known for those that are over. The newest 256 are kept.
func (w *Watch) Past() []sampler.Alert {
	list := make([]sampler.Alert, len(w.past))
	for i, in := range w.past {
		list[i] = in.first
	}
	return list
}

// Open lists the alerts that are open now, the most urgent first, as Add returned them.
func (w *Watch) Open() []sampler.Alert { return w.lastAlert }

// urgency orders the levels.
func urgency(level string) int {
	return slices.Index([]string{sampler.LevelNotice, sampler.LevelWarning, sampler.LevelCritical}, level)
}
