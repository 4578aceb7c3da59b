package tape

import (
	"errors"
	"reflect"
	"time"

	"nvpeak/sampler"
)

// A tick is a snapshot told by what changed since the one before. Changes are told by
// column, over all GPUs or all processes in order: `"power_watts":[412,398]`. That takes
// a third of the room of one object per GPU, because a compressor meets every key once.

// column is one scalar of a GPU or process.
type column struct {
	path  string  // "memory.window.max_bytes"
	key   string  // its last part
	steps [][]int // fields to go through; between them are pointers
	codec codec
	stage int
	time  bool // written as seconds from the tick
	every bool // in each tick, changed or not
}

type columns struct {
	list  []column
	byKey map[string]int
}

var (
	gpuColumns     = columnsOf(planOf(reflect.TypeFor[sampler.GPU]()))
	processColumns = columnsOf(planOf(reflect.TypeFor[sampler.Process]()))
)

func columnsOf(p *plan) *columns {
	c := &columns{byKey: map[string]int{}}
	c.collect(p, "", nil, nil)
	for i := range c.list {
		c.byKey[c.list[i].path] = i
	}
	return c
}

// collect lists the scalars below a struct: past are the steps up to the last pointer,
// at is the way from there.
func (c *columns) collect(p *plan, prefix string, past [][]int, at []int) {
	for i := range p.fields {
		f := &p.fields[i]
		way := append(append([]int{}, at...), f.index...)
		switch f.kind {
		case structField:
			c.collect(f.inner, prefix+f.key+".", past, way)
		case pointField:
			c.collect(f.inner, prefix+f.key+".", append(append([][]int{}, past...), way), nil)
		case scalarField:
			c.list = append(c.list, column{path: prefix + f.key, key: f.key, steps: append(append([][]int{}, past...), way),
				codec: f.codec, time: f.time, stage: stageOf(prefix + f.key),
				// The used memory is what people look for: a corrupt line takes a second of it and no more.
				every: prefix+f.key == "memory.used_bytes"})
		}
	}
}

// in finds the column in an element; false when a pointer on the way is nil.
func (c *column) in(v reflect.Value) (reflect.Value, bool) {
	for i, step := range c.steps {
		v = v.FieldByIndex(step)
		if i == len(c.steps)-1 {
			break
		}
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	return v, true
}

// own is in, for writing: structs behind pointers that are shared with the snapshot
// before are copied first.
func (c *column) own(v, before reflect.Value) (reflect.Value, bool) {
	if len(c.steps) == 1 {
		return v.FieldByIndex(c.steps[0]), true
	}
	for i, step := range c.steps {
		v = v.FieldByIndex(step)
		if before.IsValid() {
			before = before.FieldByIndex(step)
		}
		if i == len(c.steps)-1 {
			break
		}
		if v.IsNil() {
			return v, false
		}
		if before.IsValid() && before.Pointer() == v.Pointer() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			v.Set(fresh)
		}
		v = v.Elem()
		if before.IsValid() && !before.IsNil() {
			before = before.Elem()
		} else {
			before = reflect.Value{}
		}
	}
	return v, true
}

// diff writes the columns in which cur differs from prev, or from what was foreseen, all
// lists of the same length. It returns false when they differ in more than values.
func (c *columns) diff(b []byte, t time.Time, prev, foreseen, cur []reflect.Value, o override) ([]byte, bool) {
	first := true
	for i := range c.list {
		col := &c.list[i]
		changed := col.every
		base := foreseen
		if col.stage == stageGiven {
			base = prev
		}
		for n := range cur {
			x, ok := col.in(base[n])
			y, ok2 := col.in(cur[n])
			if ok != ok2 {
				return b, false
			}
			changed = changed || ok && !col.codec.equal(x, y)
		}
		if !changed {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendKey(b, col.path), '[')
		for n := range cur {
			if n > 0 {
				b = append(b, ',')
			}
			b = col.encode(b, t, cur[n], o)
		}
		b = append(b, ']')
	}
	return b, true
}

func (c *column) encode(b []byte, t time.Time, v reflect.Value, o override) []byte {
	v, ok := c.in(v)
	if !ok {
		return append(b, "null"...)
	}
	if write := o[c.key]; write != nil {
		return write(b, v)
	}
	if c.time {
		if at, ok := timeIn(v); ok {
			return appendMilli(b, toMilli(at).Sub(t).Milliseconds())
		}
		return append(b, "null"...)
	}
	if c.codec.short != nil {
		return c.codec.short(b, v)
	}
	return c.codec.encode(b, v)
}

