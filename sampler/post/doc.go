// Package post reads what a person writes of a failure: a question in a forum, a report of a bug. Such a text
// says things that no log says, and sometimes it tells of the failure without showing the error.
//
//	text ─ sentences.go ─► sentences: what is neither log nor code
//	     ─ reported.go  ─► a failure that is only told of becomes an event without amounts
//	     ─ remarks.go   ─► so does one that a comment or a table tells of
//	     ─ judge.go     ─► what only speaks of failures has none: clues.go, layout.go and places.go weigh for and against
//	     ─ told.go      ─► growth, kind of program, phase … are added to the context of every event
//	     ─ hear.go      ─► so is what package hearsay hears in them, in whatever words
//	     ─ names.go     ─► scripts, commands and tools, wherever they stand
package post
