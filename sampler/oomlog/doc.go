// Package oomlog finds out-of-memory failures in any text: training logs, kernel logs, pasted tracebacks.
//
// The flow of a text; each step knows only those above it and the tables at its side, and parser.go leads
// from one to the next:
//
//	bytes ─ lines.go ─► line (bounded; \n and \r end it)
//	     ─ words.go ─► one pass over its bytes; lines without a word of tables.go stop here
//	     ─ ring.go, factbook.go, gpumemory.go ─► kept for the context of a later failure
//	     ─ clean.go, prefix.go ─► colors, borders, quoting and escapes removed; rank, pid and stream removed
//	     ─ streams.go, message.go ─► a row whose start matches begins a message of its rank or process,
//	       the lines after it may belong to it
//	     ─ fields.go, event.go ─► the message's numbers; guard.go refuses quoted source, hints, questions,
//	       example.go what a page or a source only shows
//	     ─ context.go ─► (for those that are kept) phase, step, batch size, parameters … from notes.go and facts.go on the lines before
//	     ─ report.go ─► what a person wrote above and below it
//	     ─ held.go, relation.go, merge.go ─► one failure printed several times becomes one event
//	events ─ scan.go ─► of a whole text; follow.go, tail.go ─► of one that is still being written
//
//	lazy.go, program.go, matcher.go, shape.go, gate.go ◄─ row.go, template.go ◄─ patterns*.go, recover.go, facts.go, gpumemory.go ◄─ tables.go
//
// What a failure looks like is said by the rows of the pattern tables (patterns*.go) alone: a new wording
// is one row and one pair of files in testdata/oom.
//
// Memory is constant whatever the size of the text: lines, the ring of recent lines, open messages and held
// events are all bounded. Nothing in here panics on any input; a fuzz target looks after that.
package oomlog
