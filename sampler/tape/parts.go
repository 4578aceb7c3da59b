package tape

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// Parts reads the parts of a rotated recording as one, in the order of their time. One of them is
// open at a time. What lies between them is said as any other gap.
type Parts struct {
	*Reader
	list  []part
	at    int
	step  time.Duration
	head  *Header
	notes []func(Say) []string // of the parts before
}

// part is one file, and where it begins.
type part struct {
	path  string
	start time.Time
}

// OpenParts opens recordings, or logs, that are parts of one. A part that cannot be read is
// left out and noted, but where it is the only one, or all are such.
func OpenParts(paths []string) (*Parts, error) {
	p := &Parts{}
	if len(paths) == 1 { // it may be a pipe, which is read once
		p.list = []part{{path: paths[0]}}
		err := p.enter(0)
		if err != nil {
			return nil, err
		}
		p.head = p.Reader.Header()
		return p, nil
	}
	var first error
	for _, path := range paths {
		start, err := startOf(path)
		if err != nil {
			if errors.Is(err, ErrNewer) {
				return nil, err
			}
			first = cmp.Or(first, err)
			p.note(func(Say) []string { return []string{err.Error()} })
			continue
		}
		p.list = append(p.list, part{path, start})
	}
	if len(p.list) == 0 {
		return nil, cmp.Or(first, ErrEmpty)
	}
	slices.SortStableFunc(p.list, func(a, b part) int { return a.start.Compare(b.start) })
	if err := p.enter(0); err != nil {
		return nil, err
	}
	p.head = p.Reader.Header()
	return p, nil
}

func (p *Parts) note(list func(Say) []string) { p.notes = append(p.notes, list) }

// startOf is the first time in a file.
func startOf(path string) (time.Time, error) {
	r, err := Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer r.Close() //nolint:errcheck // only read
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return time.Time{}, nil
		case err != nil:
			return time.Time{}, err
		case !record.Time.IsZero():
			return record.Time, nil
		}
	}
}

// enter opens a part in the place of the one before.
func (p *Parts) enter(i int) error {
	r, err := Open(p.list[i].path)
	if err != nil {
		return err
	}
	r.Every(p.step)
	if p.Reader != nil {
		if before := p.Reader.check; i == p.at+1 { // the time goes on
			before.ended, before.usual = false, r.check.usual
			r.check = before
		}
		p.Reader.Close() //nolint:errcheck // only read
	}
	p.Reader, p.at = r, i
	return nil
}

// Header is that of the first part.
func (p *Parts) Header() *Header { return p.head }

// Every is Reader.Every, for all parts.
func (p *Parts) Every(step time.Duration) {
	p.step = step
	p.Reader.Every(step)
}

// Next returns the next record of any part, as Reader.Next does.
func (p *Parts) Next() (*Record, error) {
	for {
		record, err := p.Reader.Next()
		if !errors.Is(err, io.EOF) || p.at+1 >= len(p.list) {
			return record, err
		}
		p.note(p.named())
		if err := p.enter(p.at + 1); err != nil { // it was there a moment ago
			p.note(func(Say) []string { return []string{err.Error()} })
			p.list = append(p.list[:p.at+1], p.list[p.at+2:]...)
		}
	}
}

// named is what is to note of the part that is open, with its name.
func (p *Parts) named() func(Say) []string {
	list, name := p.noted(), filepath.Base(p.list[p.at].path)
	if len(p.list) == 1 {
		return list
	}
	return func(say Say) []string {
		texts := list(say)
		for i := range texts {
			texts[i] = name + ": " + texts[i]
		}
		return texts
	}
}

// Notes says what was wrong with each part.
func (p *Parts) Notes(say Say) (texts []string) {
	last := p.named()
	if p.reported != nil && len(p.list) == 1 {
		last = p.reported
	}
	for _, list := range append(slices.Clone(p.notes), last) {
		texts = append(texts, list(say)...)
	}
	if len(p.list) > 1 {
		texts = append([]string{say("tape.parts", "count", len(p.list))}, texts...)
	}
	return texts
}

// Seek is Reader.Seek, over all parts.
func (p *Parts) Seek(t time.Time) error {
	i := 0
	for i+1 < len(p.list) && !p.list[i+1].start.After(t) {
		i++
	}
	if i != p.at {
		if err := p.enter(i); err != nil {
			return err
		}
		p.Reader.check = timeline{usual: p.Reader.check.usual}
	}
	return p.Reader.Seek(t)
}
