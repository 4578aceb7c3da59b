package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
	"nvpeak/ui/player"
)

// Model is the state of the screen. Each pane has a part of it.
type Model struct {
	ctx    context.Context // ends the waiting for the stream
	stream sampler.Stream
	player *player.Player // the stream, when it is a replay; nil: it is live
	opt    Options

	folds       *folds
	shown       shown
	table       table
	gpus        gpuList
	plot        plot
	plots       map[sampler.GPUKey]*plotted
	prompt      prompt
	notices     notices
	spots       []spot // of the picture
	drawn       drawn  // the picture, where it is the main screen
	frames      int    // so many were drawn
	peeks       bool   // nothing but an early picture has come since
	figures     []float64
	signals     signalMenu
	environment environmentView
	setup       setup
	fleet       *machines // nil: there is one machine
	alerts      alertFeed
	tty         tty
	glyphs      *theme.Glyphs
	words       lang.Catalog
	began       func() // called when the program's loop begins; nil: nothing is to be done
	quits       bool
	err         error
}

// folds are what the snapshots of a machine have come to. They go on while the display is frozen.
type folds struct {
	history *history.History
	watch   *watch.Watch
	newest  *sampler.Snapshot
	heard   heard
	stands  []logStand
	steps   []logStep
	began   time.Time // of the first snapshot
}

func newFolds(h *history.History, o Options) *folds {
	return &folds{history: h, watch: watch.New(watch.Options{Need: o.Need, Lang: o.Lang, Log: o.Log, Levels: o.Levels})}
}

// add folds a snapshot in, and returns the alerts that are open then.
func (f *folds) add(s *sampler.Snapshot) []sampler.Alert {
	f.history.Add(s)
	if f.newest = s; f.began.IsZero() {
		f.began = s.Time
	}
	return f.watch.Add(*s)
}

// New makes the model of a stream. ctx ends the waiting for it.
func New(ctx context.Context, stream sampler.Stream, o Options) *Model {
	interval := time.Second
	if stream != nil {
		interval = stream.Interval()
	}
	m := &Model{ctx: ctx, stream: stream, opt: o, plot: plot{span: pick(o.Span == 0, usualSpan, o.Span), chosen: o.Span != 0, lines: o.Lines, metric: plotMetrics[0]}, plots: map[sampler.GPUKey]*plotted{}, table: table{cursor: -1},
		shown: shown{label: o.Label}, tty: newTTY(o), glyphs: &theme.Unicode, words: lang.For(o.Lang), alerts: alertFeed{notify: o.Notify},
		folds: newFolds(history.New(interval), o)}
	m.table.choose(o.Columns)
	m.table.sortBy(o.Sort)
	m.player, _ = stream.(*player.Player)
	if o.ASCII {
		m.glyphs = &theme.ASCII
	}
	return m
}

// note shows a message in the footer for a while.
func (m *Model) note(text string) tea.Cmd { return m.notices.show(text, noticeTime) }
