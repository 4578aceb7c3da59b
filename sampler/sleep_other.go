//go:build !linux

package sampler

import "time"

func block(d time.Duration) { time.Sleep(d) }

func punctual() {}
