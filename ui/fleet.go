package ui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// machines are several machines on one screen. Each has folds of its own; the one that is opened is shown as if it
// were the only one.
//
// A machine takes at most 55 KiB for each GPU and 10 KiB for each process (see history.NewSmall), and its watch: with
// 1,000 GPUs and 4,000 processes 116 MiB after 25 hours in which every figure has moved.
type machines struct {
	stream fleet.Stream
	now    func() time.Time
	list   []*machine // in the order in which they were asked for
	names  map[string]*machine
	open   *machine // whose screen is shown; nil: that of all
	begun  bool     // the first figures have come
	none   *folds   // while none is open: what is typed is kept there
	table  table    // the processes of all, while one is open

	pending []*sampler.Snapshot // that have come; only whoever waits looks at them
	part    int                 // so many at a time
	waited  bool                // the first have come

	overview // what the screen of all shows
}

// machine is one of them.
type machine struct {
	host   *fleet.Host // as it stands now
	folds  *folds
	alerts []sampler.Alert
	fresh  bool // there is more to show than row
	row    machineRow
	place  int // in the list of the worst
	rank   float64
	ranked time.Time // when it was last as bad as rank
}

// NewFleet makes the model of several machines. ctx ends the waiting for them. Of the options, the processes of this
// machine, a followed log and a recorder do not count; Now must be set.
func NewFleet(ctx context.Context, stream fleet.Stream, o Options) *Model {
	o.Processes, o.Recorder, o.Failures, o.Marks, o.Log = nil, nil, nil, nil, ""
	m := New(ctx, nil, o)
	m.fleet = &machines{stream: stream, now: o.Now, none: m.folds}
	return m
}

// overviewed says whether the screen shows all machines.
func (m *Model) overviewed() bool { return m.fleet != nil && m.fleet.open == nil }

// fleetArrived is news of the machines. It may be empty.
type fleetArrived struct {
	fleet.Update
	more bool // of it is to come at once
}

// A second of a hundred machines takes 20 ms to fold in: it is taken in parts, between which keys count. So many snapshots are one, but
// there are no more parts than that. The first news, which a screen waits for, is taken at once.
const (
	partLeast = 24
	partsMost = 8
)

// fleetFrames is how often an interval there is a picture at most: machines come one by one.
const fleetFrames = 2

// waitForFleet waits for news, but no longer than an interval: how old figures are is seen without news, too.
func (m *Model) waitForFleet() (msg tea.Msg) {
	defer sampler.Guard(func(err error) { msg = streamEnded{err} })
	f := m.fleet
	if len(f.pending) > 0 {
		return f.nextPart(fleet.Update{})
	}
	ctx, cancel := context.WithTimeout(m.ctx, f.stream.Interval())
	defer cancel()
	u, err := f.stream.Next(ctx)
	first := !f.waited
	if f.waited = true; !first && len(u.Snapshots) > partLeast {
		f.pending, f.part = u.Snapshots, max(partLeast, (len(u.Snapshots)+partsMost-1)/partsMost)
		u.Snapshots = nil
		return f.nextPart(u)
	}
	if err != nil && !(errors.Is(err, context.DeadlineExceeded) && m.ctx.Err() == nil) {
		return streamEnded{err}
	}
	return fleetArrived{Update: u}
}

// nextPart adds the next part of what is pending.
func (f *machines) nextPart(u fleet.Update) fleetArrived {
	n := min(f.part, len(f.pending))
	u.Snapshots, f.pending = f.pending[:n], f.pending[n:]
	return fleetArrived{u, len(f.pending) > 0}
}

// waitAgain lets several machines come before it waits for news.
func (m *Model) waitAgain() tea.Msg {
	timer := time.NewTimer(m.fleet.stream.Interval() / fleetFrames)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.ctx.Done():
	}
	return m.waitForFleet()
}

