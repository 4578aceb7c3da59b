package tape

import (
	"errors"
	"time"
)

// What Open refuses.
var (
	ErrEmpty        = errors.New("the file is empty")
	ErrNotRecording = errors.New("neither a recording nor a log of nvidia-smi or gpustat")
	ErrNewer        = errors.New("written by a newer nvpeak")
	ErrNoMemory     = errors.New("the CSV log has no memory columns: it needs memory.used and memory.total (or memory.free), and should have timestamp and index")
)

// damagedError is of a compressed file of which nothing can be read. It may be a recording, so it is not denied to be one: to
// errors.Is it is ErrNotRecording, for who asks whether there is anything in it.
type damagedError struct{}

func (damagedError) Error() string {
	return "its compressed data is damaged before the end of the first line: nothing of it can be read"
}

func (damagedError) Is(target error) bool { return target == ErrNotRecording }

// progress is what is known of a file so far; decoders add to it.
type progress struct {
	header *Header
	notes  notes
	check  timeline
	budget budget

	step        time.Duration // between the readings of a log without times; 0: a second
	saidUntimed bool
}

// errNone is of a line that is as it should be and makes no record.
var errNone = errors.New("no record")

// decoder turns lines into records; out has the number of the line.
type decoder interface {
	line(p *progress, b []byte, out *Record) error
	// end is called after the last line, for what is still held back.
	end(p *progress, out *Record) bool
	restart()
}
