package sampler

import (
	"fmt"
	"runtime/debug"
)

// Guard turns a panic of a goroutine into a call of report, so that the screen can be
// restored before the program ends. Use: defer Guard(report).
func Guard(report func(error)) {
	if r := recover(); r != nil {
		report(fmt.Errorf("internal error: %v\n%s", r, debug.Stack()))
	}
}
