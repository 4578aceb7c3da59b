package tape

import (
	"reflect"

	"nvpeak/sampler"
)

// usualForm reads values of a type in the form in which they are nearly always written; nil: there is none. Where it finds another it says false, and leaves
// the value to encoding/json.
func usualForm(t reflect.Type) func(s *scanner, v reflect.Value) bool {
	switch t {
	case reflect.TypeFor[map[string]string]():
		return readTexts
	case reflect.TypeFor[[]string]():
		return readList
	case reflect.TypeFor[[]sampler.Parent]():
		return readParents
	}
	return nil
}

// inside reads a part of the line that has been found to be whole.
func (s *scanner) inside(raw []byte, read func(*scanner, reflect.Value) bool, v reflect.Value) bool {
	line, i := s.b, s.i
	s.b, s.i = raw, 0
	ok := read(s, v)
	s.b, s.i, s.bad = line, i, false
	return ok
}

func readTexts(s *scanner, v reflect.Value) bool {
	if s.peek() != '{' {
		return false
	}
	to := v.Addr().Interface().(*map[string]string)
	if *to = s.memo.mapOf(s.b); *to != nil {
		return true
	}
	s.i++
	texts := map[string]string{}
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		name := s.memo.text(key)
		if s.peek() != '"' {
			return false
		}
		texts[name] = s.memo.text(s.text())
	}
	if !s.end() {
		return false
	}
	s.memo.keep(s.b, texts)
	*to = texts
	return true
}

func readList(s *scanner, v reflect.Value) bool {
	if s.peek() != '[' {
		return false
	}
	s.i++
	list := []string{}
	for first := true; s.more(first, ']'); first = false {
		if s.peek() != '"' {
			return false
		}
		list = append(list, s.memo.text(s.text()))
	}
	if !s.end() {
		return false
	}
	*v.Addr().Interface().(*[]string) = list
	return true
}

func readParents(s *scanner, v reflect.Value) bool {
	if s.peek() != '[' {
		return false
	}
	s.i++
	list := []sampler.Parent{}
	for first := true; s.more(first, ']'); first = false {
		if s.peek() != '{' {
			return false
		}
		var one sampler.Parent
		planOf(reflect.TypeFor[sampler.Parent]()).decode(s, reflect.ValueOf(&one).Elem())
		list = append(list, one)
	}
	if !s.end() {
		return false
	}
	*v.Addr().Interface().(*[]sampler.Parent) = list
	return true
}
