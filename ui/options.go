package ui

import (
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/notify"
)

// Options of the screen. Zero values mean the defaults.
type Options struct {
	Need     sampler.Opt[sampler.Bytes]
	Theme    string // empty: by the terminal's background
	Light    bool   // what that is until the terminal says so
	ASCII    bool
	Lang     string // of what is said; empty: English
	NoColor  bool
	Label    string        // "DEMO training"
	Span     time.Duration // of the plots; 0: as long as there is something to show, up to 5 minutes
	Lines    bool          // plots are lines, not filled
	Columns  []string      // of the process table, of ColumnNames; none: as many as matter and fit
	Sort     string        // one of SortNames, with a dash before it the other way round; empty: by memory
	Log      string        // that is followed, for people to explain; empty: none
	Notify   Notify
	Levels   watch.Levels            // that somebody has set: alerts tell when they are reached
	Failures <-chan sampler.OOMEvent // of a followed log; nil: none is followed
	Marks    <-chan sampler.LogMark  // what such a log says of the allocator; may be nil
	Recorder Recorder                // nil: nothing is recorded

	Now func() time.Time // the clock that a fleet is seen by; NewFleet needs it

	Save SaveSettings // of the setup window; nil: there is no place for them

	NoMouse   bool      // the mouse is left to the terminal
	Processes Processes // of this machine; nil: nobody can be acted on
	ReadOnly  bool      // no way to signal a process
	User      string    // who runs the monitor
	Root      bool      // with the rights of root
}

// Notify says how a new critical alert is announced besides the panel.
type Notify struct {
	notify.Terminal
	Report   func(sampler.Alert) // must not wait; may be nil
	Troubles <-chan string       // what reporting has failed in, for the viewer; may be nil
}

// Recorder writes down what the screen is shown, so that a replay shows the same.
type Recorder interface {
	// Snapshot takes a snapshot with the alerts that are open then. Its error is for the viewer.
	Snapshot(s *sampler.Snapshot, alerts []sampler.Alert) error
	// Failure takes one of Options.Failures; at is zero before the first snapshot.
	Failure(e sampler.OOMEvent, at time.Time)
	// Need takes a change of the need; absent: it was taken back.
	Need(need sampler.Opt[sampler.Bytes], at time.Time)
}
