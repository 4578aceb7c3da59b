package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"nvpeak/sampler"
)

// jsonLines decodes the lines of a recording. Its state is the last snapshot, which ticks
// are laid over.
type jsonLines struct {
	base     time.Time
	state    *sampler.Snapshot
	full     time.Time // of the complete snapshot that state builds on
	readings []Reading
	falls    fallLines
	repeated []byte // the line before, where that was a snapshot

	ticks tickReader
}

func (j *jsonLines) restart() { j.state, j.falls, j.repeated = nil, fallLines{}, nil }

func (j *jsonLines) end(*progress, *Record) bool { return false }

// lineTypes has a row for every type of line.
var lineTypes = map[string]func(j *jsonLines, p *progress, b []byte, out *Record) error{
	"header":   (*jsonLines).header,
	"mem":      (*jsonLines).mem,
	"snapshot": (*jsonLines).snapshot,
	"tick":     (*jsonLines).tick,
	"event":    (*jsonLines).event,
	"end":      (*jsonLines).last,
}

func (j *jsonLines) line(p *progress, b []byte, out *Record) error {
	if bytes.Equal(b, j.repeated) {
		return errNone // nothing new, and a packed file can hold millions of them
	}
	j.repeated = j.repeated[:0]
	kind, ok := typeOf(b)
	if !ok {
		return errLine
	}
	read := lineTypes[string(kind)]
	if read == nil {
		if len(kind) == 0 {
			return errLine // an object that says not what it is
		}
		p.notes.other(string(kind))
		return errNone
	}
	err := read(j, p, b, out)
	if err == nil && string(kind) == "snapshot" {
		j.repeated = append(j.repeated, b...)
	}
	return err
}

// typeOf finds the type of a line; the line must be an object, complete to its end.
func typeOf(b []byte) ([]byte, bool) {
	s := scanner{b: b}
	if !s.open('{') {
		return nil, false
	}
	var kind []byte
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		if string(key) != "type" {
			s.skip()
			continue
		}
		kind = s.value().b
		if k := string(kind); k == "mem" || k == "tick" {
			return kind, !s.bad // their decoders check the rest
		}
	}
	return kind, s.end()
}

func (j *jsonLines) header(p *progress, b []byte, out *Record) error {
	var version struct {
		Schema float64 `json:"schema"`
	}
	// Before anything else: a header from the future may have any other form.
	if json.Unmarshal(b, &version) == nil && version.Schema > sampler.Schema {
		return newer(version.Schema)
	}
	var h Header
	var m meter
	if !m.whole(b) {
		p.notes.flawed(out.Line, &m)
		return errNone
	}
	if err := json.Unmarshal(b, &h); err != nil || !isTime(h.Time) {
		return errLine
	}
	j.base, out.Time, out.Header = h.Time, h.Time, &h
	if p.header == nil {
		p.header = &h
	}
	if s := h.IntervalSeconds; s > 0 && s < 86400 {
		p.check.usual = time.Duration(s * float64(time.Second))
	}
	return nil
}

func newer(schema float64) error {
	return fmt.Errorf("%w: recording version %s, this one reads up to %d; update nvpeak", ErrNewer,
		strconv.FormatFloat(schema, 'f', -1, 64), sampler.Schema)
}

func (j *jsonLines) mem(p *progress, b []byte, out *Record) error {
	s := scanner{b: b}
	s.open('{')
	j.readings = j.readings[:0]
	timed := false
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		v := s.value()
		if string(key) == "t" {
			out.Time, timed = timeAfter(j.base, v)
			continue
		}
		device, ok := value{kind: '0', b: key}.uint()
		if !ok || device >= maxDevices || len(j.readings) >= maxDevices {
			continue
		}
		if used, ok := readBytes(v); ok {
			j.readings = append(j.readings, Reading{int(device), used})
		}
	}
	if !s.end() || !timed {
		return errLine
	}
	if len(j.readings) == 0 {
		return errNone
	}
	out.Readings = j.readings
	j.falls.add(j.state, j.readings, out.Time)
	return nil
}

func (j *jsonLines) snapshot(p *progress, b []byte, out *Record) error {
	s := scanner{b: b}
	var snapshot sampler.Snapshot
	snapshotPlan().decode(&s, reflect.ValueOf(&snapshot).Elem())
	p.notes.flawed(out.Line, &s.meter)
	if snapshot.Schema > sampler.Schema {
		return newer(float64(snapshot.Schema))
	}
	if !s.end() || snapshot.Time.IsZero() || snapshot.GPUs == nil {
		return errLine
	}
	foreign := p.header == nil
	snapshot.Type, snapshot.Schema = "snapshot", sampler.Schema
	j.state = &snapshot
	if p.header != nil && p.header.Even {
		j.state = j.even(&snapshot, b)
	}
	j.full = j.state.Time
	j.give(p, out, foreign)
	return nil
}

// even is the snapshot with times that have gone on evenly, where its line says how far it is.
func (j *jsonLines) even(s *sampler.Snapshot, b []byte) *sampler.Snapshot {
	at, ok := timeAfter(j.base, member(b, "t"))
	if !ok {
		return s
	}
	ahead := s.Time.Sub(at)
	back := func(t time.Time) time.Time { return t.Add(-ahead) }
	return s.Retimed(back, back).WithAhead(ahead)
}

func (j *jsonLines) tick(p *progress, b []byte, out *Record) error {
	next, of, err := j.ticks.read(j.state, j.base, b)
	p.notes.flawed(out.Line, &j.ticks.meter)
	if err != nil && !errors.Is(err, errOutOfStep) {
		return err
	}
	if err != nil || !of.Equal(j.full) {
		p.notes.orphan.add(out.Line)
		return errNone
	}
	next.Type, next.Schema = "snapshot", sampler.Schema
	j.state = next
	j.give(p, out, false)
	return nil
}

func (j *jsonLines) give(p *progress, out *Record, foreign bool) {
	var m meter
	for i := range j.state.GPUs {
		fillDerived(&j.state.GPUs[i], foreign, &m)
	}
	p.notes.flawed(out.Line, &m)
	out.Time, out.Snapshot = j.state.Time, j.falls.fill(j.state)
}

func (j *jsonLines) event(p *progress, b []byte, out *Record) error {
	var e Event
	var m meter
	defer p.notes.flawed(out.Line, &m)
	if !m.whole(b) {
		return errNone
	}
	if err := json.Unmarshal(b, &e); err != nil || !e.Time.IsZero() && !isTime(e.Time) {
		return errLine
	}
	if e.OOM != nil && !p.budget.failure(b, &m) {
		return errNone
	}
	if e.OOM != nil {
		e.OOM.Held.Clean()
	}
	e.Kind, e.Text = sampler.Clean(e.Kind), sampler.Clean(e.Text)
	if t, ok := e.T.Value(); ok && !j.base.IsZero() && t > 0 && t < 1e9 {
		e.Time = j.base.Add(milliseconds(t))
	}
	out.Time, out.Event = e.Time, &e
	return nil
}

func (j *jsonLines) last(p *progress, b []byte, out *Record) error {
	var e End
	var m meter
	if !m.whole(b) {
		p.notes.flawed(out.Line, &m)
		return errNone
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return errLine
	}
	p.check.ended = true
	out.Time, out.End = e.Time, &e
	return nil
}
