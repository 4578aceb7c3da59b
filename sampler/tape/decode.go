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
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			return
		}
		i, known := p.byKey[string(key)]
		if !known {
			s.skip()
			continue
		}
		p.fields[i].decode(s, v.FieldByIndex(p.fields[i].index))
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
	v.Set(reflect.MakeSlice(v.Type(), 0, 4))
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
}
