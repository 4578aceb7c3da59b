// Package demo is a source of scripted GPUs. It serves where there is no GPU, for
// pictures, and for tests that need a known story.
//
//	script (scenario_x.go) ──compile──► GPUs with actors ──clock──► Reading, Metrics, Process
//
// Every answer is a pure function of the script and of the seconds since the source
// was made: nothing is remembered, nothing is random, nothing runs in the background.
// Asking often, seldom or for simulated time gives the same figures, so what the
// screen shows has gone the same way as the figures of a real driver.
//
// A new scenario is one file with its script and one line in the list of demo.go.
package demo
