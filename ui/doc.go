// Package ui is the Bubble Tea screen of the monitor.
//
//	sampler.Stream ──► Model.Update ──► folds ──► view ──► panes ──► canvas ──► terminal
//	player.Player  ──►
//
// The Model is the only thing that changes: each pane has a part of it, and the keys
// (bindings.go) change the parts (actions.go). Panes are plain functions of a view (data
// and settings, only read) that draw on a canvas of cells, which clips; a new pane is one
// file, a place in layout.go and a call in pane_main.go. Nothing waits in Update or View: a command waits for
// the stream.
package ui
