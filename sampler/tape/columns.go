package tape

import (
	"errors"
	"math"
	"reflect"
	"sync"
	"time"

	"nvpeak/sampler"
)

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
	gpuColumns     = sync.OnceValue(func() *columns { return columnsOf(planOf(reflect.TypeFor[sampler.GPU]())) })
	processColumns = sync.OnceValue(func() *columns { return columnsOf(planOf(reflect.TypeFor[sampler.Process]())) })
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
	last := len(c.steps) - 1
	for _, step := range c.steps[:last] {
		if v = v.FieldByIndex(step); v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	return v.FieldByIndex(c.steps[last]), true
}

// own is in, for writing: structs behind pointers that are shared with the snapshot
// before are copied first.
func (c *column) own(v, before reflect.Value) (reflect.Value, bool) {
	last := len(c.steps) - 1
	for _, step := range c.steps[:last] {
		if v = v.FieldByIndex(step); v.IsNil() {
			return v, false
		}
		if before.IsValid() {
			before = before.FieldByIndex(step)
			if before.Pointer() == v.Pointer() {
				fresh := reflect.New(v.Type().Elem())
				fresh.Elem().Set(v.Elem())
				v.Set(fresh)
			}
			before = before.Elem() // none where it is nil
		}
		v = v.Elem()
	}
	return v.FieldByIndex(c.steps[last]), true
}

// diff writes the columns in which cur differs from prev, or from what was predicted, all
// lists of the same length. It returns false when they differ in more than values.
func (c *columns) diff(b []byte, t time.Time, prev, predicted, cur []reflect.Value, o override) ([]byte, bool) {
	first := true
	for i := range c.list {
		col := &c.list[i]
		changed := col.every
		base := predicted
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
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			return list
		}
		i, known := c.byKey[string(key)]
		values := s.skip()
		if len(list) >= maxColumns {
			s.flaws[manyColumns] = true
			continue
		}
		if known {
			list = append(list, span{&c.list[i], values})
		}
	}
}

// patch lays the columns of one stage over cur. Only what is changed is copied; before
// holds the elements that cur was copied from.
func patch(list []span, m *meter, stage int, t time.Time, before, cur []reflect.Value) error {
	for _, p := range list {
		if p.column.stage != stage {
			continue
		}
		s := scanner{b: p.values, meter: *m}
		err := p.column.patch(&s, t, before, cur)
		*m = s.meter
		if err != nil {
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
	ok = ok && math.Abs(f) < 9e9 // a time.Duration holds so many
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
