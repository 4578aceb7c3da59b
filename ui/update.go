package ui

import (
	"time"

	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/player"
)

// Messages say what happened.
type (
	snapshotsArrived struct{ snapshots []*sampler.Snapshot }
	peakArrived      struct {
		before snapshotsArrived // may hold none
		early  *sampler.Snapshot
	}
	sceneArrived struct{ *player.Scene }
	streamEnded  struct{ err error }
	failureFound struct{ event sampler.OOMEvent }
	troubleFound struct{ text string }
	answerLate   struct{}
)

// answerTime is how long the first snapshot may take before it is said that the driver does not answer.
const answerTime = 2 * time.Second

// Init begins to wait for snapshots, for failures in the log, and for troubles in passing alerts on.
func (m *Model) Init() tea.Cmd {
	if m.began != nil {
		m.began()
	}
	wait := m.waitForSnapshots
	if m.fleet != nil {
		wait = m.waitForFleet
	}
	cmds := []tea.Cmd{wait}
	if m.opt.Failures != nil {
		cmds = append(cmds, m.waitForFailure)
	}
	if m.opt.Notify.Troubles != nil {
		cmds = append(cmds, m.waitForTrouble)
	}
	return tea.Batch(cmds...)
}

func (m *Model) waitForSnapshots() (msg tea.Msg) {
	defer sampler.Guard(func(err error) { msg = streamEnded{err} })
	if m.player != nil {
		s, err := m.player.Scene(m.ctx)
		if err != nil {
			return streamEnded{err}
		}
		return sceneArrived{s}
	}
	next := func(ctx context.Context) (s []*sampler.Snapshot, early *sampler.Snapshot, err error) {
		s, err = m.stream.Next(ctx)
		return s, nil, err
	}
	if p, ok := m.stream.(sampler.PeakStream); ok {
		next = p.NextOrPeak
	}
	s, early, err := next(m.ctx)
	switch {
	case err != nil:
		return streamEnded{err}
	case early != nil:
		return peakArrived{snapshotsArrived{s}, early}
	}
	return snapshotsArrived{s}
}

func (m *Model) waitForFailure() tea.Msg {
	if e, ok := <-m.opt.Failures; ok {
		return failureFound{e}
	}
	return nil
}

func (m *Model) waitForTrouble() tea.Msg {
	if text, ok := <-m.opt.Notify.Troubles; ok {
		return troubleFound{text}
	}
	return nil
}

// Update takes one message and shows what has come of it.
func (m *Model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer sampler.Guard(func(err error) {
		m.err = err
		cmd = tea.Quit // Run gives the terminal back and reports the error
	})
	if m.quits {
		return m, nil
	}
	peak, early := msg.(peakArrived)
	m.peeks = early && len(peak.before.snapshots) == 0
	cmd = m.update(msg)
	if part, ok := msg.(fleetArrived); ok && part.more && m.overviewed() {
		return m, cmd // the last one is shown
	}
	if m.tty.screen != nil && m.tty.sized() {
		m.tty.screen.show(m.draw(), m.tty.paint)
	}
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotsArrived:
		return tea.Batch(m.take(msg.snapshots), m.waitForSnapshots, m.leaveEnded())
	case peakArrived:
		cmd := m.update(msg.before)
		m.peek(msg.early)
		return cmd
	case fleetArrived:
		m.takeFleet(msg)
		return tea.Batch(pick(msg.more, m.waitForFleet, m.waitAgain), m.leaveEnded())
	case sceneArrived:
		return tea.Batch(m.play(msg.Scene), m.waitForSnapshots)
	case streamEnded:
		return m.ended(msg.err)
	case failureFound:
		m.failed(msg.event)
		return m.waitForFailure
	case troubleFound:
		return tea.Batch(m.notices.show(msg.text, longNoticeTime), m.waitForTrouble)
	case answerLate:
		m.shown.silent = m.shown.snap == nil
	case tea.WindowSizeMsg:
		m.tty.resize(msg.Width, msg.Height)
		m.survey() // there may be room for more
	case stopAsked:
		return m.suspend(false)
	case stayed:
		m.resume(false)
	case resumed:
		m.resume(true)
	case tea.BackgroundColorMsg:
		if !m.tty.themeFixed {
			m.tty.paintIn(theme.For(msg.IsDark()))
		}
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput && msg.Value == ansi.ModeReset && m.tty.screen != nil {
			m.tty.screen.synchronized()
		}
	case tea.KeyPressMsg:
		mode, number := m.prompt.mode, m.notices.number
		cmd := m.key(msg)
		if m.prompt.mode != mode && m.prompt.mode != modeMain && m.notices.number == number {
			m.notices.text = "" // it belongs to what was open before
		}
		return cmd
	case tea.MouseClickMsg:
		return m.clicked(msg.Mouse())
	case tea.MouseWheelMsg:
		return m.wheeled(msg.Mouse())
	case tea.PasteMsg:
		m.prompt.paste(msg.Content)
		if m.prompt.mode == modeFilter {
			m.setFilter()
		}
	case environmentRead:
		m.environmentRead(msg)
	case signaled:
		return m.signaled(msg)
	case signalEnded:
		return m.signalEnded(msg)
	case noticeExpired:
		m.notices.expire(msg)
	}
	return nil
}

func (m *Model) ended(err error) tea.Cmd {
	if m.ctx.Err() == nil {
		m.err = err
	}
	return m.quit()
}

// quitAfter is how long the end waits for what was typed or pointed at behind the key, which has been read with it. Nobody would take it
// from the reader, and the end would wait half a second for that.
const quitAfter = 2 * time.Millisecond

// quit ends the program. What comes until then is for the shell, and nobody's here.
func (m *Model) quit() tea.Cmd {
	m.quits = true
	return tea.Tick(quitAfter, func(time.Time) tea.Msg { return tea.QuitMsg{} })
}

// leaveEnded leaves the detail of a process that is gone: the row now belongs to another.
func (m *Model) leaveEnded() tea.Cmd {
	if m.prompt.mode != modeDetail || m.shown.frozen || !m.table.lost() {
		return nil
	}
	m.prompt.open(modeMain)
	return m.note(m.words.Say("say.gone", "pid", m.table.follow.PID))
}

// View is the screen as text. On a terminal nobody reads it: see screen.
func (m *Model) View() tea.View {
	if m.tty.screen != nil || !m.tty.sized() {
		return tea.View{}
	}
	return tea.NewView(m.draw().render(m.tty.paint))
}
