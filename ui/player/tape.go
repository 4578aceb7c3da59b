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
	Size     int // of its line, in bytes
	Snapshot *sampler.Snapshot
	Failure  *sampler.OOMEvent
	Need     *sampler.Opt[sampler.Bytes]
}

// maxHeavy bounds the bytes of the entries that are handed over together, however many those
// are: some 60 snapshots of 64 GPUs.
const maxHeavy = 8 << 20

// weight is about how many bytes an entry takes: a GPU has seven hundred, and text with an entry
// for each few characters takes several times as much as in its line.
func (e *Entry) weight() int {
	n := 8 * e.Size
	if e.Snapshot != nil {
		for i := range e.Snapshot.GPUs {
			n += 700 + 300*len(e.Snapshot.GPUs[i].Processes)
		}
	}
	return n
}

// ErrNoSnapshots is the error of a recording in which there is nothing to show.
var ErrNoSnapshots = errors.New("the recording holds no snapshot")
