package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// take folds new snapshots in. A frozen display stays, but nothing is lost.
func (m *Model) take(snaps []*sampler.Snapshot) (cmd tea.Cmd) {
	if len(snaps) == 0 {
		return nil
	}
	var alerts []sampler.Alert
	m.tellMarks()
	for _, s := range snaps {
		if set := m.clockSet(s); set != nil {
			cmd = set
		}
		alerts = m.folds.add(s)
		if m.opt.Recorder != nil {
			if err := m.opt.Recorder.Snapshot(s, alerts); err != nil {
				cmd = m.notices.show(sampler.Clean(err.Error()), longNoticeTime)
			}
		}
	}
	m.plot.grow(m.folds.newest.Time.Sub(m.folds.began))
	m.raised(alerts)
	if !m.shown.frozen {
		m.show(m.folds.newest)
	}
	return cmd
}

// clockSet tells that the clock was set before a snapshot.
func (m *Model) clockSet(s *sampler.Snapshot) tea.Cmd {
	by := s.Ahead() - m.ahead()
	if by == 0 || m.folds.newest == nil {
		return nil
	}
	return m.notices.show(m.words.Say(pick(by < 0, "say.clock_back", "say.clock_forward"), "span", by.Abs().Round(time.Second)), longNoticeTime)
}

// ahead is how far the time of day is ahead of that of the newest snapshot.
func (m *Model) ahead() time.Duration {
	if m.folds.newest == nil {
		return 0
	}
	return m.folds.newest.Ahead()
}

// peek shows an early picture. It is for the eye alone: the next snapshot has what it shows.
func (m *Model) peek(early *sampler.Snapshot) {
	if !m.shown.frozen {
		m.show(early)
	}
}

// raised announces the open alerts, and shows them.
func (m *Model) raised(alerts []sampler.Alert) {
	m.tty.send(m.alerts.announce(&m.folds.heard, alerts, m.ahead(), m.words, ""))
	if !m.shown.frozen {
		m.shown.alerts = alerts
	}
}

// failed takes a failure found in the log. It counts from the newest snapshot on.
func (m *Model) failed(e sampler.OOMEvent) {
	at := m.newestTime()
	if m.opt.Recorder != nil {
		m.opt.Recorder.Failure(e, at)
	}
	m.raised(m.folds.watch.Event(e, at))
	m.fit()
}

// newestTime is zero before the first snapshot.
func (m *Model) newestTime() time.Time {
	if m.folds.newest == nil {
		return time.Time{}
	}
	return m.folds.newest.Time
}

// play shows a scene of a replay.
func (m *Model) play(s *player.Scene) tea.Cmd {
	if s.Jump != nil {
		m.folds = &folds{history: s.History, watch: s.Jump.Watch, newest: s.Jump.Snapshot}
		m.shown.alerts = s.Jump.Alerts
	}
	var cmd tea.Cmd
	for _, f := range s.Frames {
		if set := m.clockSet(f.Snapshot); set != nil {
			cmd = set
		}
		m.folds.history.Add(f.Snapshot)
		m.shown.alerts = f.Fold(m.folds.watch)
		m.folds.newest = f.Snapshot
	}
	m.at(m.player.Timeline()) // not that of the scene: a key may have come since it was made
	if m.folds.newest != nil {
		m.plot.grow(m.folds.newest.Time.Sub(m.shown.timeline.Start))
	}
	m.show(m.folds.newest)
	if s.Notice == "" {
		return cmd
	}
	return m.notices.show(sampler.Clean(s.Notice), longNoticeTime)
}

// at shows where a replay is.
func (m *Model) at(t *player.Timeline) { m.shown.timeline, m.shown.frozen = t, t.Paused }

// show makes s the picture.
func (m *Model) show(s *sampler.Snapshot) {
	if s == nil {
		return
	}
	m.shown.snap, m.shown.past = s, m.folds.watch.Past()
	m.fit()
	m.list()
	v := m.view()
	m.shown.room = m.shown.room.keep(len(v.adviceLines(v.adviceRoom(m.tty.w, m.tty.h))), s.Time)
}

// room is what the advice had of late. It is kept for a while: with alerts that come and go, all that stands
// below would jump, and be drawn anew.
type room struct {
	rows int
	at   time.Time // when it was last needed
}

// roomTime is how long the advice keeps the room of alerts that are over.
const roomTime = 30 * time.Second

// keep is the room after so many rows are needed.
func (r room) keep(rows int, now time.Time) room {
	if age := now.Sub(r.at); rows >= r.rows || age < 0 || age > roomTime {
		return room{rows, now}
	}
	return r
}

// fit compares the need with every GPU: what was typed, or what was refused last. The
// largest jump is left to the alerts, which know when it will come again.
func (m *Model) fit() {
	m.shown.fits = nil
	if m.shown.snap != nil {
		m.shown.fits = m.folds.fits(m.shown.snap)
	}
}

func (f *folds) fits(s *sampler.Snapshot) (list []gpuFit) {
	for i := range s.GPUs {
		g := &s.GPUs[i]
		fit, ok := f.watch.Fit(g.Key())
		if ok && fit.Need.Known() {
			list = append(list, gpuFit{g, fit})
		}
	}
	return list
}

// list makes the rows of the process table.
func (m *Model) list() {
	if m.overviewed() {
		m.survey()
	} else if s := m.shown.snap; s != nil {
		only := m.gpus.focused(s)
		m.table.keep = m.prompt.mode == modeDetail
		m.table.list(s, only)
		m.table.lately = m.table.unattributed() + m.folds.history.SeenSince(s.Time.Add(-latelyTime),
			func(on sampler.GPUKey) bool { return only == nil || only.Key() == on })
	}
}
