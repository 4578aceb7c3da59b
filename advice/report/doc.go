// Package report judges a recording as a whole: peaks, growth, spikes, the alerts that the
// live monitor would have raised, causes and advice.
//
//	snapshots, readings, events ─► Reporter ─► Report
//	two Reports ─► Compare
package report
