package sampler

import "time"

// sinceBoot is a clock that nobody sets. Tests put one of fake time in its place.
var sinceBoot = bootTime

// goTime is the clock of systems that have no better one.
func goTime() time.Duration { return time.Since(loaded) }

var loaded = time.Now()
