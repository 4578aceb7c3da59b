// Package oomlog finds out-of-memory failures in any text: training logs, kernel logs, pasted tracebacks.
//
// The flow of a text:
//
//	bytes ─ parser.go ─► line (bounded; \n and \r end it)
//	line ─ words.go ─► one pass over its bytes; lines without a word of the tables stop here
//	     ─ clean.go ─► colours, borders, quoting and escapes taken off
//	     ─ prefix.go ─► rank, pid and stream taken off (interleaved ranks part here)
//	     ─ message.go ─► a row of the table starts a message, the lines after it may belong to it
//	     ─ fields.go, sizes.go ─► numbers of the message; guard.go refuses quoted source, hints, questions
//	     ─ merge.go, recover.go ─► one failure printed several times becomes one event; recovery is noted
//	     ─ context.go, context_rows.go ─► phase, step, batch size, parameters … from the lines around it
//
// What a failure looks like is said by the rows of the pattern tables (patterns*.go) alone: a new wording
// is one row and one pair of files in testdata/oom.
//
// Memory is constant whatever the size of the text: lines, the ring of recent lines, open messages and held
// events are all bounded. Nothing in here panics on any input; a fuzz target looks after that.
package oomlog
