package player

import (
	"errors"
	"time"

	"nvpeak/sampler"
)

// Tape is a recording that is read as a stream. It is used by one goroutine at a time.
type Tape interface {
	// Next returns the next entry, or io.EOF.
	Next() (Entry, error)
	// Seek makes Next continue with the last snapshot at or before t, or the first one.
	Seek(t time.Time) error
	// Notes says in whole sentences what was wrong with the file, after io.EOF.
	Notes() []string
	Close() error
}

// Entry is one of: a snapshot, a failure that a log reported, a change of the need.
type Entry struct {
	Time     time.Time
	Snapshot *sampler.Snapshot
	Failure  *sampler.OOMEvent
	Need     *sampler.Opt[sampler.Bytes]
}

// ErrNoSnapshots is the error of a recording in which there is nothing to show.
var ErrNoSnapshots = errors.New("the recording holds no snapshot")
