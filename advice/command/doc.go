// Package command reads command lines as a shell does and edits them where they stand: what
// the user typed stays, but for the words that an advice changes.
//
//	text ─► Line ─► arguments, style of the program ─► Suggestion, edited text
package command
