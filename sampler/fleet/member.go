package fleet

import (
	"time"

	"nvpeak/sampler"
)

// member is a host with what is kept of it.
type member struct {
	fleet *Fleet
	host  Host
	gap   time.Duration // usual time between its figures
	marks *sampler.Watermarks
	last  time.Time // of its newest snapshot
	gone  vanished

	waiting int // snapshots that nobody has taken yet
	lost    int // of those left out since the last that is waiting
}

// mostWaiting is how many snapshots of a host are kept for a front end that does not come for them.
const mostWaiting = 16

// newMember is called with the fleet locked, or before it runs.
func (f *Fleet) newMember(name, source string) *member {
	return &member{fleet: f, host: Host{Name: name, Source: source, State: Connecting, Since: f.now()}, gap: f.opt.Interval, marks: sampler.NewWatermarks()}
}

// published is the host as it stands now.
func (m *member) published() *Host {
	h := m.host
	return &h
}

// news is what an engine says with figures.
type news struct {
	via    string
	reason string                     // what the figures lack
	offset sampler.Opt[time.Duration] // of the clock there
	gap    time.Duration              // until the next; 0: the interval
	late   bool                       // reason says why the figures do not count for now
}

func (n *news) state() State {
	if n.late {
		return Late
	}
	return OK
}

// figures takes a snapshot, which is changed: its host, its peaks where it has none, and its time, which goes on.
func (m *member) figures(s *sampler.Snapshot, n news) {
	f := m.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if s.Time.After(now) { // the offset is an estimate
		s.Time = now
	}
	if !s.Time.After(m.last) {
		s.Time = m.last.Add(time.Millisecond)
	}
	m.last = s.Time
	s.Type, s.Schema, s.Host = "snapshot", sampler.Schema, m.host.Name
	// Alerts are judged here, by our need, levels and language, and by the same rules whatever gives the figures.
	s.Alerts, s.Delivery = []sampler.Alert{}, nil
	m.gone.keep(s, now)
	m.marks.Apply(s)
	m.keep(s)
	if m.gap = n.gap; m.gap <= 0 {
		m.gap = f.opt.Interval
	}
	m.host.Heard = sampler.Some(now)
	m.offset(n.offset)
	m.state(n.state(), n.via, n.reason, sampler.Opt[time.Time]{})
	f.wake()
}

// again says how a host stands of which there is nothing new: it is not lost any more, or its driver is away.
func (m *member) again(n news) {
	f := m.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.host.State == Lost || n.late {
		m.state(n.state(), n.via, n.reason, sampler.Opt[time.Time]{})
		f.wake()
	}
}

// overdue says that what a host tells is old, or no figures at all, so that nothing of it is taken.
func (m *member) overdue(via, reason string) {
	f := m.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	m.state(Late, via, reason, sampler.Opt[time.Time]{})
	f.wake()
}

// keep lets a snapshot wait for the front end.
func (m *member) keep(s *sampler.Snapshot) {
	f := m.fleet
	if m.waiting == mostWaiting {
		for i, old := range f.pending {
			if old.Host == m.host.Name {
				f.pending = append(f.pending[:i:i], f.pending[i+1:]...)
				m.waiting--
				m.lost += 1 + old.Lost
				break
			}
		}
	}
	s.Lost += m.lost
	m.lost = 0
	f.pending = append(f.pending, s)
	m.waiting++
}

// full says whether no more snapshots can wait.
func (m *member) full() bool {
	m.fleet.mu.Lock()
	defer m.fleet.mu.Unlock()
	return m.waiting == mostWaiting
}

// offset takes an estimate of the clock there; what moves by less than a tenth of a second is no news.
func (m *member) offset(o sampler.Opt[time.Duration]) {
	d, ok := o.Value()
	if !ok {
		return
	}
	s := d.Seconds()
	if before, known := m.host.Offset.Value(); !known || s-before > 0.1 || before-s > 0.1 {
		m.host.Offset = sampler.Some(s)
		m.fleet.changed = true
	}
}

// lose says why there are no figures, and when it is tried again.
func (m *member) lose(reason string, retry time.Time) {
	f := m.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	m.state(Lost, "", reason, sampler.Some(retry))
	f.wake()
}

// state sets how the host stands. A host that is lost still has the engine that it had.
func (m *member) state(s State, via, reason string, retry sampler.Opt[time.Time]) {
	h := &m.host
	reason = sampler.Clean(reason)
	if via == "" {
		via = h.Via
	}
	if h.State == s && h.Via == via && h.Reason == reason && h.Retry.Equal(retry) {
		return
	}
	if h.State != s {
		h.Since = m.fleet.now()
	}
	h.State, h.Via, h.Reason, h.Retry = s, via, reason, retry
	m.fleet.changed = true
}

// lateAfter is how long after its newest figures a host is late: two were missed, and a trip of a second.
func (m *member) lateAfter() time.Duration { return 2*m.gap + m.gap/2 + time.Second }

func (m *member) lookForLate(now time.Time) {
	heard, ok := m.host.Heard.Value()
	if m.host.State == OK && ok && now.Sub(heard) > m.lateAfter() {
		m.state(Late, "", "no figures for "+now.Sub(heard).Round(time.Second).String(), sampler.Opt[time.Time]{})
		m.fleet.wake()
	}
}
