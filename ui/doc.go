// Package ui is the Bubble Tea screen of the monitor.
//
//	Feed ──► Model.Update ──► history, watch ──► view ──► panes ──► canvas ──► terminal
//
// The Model is the only thing that changes. Panes are plain functions of a view (data
// and settings) that draw on a canvas of cells, which clips; a new pane is one file and
// one call in layout.go. Nothing waits in Update or View: a command waits for the feed.
package ui