// span is a column of a tick that waits for its stage.
type span struct {
	column *column
	values []byte
}

// spans adds the columns of one object to a list.
func (c *columns) spans(s *scanner, list []span) []span {
	if !s.open('{') {
		return list
	}
	next := 0 // the columns usually come in our order
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			return list
		}
		for next < len(c.list) && c.list[next].path != string(key) {
			next++
		}
		i, known := next, next < len(c.list)
		if !known {
			i, known = c.byKey[string(key)]
			next = 0
		}
		if values := s.skip(); known {
			list = append(list, span{&c.list[i], values})
		}
	}
}

// patch lays the columns of one stage over cur. Only what is changed is copied; before
// holds the elements that cur was copied from.
func patch(list []span, stage int, t time.Time, before, cur []reflect.Value) error {
	for _, p := range list {
		if p.column.stage != stage {
			continue
		}
		s := scanner{b: p.values}
		if err := p.column.patch(&s, t, before, cur); err != nil {
			return err
		}
		if !s.end() {
			return errLine
		}
	}
	return nil
}

var errOutOfStep = errors.New("it does not fit the snapshot before it")

func (c *column) patch(s *scanner, t time.Time, before, cur []reflect.Value) error {
	if !s.open('[') {
		return errLine
	}
	n := 0
	for first := true; s.more(first, ']'); first = false {
		if n >= len(cur) {
			return errOutOfStep
		}
		v, ok := c.own(cur[n], before[n])
		switch {
		case !ok:
			s.skip()
		case c.time:
			setTime(v, t, s.value())
		default:
			c.codec.decode(s, v)
		}
		n++
	}
	if n != len(cur) {
		return errOutOfStep
	}
	return nil
}

func timeIn(v reflect.Value) (time.Time, bool) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		return *p, true
	case *sampler.Opt[time.Time]:
		return p.Value()
	}
	return time.Time{}, false
}

func setTime(v reflect.Value, t time.Time, x value) {
	f, ok := x.float()
	ok = ok && f > -1e10 && f < 1e10
	at := t.Add(milliseconds(f))
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = at
		if !ok {
			*p = time.Time{}
		}
	case *sampler.Opt[time.Time]:
		*p = sampler.Opt[time.Time]{}
		if ok {
			*p = sampler.Some(at)
		}
	}
}

// gpusOf and processesOf add the elements of the columns to a list.
func gpusOf(s *sampler.Snapshot, list ...reflect.Value) []reflect.Value {
	for i := range s.GPUs {
		list = append(list, reflect.ValueOf(&s.GPUs[i]).Elem())
	}
	return list
}

func processesOf(s *sampler.Snapshot, list ...reflect.Value) []reflect.Value {
	for i := range s.GPUs {
		for j := range s.GPUs[i].Processes {
			list = append(list, reflect.ValueOf(&s.GPUs[i].Processes[j]).Elem())
		}
	}
	return list
}

// sameShape says whether cur can be told by columns over prev.
func sameShape(prev, cur *sampler.Snapshot) bool {
	if len(prev.GPUs) != len(cur.GPUs) {
		return false
	}
	for i := range cur.GPUs {
		a, b := prev.GPUs[i].Processes, cur.GPUs[i].Processes
		if len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
	}
	return true
}

// tick writes what changed since the snapshot before, or returns false when that cannot
// be told by columns. "of" names the complete snapshot that the ticks build on, so that
// nobody lays one over a wrong one when lines are missing.
func (w *Writer) tick(s *sampler.Snapshot, now time.Time) bool {
	if !sameShape(w.prev, s) {
		return false
	}
	w.lane.close(&w.buf)
	start := len(w.buf)
	b := append(w.buf, `{"type":"tick","t":`...)
	b = appendMilli(b, w.seconds(now))
	b = append(b, `,"of":`...)
	b = appendMilli(b, w.seconds(w.full))
	b = w.rest(b, s)
	b = append(b, `,"gpu":{`...)
	guess := foresee(w.prev, s, now)
	b, ok := gpuColumns.diff(b, now, gpusOf(w.prev), gpusOf(guess), gpusOf(s), w.fields)
	if procs := processesOf(s); ok {
		b = append(b, `},"process":{`...)
		b, ok = processColumns.diff(b, now, processesOf(w.prev), processesOf(guess), procs, w.fields)
	}
	w.buf = append(b, "}}\n"...)
	if !ok {
		w.buf = w.buf[:start]
	}
	return ok
}

