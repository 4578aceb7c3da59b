package sampler

import (
	"context"
	"time"
)

// Stream is where a front end gets its snapshots: a Loop over this machine, or a recording
// that is played. What only some streams can do, such as PeakResetter, is asked for by a type
// assertion.
type Stream interface {
	// Next waits for the next snapshots and returns all that came since, oldest first. It
	// returns the context's error when that ends, and the reason when the stream has ended.
	Next(ctx context.Context) ([]*Snapshot, error)
	// Interval is the usual time between two snapshots.
	Interval() time.Duration
}

// PeakResetter is a stream whose peaks can begin again.
type PeakResetter interface{ ResetPeaks() }

// IntervalSetter is a stream whose time between snapshots can be changed.
type IntervalSetter interface{ SetInterval(time.Duration) }

// PeakStream is a stream that shows a new peak before the next snapshot.
type PeakStream interface {
	// NextOrPeak is Next, but may return an early picture too: see Loop.
	NextOrPeak(ctx context.Context) (snaps []*Snapshot, early *Snapshot, err error)
}

// A Loop can do all of it.
var (
	_ Stream         = (*Loop)(nil)
	_ PeakResetter   = (*Loop)(nil)
	_ IntervalSetter = (*Loop)(nil)
	_ PeakStream     = (*Loop)(nil)
)
