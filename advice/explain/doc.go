// Package explain says why a run died of memory and what to change. How an explanation
// comes about, and where to add to it:
//
//	Incident ─ gather.go ─► failure: facts (what happened), job (what was in force), footprint (what would help)
//	          ─ decide.go ─► what kind of program failed, which decides what is possible at all
//	failure ─ cause_*.go ─► causes: rows, each with its condition, confidence and evidence
//	causes ─ fix_*.go ─► advice: rows, each with the kinds of programs it is for, how likely the run lives with it, cost and commands
//	       ─ plan.go ─► plans: several fixes together, with the arithmetic
//	events ─ verdict.go ─► one verdict for the run
//
// A new cause or fix is one row, its id in ids.go and its words in package lang.
package explain