// foresee makes what a reader would believe cur to be, knowing prev and what is given.
func foresee(prev, cur *sampler.Snapshot, now time.Time) *sampler.Snapshot {
	guess := &sampler.Snapshot{GPUs: append([]sampler.GPU(nil), prev.GPUs...)}
	for i := range guess.GPUs {
		g, was, is := &guess.GPUs[i], &prev.GPUs[i], &cur.GPUs[i]
		g.Memory.Total, g.Memory.Reserved, g.Memory.Used = is.Memory.Total, is.Memory.Reserved, is.Memory.Used
		foreseeWindow(g, was)
		window := g.Memory.Window
		g.Memory.Window = is.Memory.Window
		foreseeRest(g, was)
		g.Memory.Window = window
		g.Processes = append([]sampler.Process(nil), was.Processes...)
		for n := range g.Processes {
			g.Processes[n].Memory = is.Processes[n].Memory
			foreseePeak(&g.Processes[n], &was.Processes[n], now)
			g.Processes[n].Memory = was.Processes[n].Memory
		}
		foreseeOnly(g, was)
	}
	return guess
}

// apart are the keys of a snapshot that a tick has in another form.
var apart = map[string]bool{"type": true, "schema": true, "time": true, "gpus": true}

// rest writes what changed of the snapshot itself, in the form that it has there.
func (w *Writer) rest(b []byte, s *sampler.Snapshot) []byte {
	prev, cur := reflect.ValueOf(w.prev).Elem(), reflect.ValueOf(s).Elem()
	for i := range snapshotPlan.fields {
		f := &snapshotPlan.fields[i]
		x, y := prev.FieldByIndex(f.index), cur.FieldByIndex(f.index)
		if !apart[f.key] && !f.equal(x, y) {
			b = f.encode(appendKey(append(b, ','), f.key), y, w.fields)
		}
	}
	return b
}

// readTick makes the snapshot that a tick tells of, out of the one before.
func readTick(j *jsonLines, b []byte) (next *sampler.Snapshot, of time.Time, err error) {
	if j.state == nil {
		return nil, of, errOutOfStep
	}
	s := scanner{b: b}
	c := *j.state
	next = &c
	c.Time = time.Time{}
	gpu, process := j.gpu[:0], j.process[:0]
	s.open('{')
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		switch string(key) {
		case "t":
			next.Time, _ = j.seconds(s.value())
		case "of":
			of, _ = j.seconds(s.value())
		case "gpu":
			gpu = gpuColumns.spans(&s, gpu)
		case "process":
			process = processColumns.spans(&s, process)
		case "type", "schema", "time", "gpus":
			s.skip()
		default:
			if i, ok := snapshotPlan.byKey[string(key)]; ok {
				f := &snapshotPlan.fields[i]
				f.decode(&s, reflect.ValueOf(next).Elem().FieldByIndex(f.index))
			} else {
				s.skip()
			}
		}
	}
	j.gpu, j.process = gpu, process
	if !s.end() || next.Time.IsZero() || of.IsZero() {
		return nil, of, errLine
	}
	next.GPUs = append(make([]sampler.GPU, 0, len(next.GPUs)), next.GPUs...)
	if err = j.patchGPUs(gpu, next); err == nil {
		err = j.patchProcesses(process, next)
	}
	return next, of, err
}

func (j *jsonLines) patchGPUs(list []span, next *sampler.Snapshot) error {
	before, cur := gpusOf(j.state, j.before[:0]...), gpusOf(next, j.cur[:0]...)
	j.before, j.cur = before, cur
	if err := patch(list, stageGiven, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		foreseeWindow(&next.GPUs[i], &j.state.GPUs[i])
	}
	if err := patch(list, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		foreseeRest(&next.GPUs[i], &j.state.GPUs[i])
	}
	return patch(list, stageDerived, next.Time, before, cur)
}

func (j *jsonLines) patchProcesses(list []span, next *sampler.Snapshot) error {
	for i := range next.GPUs {
		if p := next.GPUs[i].Processes; len(p) > 0 {
			next.GPUs[i].Processes = append([]sampler.Process(nil), p...)
		}
	}
	before, cur := processesOf(j.state, j.before[:0]...), processesOf(next, j.cur[:0]...)
	j.before, j.cur = before, cur
	for i := range next.GPUs {
		foreseeOnly(&next.GPUs[i], &j.state.GPUs[i])
	}
	if err := patch(list, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		for n := range next.GPUs[i].Processes {
			foreseePeak(&next.GPUs[i].Processes[n], &j.state.GPUs[i].Processes[n], next.Time)
		}
	}
	return patch(list, stageDerived, next.Time, before, cur)
}
