package tape

import (
	"reflect"

	"nvpeak/sampler"
)

// decode reads an object into a struct. Keys that nobody knows are skipped, and what has
// the wrong type is absent.
func (p *plan) decode(s *scanner, v reflect.Value) {
	if !s.open('{') {
		return
	}
	next := 0
	for first := true; s.more(first, '}'); first = false {
		i := next
		if next == len(p.fields) || !s.has(p.fields[next].quoted) { // written in the order of the struct, it is nearly always the next
			key, ok := s.keyHere()
			if !ok {
				return
			}
			known := false
			if i, known = p.byKey[string(key)]; !known {
				s.skip()
				continue
			}
		}
		next = i + 1
		f := &p.fields[i]
		if len(f.index) == 1 {
			f.decode(s, v.Field(f.index[0]))
		} else {
			f.decode(s, v.FieldByIndex(f.index))
		}
	}
}

func (f *field) decode(s *scanner, v reflect.Value) {
	if f.kind == scalarField {
		f.codec.decode(s, v)
		return
	}
	want := byte('{')
	if f.kind == listField {
		want = '['
	}
	if s.peek() != want { // null, or a wrong type
		s.skip()
		v.SetZero()
		return
	}
	switch f.kind {
	case structField:
		v.SetZero()
		f.inner.decode(s, v)
	case pointField:
		v.Set(reflect.New(v.Type().Elem()))
		f.inner.decode(s, v.Elem())
	case optField:
		x, _ := f.opt.get(v)
		x.SetZero()
		f.inner.decode(s, x)
		f.opt.set(v, x)
	case listField:
		f.decodeList(s, v)
	}
}

func (f *field) decodeList(s *scanner, v reflect.Value) {
	s.open('[')
	length := s.memo.length(v.Type())
	v.Set(reflect.MakeSlice(v.Type(), 0, *length))
	for first := true; s.more(first, ']'); first = false {
		if !s.room(v.Type()) {
			s.skip()
			continue
		}
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		element := v.Index(n) // in its place: these are large
		if p, ok := element.Addr().Interface().(*sampler.Process); ok {
			p.Visible = true // unless it says otherwise
		}
		f.inner.decode(s, element)
	}
	*length = min(v.Len(), 64)
}
