package tape

import "errors"

// What Open refuses.
var (
	ErrEmpty        = errors.New("the file is empty")
	ErrNotRecording = errors.New("neither a recording (JSON Lines) nor a CSV log of nvidia-smi")
	ErrNewer        = errors.New("written by a newer nvpeak")
	ErrNoMemory     = errors.New("the CSV log has no memory columns: it needs memory.used and memory.total (or memory.free), and should have timestamp and index")
)

// progress is what is known of a file so far; decoders add to it.
type progress struct {
	header *Header
	notes  notes
	check  timeline
	budget budget
}

// errNone is of a line that is as it should be and makes no record.
var errNone = errors.New("no record")

// decoder turns lines into records; out has the number of the line.
type decoder interface {
	line(p *progress, b []byte, out *Record) error
	// end is called after the last line, for what is still held back.
	end(out *Record) bool
	restart()
}
