package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/advice"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// Feed is where snapshots come from: the live loop or a recording.
type Feed interface {
	// Next waits for the next snapshots and returns all that came since, oldest first.
	Next(ctx context.Context) ([]*sampler.Snapshot, error)
	// ResetPeaks lets peaks begin again.
	ResetPeaks()
	// SetInterval changes the time between snapshots.
	SetInterval(time.Duration)
}

// Options of the screen. Zero values mean the defaults.
type Options struct {
	Need     sampler.Opt[sampler.Bytes]
	Theme    string // empty: by the terminal's background
	ASCII    bool
	NoColor  bool
	Label    string // "DEMO training"
	Interval time.Duration
	Span     time.Duration // of the plots
	Notify   Notify
	Failures <-chan sampler.OOMEvent // of a followed log; nil: none is followed
	Notices  <-chan string           // for the footer; nil: there are none
	Replay   *Replay                 // what is shown is a recording; nil: it is live
}

// spans that [ and ] go through.
var spans = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// intervals that + and - go through.
var intervals = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

// mode is what the keys act on.
type mode int

const (
	modeMain mode = iota
	modeHelp
	modeAdvice
	modeDetail
	modeNeed   // typing the need
	modeReset  // confirming P
	modeMoment // typing the moment to go to
)

// Model is the state of the screen.
type Model struct {
	ctx     context.Context
	feed    Feed
	opt     Options
	history *sampler.History
	watch   *advice.Watch
	newest  *sampler.Snapshot

	view       view
	paint      *paint
	screen     *screen   // nil: the frame is read with Frame
	terminal   *terminal // with screen
	noColor    bool
	themeFixed bool // chosen by the user: the terminal's answer is ignored
	worstFirst bool

	mode    mode
	typed   string              // in modeNeed
	follow  *sampler.ProcessKey // the process under the cursor
	top     int                 // first line shown of a long text
	w, h    int
	noticed int // number of the notice on screen, so that an old timer does not clear a new one
	err     error

	announced map[string]bool // critical and other alerts that were open; nil before the first
	copied    int             // how many commands were copied
}

// New makes the model. ctx ends the waiting for the feed.
func New(ctx context.Context, feed Feed, o Options) *Model {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Span == 0 {
		o.Span = 5 * time.Minute
	}
	m := &Model{ctx: ctx, feed: feed, opt: o, history: sampler.NewHistory(o.Interval),
		watch: advice.NewWatch(advice.Options{Need: o.Need})}
	t, fixed := theme.Named(o.Theme)
	if !fixed {
		t = theme.For(true)
	}
	m.themeFixed, m.noColor, m.paint = fixed, o.NoColor, newPaint(t, colorprofile.TrueColor)
	glyphs := &theme.Unicode
	if o.ASCII {
		glyphs = &theme.ASCII
	}
	m.view = view{history: m.history, need: o.Need, glyphs: glyphs, ascii: o.ASCII, span: o.Span,
		metric: plotMetrics[0].name, focus: -1, cursor: -1, sort: sortMemory, label: o.Label, interval: o.Interval}
	return m
}

// paintAs chooses the colours that the terminal has, of at most 256: true colour would
// look the same and take a third more bytes over SSH.
func (m *Model) paintAs(p colorprofile.Profile) {
	p = min(p, colorprofile.ANSI256)
	if m.noColor {
		p = min(p, colorprofile.ASCII)
	}
	m.paint = newPaint(m.paint.theme, p)
}

// paintIn changes the theme.
func (m *Model) paintIn(t *theme.Theme) { m.paint = newPaint(t, m.paint.profile) }

// Init begins to wait for snapshots, for failures in the log and for notices.
func (m *Model) Init() tea.Cmd {
	wait := []tea.Cmd{m.waitForSnapshots}
	if m.opt.Failures != nil {
		wait = append(wait, m.waitForFailure)
	}
	if m.opt.Notices != nil {
		wait = append(wait, m.waitForNotice)
	}
	return tea.Batch(wait...)
}

// Messages say what happened.
type (
	snapshotsArrived struct{ snapshots []*sampler.Snapshot }
	feedEnded        struct{ err error }
	failureFound     struct{ event sampler.OOMEvent }
	noticeExpired    struct{ number int }
)

func (m *Model) waitForSnapshots() (msg tea.Msg) {
	defer sampler.Guard(func(err error) { msg = feedEnded{err} })
	if m.opt.Replay != nil {
		return m.opt.Replay.wait(m.ctx)
	}
	s, err := m.feed.Next(m.ctx)
	if err != nil {
		return feedEnded{err}
	}
	return snapshotsArrived{s}
}

func (m *Model) waitForFailure() tea.Msg {
	if e, ok := <-m.opt.Failures; ok {
		return failureFound{e}
	}
	return nil
}

