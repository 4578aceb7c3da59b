package tape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"nvpeak/sampler"
)

// Reader reads a recording or a log of nvidia-smi or gpustat, as a stream. Not safe for concurrent use.
type Reader struct {
	name   string
	file   io.ReaderAt
	size   int64
	closer io.Closer

	packed packing
	zstd   *frames
	gzip   *gunzip
	lines  *lines
	decode decoder

	progress
	disorder bool     // the clock was set back within: only reading from the start gives times that go on
	queue    []Record // to be returned before the next line
	record   Record
	stopped  error
	reported func(Say) []string // the notes before the first Seek
}

// Open opens a recording, plain or compressed with zstd or gzip, or a log of nvidia-smi or gpustat, by what
// the file holds. Errors name the file and wrap ErrEmpty, ErrNotRecording, ErrNewer,
// ErrNoMemory or what the system says.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: is a directory", path)
	}
	var file io.ReaderAt = f
	size := int64(0)
	if err == nil {
		size = info.Size()
		if !info.Mode().IsRegular() { // a pipe: it must be held to be read twice
			var b []byte
			b, err = io.ReadAll(io.LimitReader(f, maxPipe))
			file, size = bytes.NewReader(b), int64(len(b))
		}
	}
	var r *Reader
	if err == nil {
		r, err = NewReader(path, file, size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

const maxPipe = 1 << 30 // bytes read from what is no file

// NewReader reads from a file that is open, or from memory. The name is for messages.
func NewReader(name string, file io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{name: name, file: file, size: size}
	if size == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	if err := r.rewind(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := r.detect(); err != nil {
		r.Close()
		if errors.Is(err, ErrNewer) {
			return nil, err // it names file and line
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// rewind begins at the start of the file again.
func (r *Reader) rewind() error {
	head := make([]byte, 64<<10)
	n, _ := r.file.ReadAt(head[:min(r.size, int64(len(head)))], 0)
	head = head[:n]
	r.packed = packingOf(head)
	if r.packed == plainText && bytes.Contains(head, zstdMagic) && bytes.ContainsRune(head[:min(n, 512)], 0) {
		r.packed = zstdText // its first bytes are damaged
	}
	whole := io.NewSectionReader(r.file, 0, r.size)
	switch r.packed {
	case zstdText:
		if r.zstd == nil {
			frames, err := newFrames(r.file, r.size)
			if err != nil {
				return err
			}
			r.zstd = frames
		}
		r.zstd.seek(0)
		r.lines = newLines(r.zstd)
	case gzipText:
		r.gzip = &gunzip{source: bufio.NewReader(whole), size: r.size}
		r.lines = newLines(r.gzip)
	case utf16Text:
		r.lines = newLines(wide(whole))
	default:
		r.lines = newLines(whole)
	}
	r.lines.fromMac()
	return nil
}

// detect looks at the first lines to find out what the file holds, and reads up to the
// header, if there is one.
func (r *Reader) detect() error {
	head, _ := r.lines.r.Peek(64 << 10)
	if len(head) == 0 {
		if r.packed == zstdText && r.zstd.cut && r.zstd.damaged == 0 {
			// A recording that was cut within its first second.
			r.decode, r.stopped, r.notes.cut = &jsonLines{}, io.EOF, 1
			return nil
		}
		if r.packed != plainText {
			return r.unreadable()
		}
		return ErrEmpty
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(head)) == 0 {
		if r.packed == plainText {
			return fmt.Errorf("%w: nothing but blanks", ErrEmpty)
		}
		return r.unreadable()
	}
	whole := head
	for line := range bytes.Lines(whole) {
		if decode, err := openForeign(plainLine(line), head); decode != nil || err != nil {
			r.decode = decode
			return err
		}
		head = head[len(line):]
		line = bytes.TrimSpace(line)
		if len(line) > 1 && line[0] == '{' && (line[1] == '"' || line[1] == ' ') {
			r.decode = &jsonLines{}
			return r.readHeader()
		}
		if columns, ok := csvHeader(line); ok {
			if !columns.hasMemory() {
				return ErrNoMemory
			}
			r.decode = &csvLog{}
			return nil
		}
	}
	if looksLikeRows(whole) {
		return fmt.Errorf("%w: a CSV log must have its line of column names (no noheader)", ErrNotRecording)
	}
	return ErrNotRecording
}

// unreadable is the error of a compressed file that gives no line.
func (r *Reader) unreadable() error {
	if r.zstd != nil && r.zstd.damaged > 0 || r.gzip != nil && r.gzip.damage != nil {
		return damagedError{}
	}
	return fmt.Errorf("%w: its compressed data cannot be read", ErrNotRecording)
}

// readHeader reads the first record, which in a recording of nvpeak is the header.
func (r *Reader) readHeader() error {
	record, err := r.Next()
	if errors.Is(err, ErrNewer) {
		return err
	}
	if err == nil {
		// Shown again by the next call.
		again := *record
		again.Readings = append([]Reading(nil), record.Readings...)
		r.queue = append([]Record{again}, r.queue...)
	}
	return nil
}

// Every sets how far the readings of a log that has no times are taken to be apart, instead of a
// second.
func (r *Reader) Every(step time.Duration) { r.step = step }

// Header is the header of the recording; nil for a CSV log and for recordings without one.
func (r *Reader) Header() *Header { return r.header }

// Next returns the next record, io.EOF at the end, or ErrNewer. The record is valid until
// the next call; the Snapshot in it for ever.
func (r *Reader) Next() (*Record, error) {
	if len(r.queue) > 0 {
		r.record = r.queue[0]
		r.queue = r.queue[1:]
		return &r.record, nil
	}
	for r.stopped == nil {
		ok := r.read()
		if !ok {
			continue
		}
		if events := r.check.pass(&r.record, &r.notes, r.header != nil && r.header.Even); len(events) > 0 {
			r.queue = append(append(r.queue, events[1:]...), r.record)
			r.record = events[0]
		}
		return &r.record, nil
	}
	return nil, r.stopped
}

// read takes one line and says whether it made a record.
func (r *Reader) read() bool {
	line, err := r.lines.next()
	r.record = Record{Line: r.lines.n, Size: len(line)}
	if err == io.EOF {
		r.stopped = io.EOF
		r.finish()
		return r.decode.end(&r.progress, &r.record) && r.admit()
	}
	if err == nil && len(bytes.TrimSpace(line)) > 0 {
		r.budget.read += int64(len(line))
		if err = r.decode.line(&r.progress, line, &r.record); err == nil {
			return r.record.Snapshot == nil || r.admit()
		}
	}
	switch {
	case err == nil || errors.Is(err, errNone):
	case errors.Is(err, ErrLongLine):
		r.notes.flaws[longLine].add(r.lines.n)
	case errors.Is(err, ErrNewer):
		r.stopped = fmt.Errorf("%s: line %d: %w", r.name, r.lines.n, err)
	case !r.lines.ended:
		r.notes.cut = r.lines.n
	default:
		r.notes.corrupt(r.lines.n)
	}
	return false
}

// admit takes a snapshot into the budget of the file; without room for it reading ends.
func (r *Reader) admit() bool {
	s, m := r.record.Snapshot, meter{}
	if !r.budget.snapshot(s, &m) {
		r.stopped = io.EOF
		r.notes.add("tape.many_figures", "line", r.lines.n)
		return false
	}
	r.record.Snapshot = r.budget.devices(s, &m)
	r.notes.flawed(r.record.Line, &m)
	return true
}

// finish notes how the file ends.
func (r *Reader) finish() {
	if r.gzip != nil && r.gzip.damage != nil {
		r.notes.add("tape.gzip_cut", "line", r.lines.n)
	}
	if r.zstd != nil && tooMuch(r.zstd.plain, r.size) || r.gzip != nil && tooMuch(r.gzip.plain, r.size) {
		r.notes.add("tape.much", "line", r.lines.n)
	}
	if r.zstd != nil && r.zstd.damaged > 0 {
		r.notes.add("tape.zstd_damaged", "count", r.zstd.damaged, "lines", r.zstd.places.lines)
	}
	if r.zstd != nil && r.zstd.cut && r.notes.cut == 0 {
		r.notes.cutAfter = r.lines.n
	}
}

// Snapshots are all snapshots of the rest, in the order of the file.
func (r *Reader) Snapshots() iter.Seq[*sampler.Snapshot] {
	return func(yield func(*sampler.Snapshot) bool) {
		for {
			record, err := r.Next()
			if err != nil || record.Snapshot != nil && !yield(record.Snapshot) {
				return
			}
		}
	}
}

// Notes says, in whole sentences, what was wrong with what was read so far: lines skipped,
// a cut, gaps, time that ran backwards.
func (r *Reader) Notes(say Say) []string {
	if r.reported != nil {
		return r.reported(say)
	}
	return r.noted()(say)
}

// noted is Notes as they are now, whatever is read afterwards.
func (r *Reader) noted() func(Say) []string {
	_, isJSON := r.decode.(*jsonLines)
	notes, noEnd := r.notes, isJSON && r.header != nil && r.stopped == io.EOF && !r.check.ended
	return func(say Say) []string { return notes.list(say, noEnd) }
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.zstd != nil {
		r.zstd.Close()
		r.zstd = nil
	}
	r.stopped = os.ErrClosed
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}
