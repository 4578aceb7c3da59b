package trainlog

import (
	"strings"

	"nvpeak/sampler"
)

// wentOnSteps is how many further steps show that a program lives on.
const wentOnSteps = 5

var (
	refusedLine   = sampler.Pattern{Source: `(?i)out[ -]?of[ -]?memory|\boom\b|failed to allocate|cannot allocate|alloc_failed|memory`}
	exceptionLine = sampler.Pattern{Source: `^(?:\S+: ?|\[\S+\]:? ?)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Stop\w*)\b`}
	stepLine      = sampler.Pattern{Source: `(?i)\b(?:steps?|iters?|iterations?|batch|it|idx|epochs?)\b["']?[\s:=#\[(]{0,4}(\d+)|\b(\d+)/\d+ \[`}
)

const (
	traceHead = "Traceback (most recent call last):"
	chainHead = "the above exception"
)

// WentOn says whether the end of what a program printed shows that it had gone on past its last out-of-memory
// error, and then failed of something else: further steps, and the traceback of another error. whole: nothing
// came before text.
func WentOn(text string, whole bool) bool {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	last := lastTraceback(lines)
	if last < 0 {
		return false
	}
	refused := -1
	for i, line := range lines[:last] {
		if refusedLine.Get().MatchString(line) && !stepLine.Get().MatchString(line) {
			refused = i
		}
	}
	if refused < 0 && whole {
		return false
	}
	steps := map[string]bool{}
	for _, line := range lines[refused+1 : last] {
		if strings.Contains(line, chainHead) {
			return false // one error while another was handled
		}
		for _, m := range stepLine.Get().FindAllStringSubmatch(line, 4) {
			steps[m[0]] = true
		}
	}
	return len(steps) >= wentOnSteps
}

// lastTraceback is where the last traceback begins, if neither its error nor what was printed after it is about
// memory; else -1. Steps after it say nothing: what a program prints to a pipe of its own may be read late, and
// Python writes its buffered standard output when the traceback is out.
func lastTraceback(lines []string) int {
	last := -1
	for i, line := range lines {
		if strings.Contains(line, traceHead) {
			last = i
		}
	}
	if last < 0 {
		return -1
	}
	named := false
	for _, line := range lines[last+1:] {
		switch {
		case exceptionLine.Get().MatchString(line):
			if refusedLine.Get().MatchString(line) {
				return -1
			}
			named = true
		case named && refusedLine.Get().MatchString(line) && !stepLine.Get().MatchString(line), strings.Contains(line, chainHead):
			return -1
		}
	}
	if !named {
		return -1
	}
	return last
}
