package oomlog

import (
	"slices"
	"strconv"
)

// engine is what a line of ignite, on which MONAI is built, says of one of its engines. A trainer and the evaluator that it
// runs between its epochs print the same lines, so that their order tells which is at work.
type engine int

const (
	noEngine engine = iota
	engineStarts
	engineEnds
)

var engineForm = pattern(`\bEngine run (?:(starting)|(resuming) from iteration \d+, epoch (\d{1,6}) until (\d{1,6}) epochs|(complete))`)

// engineOf reads such a line. A trainer "resumes" from epoch 0 in each run, and an evaluator from the epoch at which it is called
// until the next: neither goes on with a run before.
func engineOf(text part, resumed bool) (e engine, goesOn bool) {
	at := engineForm.findIn(text)
	switch {
	case at == nil:
		return noEngine, resumed
	case at[5] != "":
		return engineEnds, false
	case at[2] == "":
		return engineStarts, false
	}
	from, _ := strconv.Atoi(at[3])
	until, _ := strconv.Atoi(at[4])
	return engineStarts, from > 0 && until-from > 1
}

// withinEvaluator: the last engine that started did so while another one was at work, and no step of training was printed since.
func withinEvaluator(lines []*keptLine) bool {
	i, _ := openEngine(lines, func(n *notes) bool { return n.step.Known() || n.epoch.Known() })
	return i >= 0 && atWork(lines[:i])
}

// atWork: the lines show steps, or an engine that started and has not ended.
func atWork(lines []*keptLine) bool {
	i, steps := openEngine(lines, func(n *notes) bool { return n.step.Known() && n.epoch.Known() })
	return i >= 0 || steps
}

// openEngine is the line in which the last engine started that has not ended; -1: there is none, or what was looked for came since.
func openEngine(lines []*keptLine, since func(*notes) bool) (at int, came bool) {
	ended := 0
	for i, l := range slices.Backward(lines) {
		switch n := l.read(); {
		case n.engine == engineEnds:
			ended++
		case n.engine == engineStarts && ended > 0:
			ended--
		case n.engine == engineStarts:
			return i, false
		case ended == 0 && since(n):
			return -1, true
		}
	}
	return -1, false
}
