package tape

import "reflect"

// override replaces how some fields are written, by key: secrets are taken out of them.
type override map[string]func(b []byte, v reflect.Value) []byte

// encode writes a struct whole, as encoding/json would.
func (p *plan) encode(b []byte, v reflect.Value, o override) []byte {
	b = append(b, '{')
	first := true
	for i := range p.fields {
		f := &p.fields[i]
		x := v.FieldByIndex(f.index)
		if f.omit && x.IsZero() {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = f.encode(appendKey(b, f.key), x, o)
	}
	return append(b, '}')
}

func (f *field) encode(b []byte, v reflect.Value, o override) []byte {
	if write := o[f.key]; write != nil {
		return write(b, v)
	}
	switch f.kind {
	case structField:
		return f.inner.encode(b, v, o)
	case pointField:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return f.inner.encode(b, v.Elem(), o)
	case optField:
		x, ok := f.opt.get(v)
		if !ok {
			return append(b, "null"...)
		}
		return f.inner.encode(b, x, o)
	case listField:
		if v.IsNil() {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = f.inner.encode(b, v.Index(i), o)
		}
		return append(b, ']')
	}
	return f.codec.encode(b, v)
}

func appendKey(b []byte, key string) []byte {
	b = append(b, '"')
	b = append(b, key...)
	return append(b, '"', ':')
}
