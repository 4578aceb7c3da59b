// Package trainlog reads when things happened in the log of a training: the times of its
// lines, epochs, validation, saving, and readings of the allocator that it prints.
// Failures are the business of package oomlog.
//
//	lines ─► stamp.go: the time of a line, as printed
//	      ─► marks.go: what the line says of the run
//	      ─► listen.go: the same while the log is written
//	marks, times of lines ─► anchor.go: the zone and the date that logs leave out
//
// Memory is bounded whatever the size of the log, and no input makes it fail.
package trainlog
