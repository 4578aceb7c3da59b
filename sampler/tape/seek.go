package tape

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"time"
)

// Seek makes Next continue with the last snapshot at or before t, or with the first one
// where all are later. Recordings of nvpeak are entered near to t, other files are read
// from the start. Afterwards line numbers count from the place entered, and Notes reports
// only of what was read before.
func (r *Reader) Seek(t time.Time) error {
	j, ok := r.decode.(*jsonLines)
	offset := int64(0)
	if ok {
		switch r.packed {
		case plainText:
			offset = r.seekPlain(j, t)
		case zstdText:
			offset = r.seekFrame(j, t)
		}
	}
	if err := r.rewind(); err != nil {
		return err
	}
	r.decode.restart()
	if r.reported == nil {
		r.reported = r.noted()
	}
	r.queue, r.stopped, r.check = nil, nil, timeline{usual: r.check.usual}
	switch {
	case offset == 0:
	case r.packed == zstdText:
		r.zstd.seek(offset)
		r.lines = newLines(r.zstd)
	default:
		r.lines = newLines(io.NewSectionReader(r.file, offset, r.size-offset))
	}
	return r.skipTo(t)
}

// skipTo drops records until the next snapshot is after t.
func (r *Reader) skipTo(t time.Time) error {
	var held []Record
	for {
		record, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) && len(held) > 0 {
				r.stopped = io.EOF
				break
			}
			return err
		}
		if record.Snapshot == nil && len(held) == 0 {
			continue
		}
		if record.Snapshot != nil && (record.Time.After(t) || len(held) > 10_000) {
			held = append(held, keep(*record))
			break
		}
		if record.Snapshot != nil {
			held = held[:0]
		}
		held = append(held, keep(*record))
	}
	r.queue = append(held, r.queue...)
	return nil
}

// keep makes a record outlive the next call of Next.
func keep(r Record) Record {
	r.Readings = append([]Reading(nil), r.Readings...)
	return r
}

// seekFrame finds the last frame whose first complete snapshot is not after t.
func (r *Reader) seekFrame(j *jsonLines, t time.Time) int64 {
	var starts []int64
	for offset := int64(0); ; {
		start, end, _, ok := r.zstd.find(offset)
		if !ok {
			break
		}
		starts = append(starts, start)
		offset = end
	}
	// The clock may have been set back; then this finds one of the frames that fit.
	i := sort.Search(len(starts), func(i int) bool {
		r.zstd.seek(starts[i])
		at, ok := firstSnapshot(newLines(r.zstd), j)
		return !ok || at.After(t) // nothing can be read from there on
	})
	if i == 0 || len(starts) == 0 {
		return 0
	}
	return starts[i-1]
}

// seekPlain finds the place of a complete snapshot not after t, near to the last.
func (r *Reader) seekPlain(j *jsonLines, t time.Time) int64 {
	at := func(offset int64) (int64, time.Time, bool) {
		l := newLines(io.NewSectionReader(r.file, offset, r.size-offset))
		if offset > 0 { // the rest of a line
			line, err := l.next()
			if err != nil && !errors.Is(err, errLongLine) {
				return 0, time.Time{}, false
			}
			offset += int64(len(line)) + 1
		}
		found, ok := firstSnapshot(l, j)
		return offset, found, ok
	}
	const step = 64 << 10
	i := sort.Search(int(r.size/step)+1, func(i int) bool {
		_, found, ok := at(int64(i) * step)
		return !ok || found.After(t)
	})
	if i == 0 {
		return 0
	}
	offset, _, _ := at(int64(i-1) * step)
	return offset
}

// firstSnapshot reads up to the first complete snapshot and returns its time.
func firstSnapshot(l *lines, j *jsonLines) (time.Time, bool) {
	for {
		line, err := l.next()
		if err == io.EOF {
			return time.Time{}, false
		}
		if err != nil || bytes.HasPrefix(line, []byte(`{"type":"mem"`)) || bytes.HasPrefix(line, []byte(`{"type":"tick"`)) {
			continue
		}
		kind, ok := typeOf(line)
		if !ok || string(kind) != "snapshot" {
			continue
		}
		if at, ok := timeOf(line); ok {
			return at, true
		}
	}
}

// timeOf finds the "time" of a line.
func timeOf(line []byte) (time.Time, bool) {
	s := scanner{b: line}
	s.open('{')
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			return time.Time{}, false
		}
		if string(key) == "time" {
			return readTime(s.value())
		}
		s.skip()
	}
}
