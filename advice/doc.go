// Package advice is the map of what the samples mean; the code is in its rooms, of which
// each knows only those after it. All of it folds over the words of package sampler: it
// never asks a clock, opens a file or picks a color. The time of everything is the time
// of the snapshot.
//
//	report   a recording judged as a whole             ─► watch, explain, series
//	watch    snapshots ─► facts ─► rules ─► open alerts  ─► explain, series
//	retry    a death ─► is it tried again, with what changed ─► explain, command
//	explain  a failure ─► causes, fixes, verdict         ─► command
//	series   the memory of one holder over time: trends, spikes, patterns
//	command  command lines: words, arguments, edits
//	lang     every sentence, one file for each language; any room may say one
//
// advicetest has the simulated boxes on which alerts and reports are tested.
package advice
