//go:build !linux

package sampler

import "time"

func bootTime() time.Duration { return goTime() }