// Update takes one message and shows what has come of it.
func (m *Model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer sampler.Guard(func(err error) {
		m.err = err
		cmd = tea.Quit // Run gives the terminal back and tells
	})
	cmd = m.update(msg)
	if m.screen != nil && m.w > 0 && m.h > 0 {
		m.screen.show(m.draw(), m.paint)
	}
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotsArrived:
		m.take(msg.snapshots)
		return tea.Batch(m.waitForSnapshots, m.leaveEnded())
	case *sceneArrived:
		return m.play(msg)
	case feedEnded:
		return m.ended(msg.err)
	case failureFound:
		m.failed(msg.event)
		return m.waitForFailure
	case noticeSent:
		return m.sent(msg.text)
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case resumed:
		m.resume()
	case tea.BackgroundColorMsg:
		if !m.themeFixed {
			m.paintIn(theme.For(msg.IsDark()))
		}
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput && msg.Value == ansi.ModeReset && m.screen != nil {
			m.screen.synchronised()
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case noticeExpired:
		if msg.number == m.noticed {
			m.view.notice = ""
		}
	}
	return nil
}

func (m *Model) resize(w, h int) {
	if w <= 0 || h <= 0 { // not known: a terminal behind a serial line, or not set yet
		return
	}
	m.w, m.h = w, h
	if m.screen != nil {
		m.screen.again()
	}
}

func (m *Model) ended(err error) tea.Cmd {
	if m.ctx.Err() == nil {
		m.err = err
	}
	return tea.Quit
}

// failed takes a failure found in the log. It counts from the newest snapshot on.
func (m *Model) failed(e sampler.OOMEvent) {
	var at time.Time
	if m.newest != nil {
		at = m.newest.Time
	}
	alerts := m.watch.Event(e, at)
	m.announce(alerts)
	if !m.view.paused {
		m.view.alerts = alerts
	}
	m.fit()
}

// take folds new snapshots in. While paused the picture stays, but nothing is lost.
func (m *Model) take(snaps []*sampler.Snapshot) {
	var alerts []sampler.Alert
	for _, s := range snaps {
		m.history.Add(s)
		alerts = m.watch.Add(*s)
		m.newest = s
	}
	m.announce(alerts)
	if !m.view.paused {
		m.view.alerts = alerts
	}
	if !m.view.paused {
		m.show(m.newest)
	}
}

// show makes s the picture.
func (m *Model) show(s *sampler.Snapshot) {
	if s == nil {
		return
	}
	v := &m.view
	v.snap, v.past = s, m.watch.Past()
	v.order = ordered(s, m.worstFirst)
	if v.focus >= len(s.GPUs) {
		v.focus = -1
	}
	m.fit()
	m.list()
}

// fit compares the need with every GPU: what was typed, or what was refused last. The
// largest jump is left to the alerts, which know when it will come again.
func (m *Model) fit() {
	m.view.fits = nil
	if m.view.snap == nil {
		return
	}
	for i := range m.view.snap.GPUs {
		g := &m.view.snap.GPUs[i]
		f, ok := m.watch.Fit(g.Key())
		if need, known := f.Need.Value(); ok && known && need.Source != advice.NeedJump {
			m.view.fits = append(m.view.fits, f)
		}
	}
}

// list makes the rows of the process table; the cursor stays on its process, or on its
// row when the process is gone.
func (m *Model) list() {
	v := &m.view
	if v.snap == nil {
		return
	}
	v.procs = processRows(v)
	v.cursor = min(v.cursor, len(v.procs)-1)
	if m.follow == nil {
		return
	}
	for i, r := range v.procs {
		if r.key() == *m.follow {
			v.cursor = i
			return
		}
	}
}

// leaveEnded leaves the detail of a process that is gone: the row now belongs to another.
func (m *Model) leaveEnded() tea.Cmd {
	if v := &m.view; m.mode != modeDetail || v.paused || v.cursor >= 0 && v.procs[v.cursor].key() == *m.follow {
		return nil
	}
	m.mode = modeMain
	return m.note(fmt.Sprintf("process %d is gone", m.follow.PID))
}

// View is the screen as text. On a terminal nobody reads it: see screen.
func (m *Model) View() tea.View {
	if m.screen != nil || m.w == 0 || m.h == 0 {
		return tea.View{}
	}
	return tea.NewView(m.draw().render(m.paint))
}

// draw draws the screen of the present mode.
func (m *Model) draw() *canvas {
	v := &m.view
	v.prompt = ""
	switch m.mode {
	case modeNeed:
		v.prompt = "need of the next allocation (300MiB, 15.8GiB; empty: none): " + m.typed + "_"
		if m.w < 80 || v.notice != "" {
			v.prompt = "need: " + m.typed + "_"
		}
	case modeMoment:
		v.prompt = m.momentPrompt()
	case modeReset:
		v.prompt = "reset all peaks? y/n"
	}
	if m.mode == modeDetail && v.snap != nil && v.cursor >= 0 && v.cursor < len(v.procs) {
		return v.detail(m.w, m.h, v.procs[v.cursor], &m.top)
	}
	c := v.draw(m.w, m.h)
	switch m.mode {
	case modeHelp:
		v.help(c, m.paint.theme, &m.top)
	case modeAdvice:
		r := v.box(c, min(m.w, 100), m.h, "advice")
		m.top = v.textLines(c, r, v.adviceFull(r.w), m.top)
	}
	return c
}
