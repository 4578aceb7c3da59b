// Package advice says what the samples mean: it folds snapshots into facts, facts
// into alerts, and explains out-of-memory failures. It imports the words of package
// sampler and the standard library, nothing else; it never asks a clock, opens a
// file or picks a colour. The time of everything is the time of the snapshot.
//
//	Snapshot ─► Watch.Add ─► series (per process, per GPU, host) ─► Facts ─► rules ─► incidents ─► []sampler.Alert
//	OOMEvent ─► Watch.Event ───────────────────────────────────────────┘
//	OOMEvent ─► Explain ─► causes, ranked advice
//
// A rule is one literal in its own file (rule_growth.go) and one line in rules.go.
// An alert that is open is renewed with every snapshot; the one kept in the list of
// past alerts is as it was when it was raised, so nothing in it can come from later.
// Everything has a fixed size: rings, counters and lists with a limit.
package advice
