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
	r.disorder = r.disorder || r.check.ahead != 0
	if ok && !r.disorder {
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

// maxHeld bounds what is held between two snapshots; what comes after is left out.
const maxHeld = 10_000

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
		if record.Snapshot == nil && (len(held) == 0 || len(held) > maxHeld) {
			continue
		}
		if record.Snapshot != nil && (record.Time.After(t) || len(held) > maxHeld) {
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
	i := r.search(len(starts), t, func(i int) (time.Time, bool) {
		r.zstd.seek(starts[i])
		return firstSnapshot(newLines(r.zstd), j)
	})
	if i == 0 {
		return 0
	}
	return starts[i-1]
}

// search finds the first of n places that is after t, or from which on nothing can be read. Where the
// clock may have been set back, and was, it is 0: where the times of the others belong is known
// only to who reads all that is before them.
func (r *Reader) search(n int, t time.Time, at func(i int) (time.Time, bool)) int {
	late := func(i int) bool {
		found, ok := at(i)
		return !ok || found.After(t)
	}
	if r.header != nil && r.header.Even {
		return sort.Search(n, late)
	}
	var last time.Time
	first := n
	for i := range n {
		found, ok := at(i)
		if ok && last.Sub(found) >= backSlack {
			r.disorder = true
			return 0
		}
		if first == n && (!ok || found.After(t)) {
			first = i
		}
		if ok {
			last = found
		}
	}
	return first
}

// seekPlain finds the place of a complete snapshot not after t, near to the last.
func (r *Reader) seekPlain(j *jsonLines, t time.Time) int64 {
	var from, until int64 // between them the first snapshot is the one that was found last
	var known time.Time
	at := func(offset int64) (int64, time.Time, bool) {
		begin := offset
		l := newLines(io.NewSectionReader(r.file, offset, r.size-offset))
		if offset > 0 { // the rest of a line
			l.next() //nolint:errcheck // firstSnapshot finds the end
			offset += l.read
		}
		found, ok := firstSnapshot(l, j)
		from, until, known = begin, begin+l.begin, found
		if !ok {
			until = r.size
		}
		return offset, found, ok
	}
	const step = 64 << 10
	i := r.search(int(r.size/step)+1, t, func(i int) (time.Time, bool) {
		offset := int64(i) * step
		if offset > from && offset < until {
			return known, !known.IsZero()
		}
		_, found, ok := at(offset)
		return found, ok
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
		at, ok := readTime(member(line, "time"))
		if t, has := timeAfter(j.base, member(line, "t")); has {
			at, ok = t, true
		}
		if ok {
			return at, true
		}
	}
}

// member finds the value of a key of the object in a line; nothing where it is not there.
func member(line []byte, name string) value {
	s := scanner{b: line}
	s.open('{')
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			return value{}
		}
		if string(key) == name {
			return s.value()
		}
		s.skip()
	}
}
