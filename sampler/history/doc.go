// Package history keeps what snapshots have said so far, for the plots: a fold over
// snapshots, the same for a live run, a replay and a report.
//
//	Snapshot ──► History ──► Series of a GPU or process ──► Track ──► columns of a plot
//	        └──► Archive ──► the History at any time of a recording
//
// A History forgets: the last hour is kept by the second, the last day by the minute. An
// Archive keeps every second. Peaks are not kept here but by sampler.Watermarks, which
// the loop fills while it measures.
package history
