package ui

import (
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
	"nvpeak/ui/player"
)

// shown is what the display shows; a frozen one keeps it.
type shown struct {
	snap     *sampler.Snapshot
	alerts   []sampler.Alert
	past     []sampler.Alert
	fits     []gpuFit
	timeline *player.Timeline // of a replay; nil: it is live
	frozen   bool
	silent   bool   // there is no snapshot yet, and has not been for long
	room     room   // of the advice
	label    string // "DEMO training", "REPLAY"
	standing piece  // how the machine stands in its fleet; empty: there is none
}

// gpuFit is the need compared with a GPU.
type gpuFit struct {
	gpu *sampler.GPU
	watch.Fit
}

// view is what every pane draws from: data and settings, which it only reads. Panes are
// plain functions of it and a canvas; time is the snapshot's time.
type view struct {
	shown
	history  *history.History
	need     sampler.Bytes
	table    *table
	gpus     *gpuList
	focus    *sampler.GPU // nil: all
	plot     plot
	plots    map[sampler.GPUKey]*plotted // what a frame leaves to the next
	glyphs   *theme.Glyphs
	ascii    bool
	words    lang.Catalog
	outlook  outlooks                                               // nil: not known
	fixes    func(sampler.GPUKey) (fixes []sampler.Advice, pid int) // for what comes; nil: not known
	stands   []logStand                                             // of the run whose log is followed
	steps    []logStep                                              // the same
	user     string                                                 // who follows it; empty: not known
	footer   footer
	fleet    *machines                 // nil: there is one machine
	spots    []spot                    // that can be clicked
	covered  bool                      // the footer lies on what is beneath it
	told     []hint                    // keys that stand in a border
	panes    []placed                  // of GPUs
	outcomes map[*sampler.GPU]sentence // said so far
	before   drawn                     // the frame before, of which something may be kept
	peeks    bool                      // it is the same but for an early picture
	frames   int                       // so many were drawn, with this one
	whole    *sampler.Snapshot         // that an early picture shows with a new peak; nil: the picture is a snapshot
	verdicts map[*sampler.GPU]piece
	programs map[*sampler.GPU]string // that fill them by design
	heads    []headline
	headed   bool      // heads are made
	figures  []float64 // for what is plotted, the same from frame to frame
}

// footer is the last line: what is typed, a message, or the keys.
type footer struct {
	prompt, notice string
	keys           []hint
	table          []hint // in the border of the process table
}

// hint is a key of the footer and its word.
type hint struct{ key, word string }

// wall is the time of day, for people to read, of a time in the picture.
func (v *view) wall(t time.Time) time.Time { return t.Add(v.snap.Ahead()) }

// now is the time of the picture.
func (v *view) now() time.Time { return v.snap.Time }
