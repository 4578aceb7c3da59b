// Package watch tells, snapshot by snapshot, which alerts are open. Nothing in an alert may
// come from later, so a replay and a report give the same ones.
//
//	Snapshot ─► Watch.Add ─► gpu, proc, host (folds over series) ─► Facts ─► rules ─► incidents ─► []sampler.Alert
//	OOMEvent ─► Watch.Event ──────────────────────────────────────────┘
//
// A rule is one literal in its own file (rule_growth.go) and one line in rules.go. An alert
// that is open is renewed with every snapshot; the one kept in the list of past alerts is as
// it was when it was raised. Everything has a fixed size.
package watch
