// Package tape writes and reads recordings: JSON Lines, plain or compressed with zstd.
// It also reads logs of nvidia-smi and gpustat: each form is a file of its own, and a row in
// formats. The format is described in docs/recording.md.
//
//	Snapshot ──► diff with the one before ─┐                 ┌─► zstd ─► file
//	Readings ──► only what changed ────────┼─► lines ─► queue ┘  (own goroutine)
//	Event ─────────────────────────────────┘
//
//	file ─► zstd, gzip or plain ─► lines ─┬─► scanner ─► Snapshot, Readings, Event, End
//	                                      └─► CSV, table, XML … ─► Snapshot
//
// Writing never waits for the disk: lines are handed to a goroutine, and an error comes
// back once, from the next Snapshot. Reading never fails after Open: what is cut, corrupt
// or out of order is skipped and reported by Notes.
package tape
