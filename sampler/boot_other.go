//go:build !linux

package sampler

import "time"

func sinceBoot() time.Duration { return time.Since(loaded) }

var loaded = time.Now()