// takeFleet folds news of the machines in.
func (m *Model) takeFleet(u fleetArrived) {
	f := m.fleet
	if u.Hosts != nil {
		m.adopt(u.Hosts)
	}
	var heard []*machine
	for _, s := range u.Snapshots {
		if k := f.named(s.Host); k != nil {
			k.alerts = k.folds.add(s)
			if !slices.Contains(heard, k) {
				heard = append(heard, k)
			}
		}
	}
	for _, k := range heard {
		k.fresh = true
		m.tty.send(m.alerts.announce(&k.folds.heard, k.alerts, k.folds.newest.Ahead(), m.words, k.host.Name))
	}
	switch k := f.open; {
	case k == nil && !f.begun && len(heard) > 0 && len(f.list) == 1: // there is nothing to choose
		m.openMachine(f.list[0])
	case k == nil && !u.more:
		m.survey()
	case k == nil: // the last part makes the picture
	case !slices.Contains(f.list, k):
		m.leaveMachine()
	default:
		m.shown.standing = m.standing(k.host)
		if slices.Contains(heard, k) && !m.shown.frozen {
			m.showMachine(k)
		}
	}
	f.begun = f.begun || len(heard) > 0
}

// adopt takes the machines as they stand now. What is known of those that are no more goes with them.
func (m *Model) adopt(hosts []*fleet.Host) {
	f := m.fleet
	list := make([]*machine, len(hosts))
	for i, h := range hosts {
		k := f.named(h.Name)
		if k == nil {
			k = &machine{folds: newFolds(history.NewSmall(f.stream.Interval()), m.opt), place: i}
			k.folds.watch.SetNeed(f.none.watch.Need())
			k.folds.watch.SetLevels(f.none.watch.Levels())
		}
		k.fresh = k.fresh || k.host != h
		k.host, list[i] = h, k
	}
	f.list, f.names = list, map[string]*machine{}
	for _, k := range list {
		f.names[k.host.Name] = k
	}
}

// named is the machine of that name, or nil.
func (f *machines) named(name string) *machine { return f.names[name] }

// openMachine shows a machine as if it were the only one.
func (m *Model) openMachine(k *machine) {
	f := m.fleet
	f.open, f.table, f.follow = k, m.table, k.host.Name
	m.table = table{cursor: -1, columns: f.table.columns, sort: f.table.sort, reverse: f.table.reverse, group: f.table.group}
	m.point(k.folds)
	m.shown.standing = m.standing(k.host)
	m.showMachine(k)
}

func (m *Model) showMachine(k *machine) {
	m.shown.alerts = k.alerts
	if s := k.folds.newest; s != nil {
		m.plot.grow(s.Time.Sub(k.folds.began))
		m.show(s)
	}
}

// leaveMachine shows all of them again.
func (m *Model) leaveMachine() {
	f := m.fleet
	f.open, m.table = nil, f.table
	m.prompt.open(modeMain)
	m.point(f.none)
	m.survey()
}

// point shows what other folds hold, and nothing of those before.
func (m *Model) point(to *folds) {
	m.folds, m.gpus, m.signals, m.environment = to, gpuList{}, signalMenu{}, environmentView{}
	clear(m.plots)
	m.shown = shown{label: m.shown.label, frozen: m.shown.frozen}
}

// viaWhole is what gives all figures that this machine would have of its own; others lack some.
const viaWhole = "nvpeak"

// standing is what the screen of a machine says of how it stands.
func (m *Model) standing(h *fleet.Host) piece {
	since := h.Since.Format("15:04:05")
	switch h.State {
	case fleet.Late:
		return piece{theme.Warning, m.words.Say("fleet.is_late", "time", since)}
	case fleet.Lost:
		return piece{theme.Critical, m.words.Say("fleet.is_lost", "time", since)}
	case fleet.Connecting:
		return piece{theme.Notice, m.words.Say("fleet.connecting")}
	}
	if h.Via != "" && h.Via != viaWhole {
		return piece{theme.Dim, m.words.Say("fleet.is_ok_by", "via", sampler.Clean(h.Via))}
	}
	return piece{theme.Dim, m.words.Say("fleet.is_ok")}
}
