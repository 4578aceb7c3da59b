package tape

import (
	"fmt"
	"io"
	"reflect"

	"nvpeak/sampler"
)

// Lines reads what a program prints while it runs, line by line. A line is at most 8 MiB.
type Lines struct{ lines *lines }

// liveBuffer holds a usual snapshot; longer lines grow it. There may be hundreds of readers.
const liveBuffer = 32 << 10

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines { return &Lines{newLinesOf(r, liveBuffer)} }

// Next is the next line without its end, valid until the next call. It returns io.EOF at the end, and ErrLongLine for one that is
// left out.
func (l *Lines) Next() ([]byte, error) { return l.lines.next() }

// Decoder reads the lines of one stream, of which each is much as the one before.
type Decoder struct{ memo *memo }

// NewDecoder makes a Decoder. It may take 50 kB, and the texts of a line.
func NewDecoder() *Decoder { return &Decoder{newMemo()} }

// Snapshot reads a line of `nvpeak stream` or `nvpeak once --json`. It takes no more from the line than one of a recording may
// have. Its texts are as they were written: see sampler.Clean. The error wraps ErrNewer or ErrNotRecording.
func (d *Decoder) Snapshot(line []byte) (*sampler.Snapshot, error) {
	s := scanner{b: line, memo: d.memo}
	var snapshot sampler.Snapshot
	snapshotPlan().decode(&s, reflect.ValueOf(&snapshot).Elem())
	switch {
	case snapshot.Schema > sampler.Schema:
		return nil, newer(float64(snapshot.Schema))
	case !s.end() || snapshot.Type != "snapshot" || snapshot.Time.IsZero() || snapshot.GPUs == nil:
		return nil, fmt.Errorf("%w: no snapshot of nvpeak", ErrNotRecording)
	}
	snapshot.Schema = sampler.Schema
	var m meter
	for i := range snapshot.GPUs {
		fillDerived(&snapshot.GPUs[i], false, &m)
	}
	return &snapshot, nil
}

// DecodeQuery reads what one call of `nvidia-smi --query-gpu=… --format=csv` prints: a line of names, and a line for each GPU.
// The snapshot has no time. Nil: there is no GPU in it whose memory can be read.
func DecodeQuery(text [][]byte) *sampler.Snapshot {
	var c csvLog
	var p progress
	var out Record
	for _, line := range text {
		c.line(&p, line, &Record{}) //nolint:errcheck // what is no row is left out
	}
	if !c.end(&p, &out) {
		return nil
	}
	return out.Snapshot
}

// JSON walks over a text of JSON without building anything: what nobody asks for is skipped. It is lenient about what does not matter; at what is no JSON it
// stands still.
type JSON struct{ s scanner }

// NewJSON walks over a text, which must not be changed.
func NewJSON(text []byte) *JSON { return &JSON{scanner{b: text}} }

// Object calls each for the keys of the object that begins here; each reads the value of its key, or skips it.
func (j *JSON) Object(each func(key []byte)) {
	if j.s.peek() != '{' {
		j.s.skip()
		return
	}
	j.s.i++
	for first := true; ; first = false {
		key, ok := j.s.key(first)
		if !ok {
			return
		}
		before := j.s.i
		if each(key); j.s.i == before && !j.s.bad {
			j.s.skip()
		}
	}
}

// Array calls each for the elements of the array that begins here; each reads the element, or skips it.
func (j *JSON) Array(each func()) {
	if j.s.peek() != '[' {
		j.s.skip()
		return
	}
	j.s.i++
	for first := true; j.s.more(first, ']'); first = false {
		before := j.s.i
		if each(); j.s.i == before && !j.s.bad {
			j.s.skip()
		}
	}
}

// Text is the text that begins here; nothing for another value. It is valid as long as the whole.
func (j *JSON) Text() []byte {
	if v := j.s.value(); v.kind == '"' {
		return v.b
	}
	return nil
}

// Number is the number that begins here, also in quotes.
func (j *JSON) Number() (float64, bool) { return j.s.value().float() }

// Bad says whether something was no JSON.
func (j *JSON) Bad() bool { return j.s.bad }
