package watch

import (
	"time"
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

const (
	// Limits of what is kept. A box has 16 GPUs, or 112 MIG instances; the driver lists
	// some dozens of processes on one of them. What is above is counted as unattributed.
	MaxCards     = 256
	maxProcesses = 256
	// goneSeconds is how long a process may be missing from the list before it counts as
	// ended: lists are read in turns and can come back short.
	goneSeconds = 5
)
