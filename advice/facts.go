package advice

import (
	"time"

	"nvpeak/sampler"
)

// Facts are what a rule may look at: one card (or, with no card, the host and the
// machine) with everything that was folded from the snapshots so far.
type Facts struct {
	now   float64 // seconds on the Watch's clock
	time  time.Time
	card  *card
	cards []*card // all of them, for jobs on several
	host  *host
	watch *Watch // its needs and failures
}

// mib is an amount as series keep it.
func mib(b sampler.Bytes) float64 { return float64(b) / float64(sampler.MiB) }

// bytesOf is an amount of a series as everybody else has it; less than nothing is nothing.
func bytesOf(m float64) sampler.Bytes {
	if !(m > 0) {
		return 0
	}
	if m >= mib(sampler.Sane) {
		return sampler.Sane - 1
	}
	return sampler.Bytes(m*float64(sampler.MiB) + 0.5)
}

const (
	// Limits of what is kept. A box has 16 GPUs, or 112 MIG instances; the driver lists
	// some dozens of processes on one of them. What is above is counted as unattributed.
	maxCards     = 256
	maxProcesses = 256
	// goneSeconds is how long a process may be missing from the list before it counts as
	// ended: lists are read in turns and can come back short.
	goneSeconds = 5
	// A snapshot that comes later than this after the one before is a gap (the machine
	// slept, the recorder stopped): what was held before does not count as having lasted.
	gapSeconds = 30
	gapFactor  = 10 // and later than ten times the usual interval
)

// ticker is the clock of a Watch: the times of the snapshots, which never go back. When
// they do (a clock was set), the clock stands still for that snapshot and goes on from there.
type ticker struct {
	started bool
	last    time.Time
	now     float64 // seconds since the first snapshot
	usual   float64 // interval, slowly adapted
}

// next moves on to the time of a snapshot. gap: what came before did not last until now.
func (c *ticker) next(t time.Time) (gap bool) {
	if !c.started {
		c.started, c.last = true, t
		return false
	}
	step := t.Sub(c.last).Seconds()
	c.last = t
	if step < 0 {
		return true
	}
	c.now += step
	if c.usual == 0 {
		c.usual = step
	}
	gap = step > gapSeconds && step > gapFactor*c.usual
	if step > 0 && !gap {
		c.usual += (step - c.usual) / 16
	}
	return gap
}
